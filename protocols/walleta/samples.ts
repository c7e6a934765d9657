/** The published token, and a test wallet: roots, signers and merchants. */
import { Buffer } from "node:buffer";
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { readFileSync } from "node:fs";
import * as asn1 from "../shared/asn1.ts";
import type { MerchantKey, Minting, Payload, Signer, Trust, Version } from "./index.ts";
import {
  identifiers,
  intermediateMarker,
  leafMarker,
  merchantIdentifierExtension,
} from "./verify-signature.ts";

export const now = Date.parse("2026-11-15T08:00:00Z");
export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
export const merchantIdentifier = "merchant.example.tollgate";

export const vector: {
  readonly nowMs: number;
  readonly merchantIdentifier: string;
  readonly merchantIdentifierSha256Hex: string;
  readonly token: { readonly header: { readonly transactionId: string } };
  readonly intermediate: {
    readonly sharedSecretBase64: string;
    readonly symmetricKeyBase64: string;
  };
  readonly expected: { readonly plaintextText: string };
} = JSON.parse(readText("ec-v1.json"));

export function readText(file: string): string {
  return readFileSync(`${import.meta.dirname}/vectors/${file}`, "utf8");
}

export const payload: Payload = {
  applicationPrimaryAccountNumber: "4111111111111111",
  applicationExpirationDate: "301231",
  currencyCode: "978",
  transactionAmount: 1050,
  cardholderName: "ANNA EXAMPLE",
  deviceManufacturerIdentifier: "050110030273",
  paymentDataType: "3DSecure",
  onlinePaymentCryptogram: "AMwBRjPWDnAgAA7Rls7mAoABFA==",
  eciIndicator: "05",
};

export type Keys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

export function makeKeys(kind: "ec" | "rsa" = "ec"): Keys {
  return kind === "ec"
    ? generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
}

export type Authority = { readonly keys: Keys; readonly name: string; readonly pem: string };

export type Wish = {
  readonly name: string;
  readonly keys: Keys;
  readonly isAuthority?: boolean;
  /** The identifier and the encoded value of each extension. */
  readonly extensions?: readonly (readonly [string, Buffer])[];
  readonly from?: number;
  readonly until?: number;
};

const { tags } = asn1;
const empty = asn1.writeDer(tags.null);

/** Issues a certificate, which is self-signed without an issuer. */
export function issue(wish: Wish, issuer?: Authority): Authority {
  const { name, keys, isAuthority = false, extensions = [] } = wish;
  const issuerKey = (issuer?.keys ?? keys).privateKey;
  const isRsa = issuerKey.asymmetricKeyType === "rsa";
  const algorithm = isRsa
    ? asn1.writeAlgorithm(identifiers.rsaSha256, empty)
    : asn1.writeAlgorithm(identifiers.ecdsaSha256);
  const constraints = isAuthority
    ? asn1.writeSequence(asn1.writeDer(0x01, Buffer.of(0xff)))
    : asn1.writeSequence();
  const usage = asn1.writeDer(
    tags.bitString,
    isAuthority ? Buffer.of(1, 0x06) : Buffer.of(7, 0x80),
  );
  const all = [["2.5.29.19", constraints], ["2.5.29.15", usage], ...extensions] as const;
  const body = asn1.writeSequence(
    asn1.writeDer(tags.context0, asn1.writeDer(tags.integer, Buffer.of(2))),
    asn1.writeDer(tags.integer, Buffer.from([0x40, ...randomBytes(8)])),
    algorithm,
    nameOf(issuer?.name ?? name),
    asn1.writeSequence(
      asn1.writeTime(wish.from ?? now - 365 * dayMs),
      asn1.writeTime(wish.until ?? now + dayMs),
    ),
    nameOf(name),
    keys.publicKey.export({ format: "der", type: "spki" }),
    asn1.writeDer(
      tags.context3,
      asn1.writeSequence(
        ...all.map(([id, value]) =>
          asn1.writeSequence(
            asn1.writeObjectIdentifier(id),
            asn1.writeDer(tags.octetString, value),
          ),
        ),
      ),
    ),
  );
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", body, issuerKey)]);
  const whole = asn1.writeSequence(body, algorithm, asn1.writeDer(tags.bitString, signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  return { keys, name, pem };
}

function nameOf(name: string): Buffer {
  const value = asn1.writeDer(tags.utf8String, Buffer.from(name, "utf8"));
  return asn1.writeSequence(
    asn1.writeSetOf(asn1.writeSequence(asn1.writeObjectIdentifier("2.5.4.3"), value)),
  );
}

export const leafExtension = [leafMarker, empty] as const;
export const intermediateExtension = [intermediateMarker, empty] as const;

export const wishes = {
  root: { name: "Test Root", keys: makeKeys(), isAuthority: true },
  intermediate: {
    name: "Test Intermediate",
    keys: makeKeys(),
    isAuthority: true,
    extensions: [intermediateExtension],
  },
  leaf: { name: "test-sign_PROD", keys: makeKeys(), extensions: [leafExtension] },
} as const satisfies Readonly<Record<string, Wish>>;

export const root = issue(wishes.root);
export const intermediate = issue(wishes.intermediate, root);
export const leaf = issue(wishes.leaf, intermediate);
export const rsaLeaf = issue({ ...wishes.leaf, keys: makeKeys("rsa") }, intermediate);

export function signerOf(own: Authority, others: readonly Authority[]): Signer {
  return {
    privateKey: own.keys.privateKey,
    certificate: own.pem,
    others: others.map(({ pem }) => pem),
  };
}

/** Makes a merchant's key with the certificate that the wallet would issue for it. */
export function makeMerchantKey(kind: "ec" | "rsa", identifier = merchantIdentifier): MerchantKey {
  const keys = makeKeys(kind);
  const hex = createHash("sha256").update(identifier).digest("hex").toUpperCase();
  const text = asn1.writeDer(tags.utf8String, Buffer.from(hex, "ascii"));
  const extensions = [[merchantIdentifierExtension, text]] as const;
  const { pem } = issue({ name: "Processing", keys, extensions }, intermediate);
  return { certificate: pem, privateKey: keys.privateKey };
}

export const merchantKeys = { EC_v1: makeMerchantKey("ec"), RSA_v1: makeMerchantKey("rsa") };

export const trust: Trust = {
  now,
  roots: [root.pem],
  merchantKeys: [merchantKeys.EC_v1, merchantKeys.RSA_v1],
  signingWindowMs: 5 * minuteMs,
  allowSandboxSigner: false,
};

export function mintingOf(version: Version, changes: Partial<Minting> = {}): Minting {
  return {
    version,
    signer: signerOf(version === "EC_v1" ? leaf : rsaLeaf, [intermediate]),
    recipientPublicKey: createPublicKey(merchantKeys[version].privateKey),
    merchantIdentifier,
    now,
    random: randomBytes,
    ...changes,
  };
}
