/**
 * Makes key pairs and X.509 certificates as a certificate authority would: CA flags, key usages,
 * key identifiers and names for TLS are all real, so that nobody has to switch a check off.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  webcrypto,
  X509Certificate,
} from "node:crypto";
import { BitString, Integer, OctetString, Utf8String } from "asn1js";
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
export type Purpose = "authority" | "tls" | "signing" | "key-agreement" | "key-encipherment";

export type Wanted = {
  readonly name: string;
  readonly purpose: Purpose;
  readonly keys: webcrypto.CryptoKeyPair;
  readonly validFrom: Date;
  readonly validUntil: Date;
  readonly marks?: readonly Mark[];
};

/** An extension that only its own readers understand. */
export type Mark = { readonly id: string; readonly value: Encodable };

type Encodable = { toBER(sizeOnly?: boolean): ArrayBuffer };

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
// biome-ignore format: a table
const keyUsages: Readonly<Record<Purpose, number>> = {
  "authority":        0b0000_0110,
  "tls":              0b1000_0000,
  "signing":          0b1000_0000,
  "key-agreement":    0b0000_1000,
  "key-encipherment": 0b0010_0000,
};

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
  const { keys } = wanted;
  return { certificate: await certify(wanted, keys.publicKey, issuer ?? { keys }), keys };
}

/** For a key of which perhaps only the public half is known. */
export async function certify(
  wanted: Omit<Wanted, "keys">,
  publicKey: webcrypto.CryptoKey,
  issuer: Pick<Issued, "keys"> & Partial<Issued>,
): Promise<Certificate> {
  const { name, purpose, marks = [] } = wanted;
  const certificate = new Certificate();
  certificate.version = version3;
  certificate.serialNumber = new Integer({ valueHex: bufferOf(makeSerialNumber()) });
  certificate.subject.typesAndValues = makeName(name);
  certificate.issuer.typesAndValues =
    issuer.certificate?.subject.typesAndValues ?? certificate.subject.typesAndValues;
  certificate.notBefore.value = wanted.validFrom;
  certificate.notAfter.value = wanted.validUntil;
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  certificate.extensions = [
    ...purposeExtensions(purpose),
    ...(await makeIdentifiers(publicKey, issuer.keys.publicKey)),
    ...marks.map(({ id, value }) => makeExtension(id, value)),
  ];
  await certificate.sign(issuer.keys.privateKey, "SHA-256");
  return certificate;
}

export function writeCertificate({ certificate }: Pick<Issued, "certificate">): string {
  return writePem("CERTIFICATE", certificate.toSchema(true).toBER(false));
}

export async function writePrivateKey({ keys }: Issued): Promise<string> {
  return writePem("PRIVATE KEY", await subtle.exportKey("pkcs8", keys.privateKey));
}

/** One that was written before, with its keys on P-256: it can issue again. */
export async function readIssued(certificatePem: string, keyPem: string): Promise<Issued> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = createPrivateKey(keyPem);
  const pkcs8 = key.export({ format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  const { raw } = new X509Certificate(certificatePem);
  return {
    certificate: Certificate.fromBER(bufferOf(raw)),
    keys: {
      privateKey: await subtle.importKey("pkcs8", pkcs8, algorithm, true, ["sign"]),
      publicKey: await subtle.importKey("spki", spki, algorithm, true, ["verify"]),
    },
  };
}

function writePem(label: string, bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function makeName(name: string): AttributeTypeAndValue[] {
  const value = new Utf8String({ value: name });
  return [new AttributeTypeAndValue({ type: commonName, value })];
}

/** Positive, and of a size that nobody draws twice. */
function makeSerialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function purposeExtensions(purpose: Purpose): Extension[] {
  const constraints = new BasicConstraints({ cA: purpose === "authority" });
  const bits = keyUsages[purpose];
  const unusedBits = 31 - Math.clz32(bits & -bits);
  const usage = new BitString({ valueHex: bufferOf(Buffer.of(bits)), unusedBits });
  const extensions = [
    makeExtension(extensionIds.basicConstraints, constraints.toSchema(), { critical: true }),
    makeExtension(extensionIds.keyUsage, usage, { critical: true }),
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
    makeExtension(extensionIds.extendedKeyUsage, purposes.toSchema()),
    makeExtension(extensionIds.subjectAltName, names.toSchema()),
  ];
}

async function makeIdentifiers(
  own: webcrypto.CryptoKey,
  authority: webcrypto.CryptoKey,
): Promise<Extension[]> {
  const [ownId, keyIdentifier] = [await identify(own), await identify(authority)];
  const reference = new AuthorityKeyIdentifier({ keyIdentifier });
  return [
    makeExtension(extensionIds.subjectKeyIdentifier, ownId),
    makeExtension(extensionIds.authorityKeyIdentifier, reference.toSchema()),
  ];
}

async function identify(key: webcrypto.CryptoKey): Promise<OctetString> {
  const spki = await subtle.exportKey("spki", key);
  const digest = createHash("sha256").update(Buffer.from(spki)).digest().subarray(0, 20);
  return new OctetString({ valueHex: bufferOf(digest) });
}

function makeExtension(
  id: string,
  value: Encodable,
  { critical = false }: { readonly critical?: boolean } = {},
): Extension {
  return new Extension({ extnID: id, critical, extnValue: value.toBER(false) });
}

/** An array buffer of exactly these bytes: a Node buffer may be a view of a larger one. */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
