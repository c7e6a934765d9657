/**
 * The two families of certificates. The directory's authority issues to the directory server and
 * to the gateway, each for both ends of a connection; the PARes family is RSA, as the networks' own
 * was. The keys of the authorities are forgotten as soon as they have signed.
 */
import { issue, makeKeys, type Wanted, writeCertificate, writePrivateKey } from "./certificate.ts";

export type Family = {
  readonly files: readonly string[];
  /** Who issued whom, and whose key is kept, by file name. */
  readonly relations: readonly Relation[];
  readonly produce: () => Promise<ReadonlyMap<string, string>>;
  /** Whoever trusts the bank reads these; the others are for the bank alone. */
  readonly publicFiles?: readonly string[];
};

export type Relation = {
  readonly certificate: string;
  readonly issuer: string;
  readonly key?: string;
};

const years = 10;

// biome-ignore format: a table
const directoryRelations: readonly Relation[] = [
  { certificate: "directory-ca.pem", issuer: "directory-ca.pem" },
  { certificate: "directory.pem",    issuer: "directory-ca.pem", key: "directory.key" },
  { certificate: "gateway.pem",      issuer: "directory-ca.pem", key: "gateway.key" },
];

// biome-ignore format: a table
const paResRelations: readonly Relation[] = [
  { certificate: "pares-root.pem",         issuer: "pares-root.pem" },
  { certificate: "pares-intermediate.pem", issuer: "pares-root.pem" },
  { certificate: "pares-signer.pem",       issuer: "pares-intermediate.pem", key: "pares-signer.key" },
];

export function makeDirectoryFamily(nowMs: number): Family {
  return makeFamily(directoryRelations, async () => {
    const validity = makeValidity(nowMs);
    const [caKeys, directoryKeys, gatewayKeys] = await Promise.all([
      makeKeys("ec"),
      makeKeys("ec"),
      makeKeys("ec"),
    ]);
    const tls = { ...validity, purpose: "tls" } as const;
    const authority = await issue({
      ...validity,
      name: "Sandbox Directory CA",
      purpose: "authority",
      keys: caKeys,
    });
    const directory = await issue(
      { ...tls, name: "Sandbox Directory Server", keys: directoryKeys },
      authority,
    );
    const gateway = await issue(
      { ...tls, name: "Sandbox 3DS Server", keys: gatewayKeys },
      authority,
    );
    return new Map([
      ["directory-ca.pem", writeCertificate(authority)],
      ["directory.pem", writeCertificate(directory)],
      ["directory.key", await writePrivateKey(directory)],
      ["gateway.pem", writeCertificate(gateway)],
      ["gateway.key", await writePrivateKey(gateway)],
    ]);
  });
}

export function makePaResFamily(nowMs: number): Family {
  return makeFamily(paResRelations, async () => {
    const validity = makeValidity(nowMs);
    const [rootKeys, intermediateKeys, signerKeys] = await Promise.all([
      makeKeys("rsa"),
      makeKeys("rsa"),
      makeKeys("rsa"),
    ]);
    const ca = { ...validity, purpose: "authority" } as const;
    const root = await issue({ ...ca, name: "Sandbox PARes Root", keys: rootKeys });
    const intermediate = await issue(
      { ...ca, name: "Sandbox PARes Intermediate", keys: intermediateKeys },
      root,
    );
    const signer = await issue(
      { ...validity, name: "Sandbox ACS", purpose: "signing", keys: signerKeys },
      intermediate,
    );
    return new Map([
      ["pares-root.pem", writeCertificate(root)],
      ["pares-intermediate.pem", writeCertificate(intermediate)],
      ["pares-signer.pem", writeCertificate(signer)],
      ["pares-signer.key", await writePrivateKey(signer)],
    ]);
  });
}

export function makeFamily(relations: readonly Relation[], produce: Family["produce"]): Family {
  const files = relations.flatMap(({ certificate, key }) =>
    key === undefined ? [certificate] : [certificate, key],
  );
  return { files, relations, produce };
}

/** From yesterday on, for those whose clock is behind. */
export function makeValidity(nowMs: number): Pick<Wanted, "validFrom" | "validUntil"> {
  const validUntil = new Date(nowMs);
  validUntil.setUTCFullYear(validUntil.getUTCFullYear() + years);
  return { validFrom: new Date(nowMs - 24 * 3_600_000), validUntil };
}
