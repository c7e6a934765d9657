/**
 * The certificates under which the bank signs as walleta. The root's key is forgotten as soon as
 * it has signed; the intermediate's is kept, because it issues to merchants too.
 */
import { intermediateMarker, leafMarker, type Version } from "@tollgate/protocols/walleta";
import { Null } from "asn1js";
import {
  type Issued,
  issue,
  type Mark,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "../certificates/certificate.ts";
import { type Family, makeFamily, makeValidity, type Relation } from "../certificates/families.ts";

export const walletAFiles = {
  root: "walleta-root.pem",
  intermediate: "walleta-intermediate.pem",
  intermediateKey: "walleta-intermediate.key",
  leaf: "walleta-leaf.pem",
  leafKey: "walleta-leaf.key",
} as const;

const { root, intermediate, intermediateKey, leaf, leafKey } = walletAFiles;

const relations: readonly Relation[] = [
  { certificate: root, issuer: root },
  { certificate: intermediate, issuer: root, key: intermediateKey },
  { certificate: leaf, issuer: intermediate, key: leafKey },
];

export function makeWalletAFamily(nowMs: number): Family {
  const family = makeFamily(relations, async () => {
    const authorities = await issueAuthorities(nowMs);
    const signer = await issueLeaf(authorities.intermediate, "EC_v1", nowMs);
    return new Map([
      [root, writeCertificate(authorities.root)],
      [intermediate, writeCertificate(authorities.intermediate)],
      [intermediateKey, await writePrivateKey(authorities.intermediate)],
      [leaf, writeCertificate(signer)],
      [leafKey, await writePrivateKey(signer)],
    ]);
  });
  return { ...family, publicFiles: [root, intermediate, leaf] };
}

export async function issueAuthorities(nowMs: number) {
  const [rootKeys, keys] = await Promise.all([makeKeys("ec"), makeKeys("ec")]);
  const authority = { ...makeLongValidity(nowMs), purpose: "authority" } as const;
  const issuedRoot = await issue({
    ...authority,
    name: "Tollgate Sandbox Walleta Root CA",
    keys: rootKeys,
  });
  const issuedIntermediate = await issue(
    {
      ...authority,
      name: "Tollgate Sandbox Walleta Intermediate CA",
      keys,
      marks: [markWith(intermediateMarker)],
    },
    issuedRoot,
  );
  return { root: issuedRoot, intermediate: issuedIntermediate };
}

// biome-ignore format: a table
const leaves: Readonly<Record<Version, { readonly name: string; readonly kind: "ec" | "rsa" }>> = {
  EC_v1:  { name: "ecc-smp-broker-sign_UC4-SANDBOX", kind: "ec" },
  RSA_v1: { name: "rsa-smp-broker-sign_UC4-SANDBOX", kind: "rsa" },
};

/** What signs tokens of that version. */
export async function issueLeaf(
  issuer: Issued,
  version: Version,
  nowMs: number,
  marks: readonly Mark[] = [markWith(leafMarker)],
): Promise<Issued> {
  const { name, kind } = leaves[version];
  const keys = await makeKeys(kind);
  const validity = makeLongValidity(nowMs);
  return issue({ ...validity, name, purpose: "signing", keys, marks }, issuer);
}

/** Such marks say what they say by being there. */
function markWith(id: string): Mark {
  return { id, value: new Null() };
}

/** Long before now too, for tokens whose signing time is moved into the past. */
function makeLongValidity(nowMs: number) {
  const { validUntil } = makeValidity(nowMs);
  const validFrom = new Date(nowMs);
  validFrom.setUTCFullYear(validFrom.getUTCFullYear() - 2);
  return { validFrom, validUntil };
}
