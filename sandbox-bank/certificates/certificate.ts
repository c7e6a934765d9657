/**
 * Makes key pairs and X.509 certificates as a certificate authority would: CA flags, key usages,
 * key identifiers and names for TLS are all real, so that nobody has to switch a check off.
 */
import { createHash, randomBytes, webcrypto } from "node:crypto";
import { BitString, Integer, OctetString, PrintableString } from "asn1js";
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
} from "pkijs";

export type KeyKind = "ec" | "rsa";

/** What a certificate allows its holder to do. */
export type Purpose = "authority" | "tls" | "signing";

export type Wanted = {
  readonly name: string;
  readonly purpose: Purpose;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly validFrom: Date;
  readonly validUntil: Date;
};

/** A certificate with the keys that belong to it: whoever has one can issue further ones. */
export type Issued = { readonly certificate: Certificate; readonly keys: webcrypto.CryptoKeyPair };

const { subtle } = webcrypto;

const commonName = "2.5.4.3";
const version3 = 2;

// biome-ignore format: a table
const extensionIds = {
  subjectKeyIdentifier:   "2.5.29.14",
  keyUsage:               "2.5.29.15",
  subjectAltName:         "2.5.29.17",
  basicConstraints:       "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage:       "2.5.29.37",
};

// The first bits of the key usage, from the left: digitalSignature is bit 0, keyCertSign bit 5.
const digitalSignature = 0b1000_0000;
const certificateAndListSign = 0b0000_0110;

const serverAuthentication = "1.3.6.1.5.5.7.3.1";
const clientAuthentication = "1.3.6.1.5.5.7.3.2";

const dnsName = 2;
const ipAddress = 7;

export function makeKeys(kind: KeyKind): Promise<webcrypto.CryptoKeyPair> {
  const algorithm =
    kind === "ec"
      ? { name: "ECDSA", namedCurve: "P-256" }
      : {
          name: "RSASSA-PKCS1-v1_5",
          modulusLength: 2048,
          publicExponent: new Uint8Array([1, 0, 1]),
          hash: "SHA-256",
        };
  return subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

/** Issued by itself when no issuer is given. */
export async function issue(wanted: Wanted, issuer?: Issued): Promise<Issued> {
  const { keys, name, purpose } = wanted;
  const certificate = new Certificate();
  certificate.version = version3;
  certificate.serialNumber = new Integer({ valueHex: bufferOf(makeSerialNumber()) });
  certificate.subject.typesAndValues = makeName(name);
  certificate.issuer.typesAndValues =
    issuer?.certificate.subject.typesAndValues ?? certificate.subject.typesAndValues;
  certificate.notBefore.value = wanted.validFrom;
  certificate.notAfter.value = wanted.validUntil;
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  const authorityKeys = issuer?.keys ?? keys;
  certificate.extensions = [
    ...purposeExtensions(purpose),
    ...(await makeIdentifiers(keys.publicKey, authorityKeys.publicKey)),
  ];
  await certificate.sign(authorityKeys.privateKey, "SHA-256");
  return { certificate, keys };
}

export function writeCertificate({ certificate }: Issued): string {
  return writePem("CERTIFICATE", certificate.toSchema(true).toBER(false));
}

export async function writePrivateKey({ keys }: Issued): Promise<string> {
  return writePem("PRIVATE KEY", await subtle.exportKey("pkcs8", keys.privateKey));
}

function writePem(label: string, bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function makeName(name: string): AttributeTypeAndValue[] {
  const value = new PrintableString({ value: name });
  return [new AttributeTypeAndValue({ type: commonName, value })];
}

/** Positive, and of a size that nobody draws twice. */
function makeSerialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function purposeExtensions(purpose: Purpose): Extension[] {
  const isAuthority = purpose === "authority";
  const constraints = new BasicConstraints({ cA: isAuthority });
  const bits = isAuthority ? certificateAndListSign : digitalSignature;
  const usage = new BitString({
    valueHex: bufferOf(Buffer.of(bits)),
    unusedBits: isAuthority ? 1 : 7,
  });
  const extensions = [
    makeExtension("basicConstraints", constraints.toSchema(), { critical: true }),
    makeExtension("keyUsage", usage, { critical: true }),
  ];
  return purpose === "tls" ? [...extensions, ...tlsExtensions()] : extensions;
}

/** Both ends of a connection, on this machine. */
function tlsExtensions(): Extension[] {
  const purposes = new ExtKeyUsage({ keyPurposes: [serverAuthentication, clientAuthentication] });
  const names = new GeneralNames({
    names: [
      new GeneralName({ type: dnsName, value: "localhost" }),
      ...[Buffer.of(127, 0, 0, 1), Buffer.from([...Array<number>(15).fill(0), 1])].map(
        (address) =>
          new GeneralName({
            type: ipAddress,
            value: new OctetString({ valueHex: bufferOf(address) }),
          }),
      ),
    ],
  });
  return [
    makeExtension("extendedKeyUsage", purposes.toSchema()),
    makeExtension("subjectAltName", names.toSchema()),
  ];
}

async function makeIdentifiers(
  own: webcrypto.CryptoKey,
  authority: webcrypto.CryptoKey,
): Promise<Extension[]> {
  const [ownId, keyIdentifier] = [await identify(own), await identify(authority)];
  const reference = new AuthorityKeyIdentifier({ keyIdentifier });
  return [
    makeExtension("subjectKeyIdentifier", ownId),
    makeExtension("authorityKeyIdentifier", reference.toSchema()),
  ];
}

async function identify(key: webcrypto.CryptoKey): Promise<OctetString> {
  const spki = await subtle.exportKey("spki", key);
  const digest = createHash("sha256").update(Buffer.from(spki)).digest().subarray(0, 20);
  return new OctetString({ valueHex: bufferOf(digest) });
}

function makeExtension(
  name: keyof typeof extensionIds,
  value: { toBER(sizeOnly?: boolean): ArrayBuffer },
  { critical = false }: { readonly critical?: boolean } = {},
): Extension {
  return new Extension({ extnID: extensionIds[name], critical, extnValue: value.toBER(false) });
}

/** An array buffer of exactly these bytes: a Node buffer may be a view of a larger one. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
