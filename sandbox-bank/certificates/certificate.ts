/**
 * Issues X.509 certificates as a certificate authority does. CA flags, key usages, key identifiers
 * and TLS names are real, so that tests need not switch off any check.
 */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  KeyObject,
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

/** The permitted use of a certificate. */
type Purpose = "authority" | "tls" | "signing" | "key-agreement" | "key-encipherment";

export type CertificateRequest = {
  readonly name: string;
  readonly purpose: Purpose;
  readonly validFrom: Date;
  readonly validUntil: Date;
  /** Extensions that only their own readers understand. */
  readonly extensions?: readonly { readonly id: string; readonly value: Encodable }[];
};

type Encodable = { toBER(sizeOnly?: boolean): ArrayBuffer };

/** A certificate with its key pair, which can issue others. */
export type Issued = { readonly certificate: Certificate; readonly keys: webcrypto.CryptoKeyPair };

/** The signature algorithms of P-256 and RSA keys. */
export const keyAlgorithms = {
  ec: { name: "ECDSA", namedCurve: "P-256" },
  rsa: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
} as const;

export function makeKeys(kind: KeyKind): Promise<webcrypto.CryptoKeyPair> {
  const rsaSize = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const algorithm = kind === "ec" ? keyAlgorithms.ec : { ...keyAlgorithms.rsa, ...rsaSize };
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

/** Issues a certificate, which is self-signed if no issuer is given. */
export async function issue(
  request: CertificateRequest & { readonly keys: webcrypto.CryptoKeyPair },
  issuer?: Issued,
): Promise<Issued> {
  const { keys } = request;
  return { certificate: await certify(request, keys.publicKey, issuer ?? { keys }), keys };
}

/** Issues a certificate for a key whose private half may be unknown. */
export async function certify(
  request: CertificateRequest,
  publicKey: webcrypto.CryptoKey,
  issuer: Pick<Issued, "keys"> & Partial<Issued>,
): Promise<Certificate> {
  const { extensions = [] } = request;
  const certificate = new Certificate();
  certificate.version = 2; // X.509 v3
  const serialNumber = Buffer.concat([Buffer.of(0x40), randomBytes(15)]);
  certificate.serialNumber = new Integer({ valueHex: bufferOf(serialNumber) });
  const commonName = new Utf8String({ value: request.name });
  const subject = [new AttributeTypeAndValue({ type: "2.5.4.3", value: commonName })];
  certificate.subject.typesAndValues = subject;
  certificate.issuer.typesAndValues = issuer.certificate?.subject.typesAndValues ?? subject;
  certificate.notBefore.value = request.validFrom;
  certificate.notAfter.value = request.validUntil;
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  const keyIdentifier = identify(issuer.keys.publicKey);
  certificate.extensions = [
    ...purposeExtensions(request.purpose, request.name),
    makeExtension("2.5.29.14", identify(publicKey)),
    makeExtension("2.5.29.35", new AuthorityKeyIdentifier({ keyIdentifier }).toSchema()),
    ...extensions.map(({ id, value }) => makeExtension(id, value)),
  ];
  await certificate.sign(issuer.keys.privateKey, "SHA-256");
  return certificate;
}

/** Writes the private key in PEM. */
export function writeCertificate({ certificate }: Pick<Issued, "certificate">): string {
  return new X509Certificate(Buffer.from(certificate.toSchema(true).toBER(false))).toString();
}

/** Writes the private key in PEM. */
export function writePrivateKey({ keys }: Issued): string {
  return KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString();
}

/** Reads a certificate of a P-256 key from its PEM texts. */
export function readIssued(certificatePem: string, keyPem: string): Issued {
  const key = createPrivateKey(keyPem);
  return {
    certificate: Certificate.fromBER(bufferOf(new X509Certificate(certificatePem).raw)),
    keys: {
      privateKey: key.toCryptoKey(keyAlgorithms.ec, true, ["sign"]),
      publicKey: createPublicKey(key).toCryptoKey(keyAlgorithms.ec, true, ["verify"]),
    },
  };
}

// The first bits of the key usage from the left: digitalSignature is bit 0, keyCertSign bit 5.
const keyUsages: Readonly<Record<Purpose, number>> = {
  "authority": 0b0000_0110,
  "tls": 0b1000_0000,
  "signing": 0b1000_0000,
  "key-agreement": 0b0000_1000,
  "key-encipherment": 0b0010_0000,
};

/**
 * Returns basic constraints and key usage, both critical, and for TLS also extended key usage and
 * names.
 */
function purposeExtensions(purpose: Purpose, name: string): Extension[] {
  const constraints = new BasicConstraints({ cA: purpose === "authority" });
  const bits = keyUsages[purpose];
  const unusedBits = 31 - Math.clz32(bits & -bits);
  const usage = new BitString({ valueHex: bufferOf(Buffer.of(bits)), unusedBits });
  const extensions = [
    makeExtension("2.5.29.19", constraints.toSchema(), { critical: true }),
    makeExtension("2.5.29.15", usage, { critical: true }),
  ];
  if (purpose !== "tls") return extensions;
  // The certificate works for both ends of a connection on this machine, and for the name if it is
  // a host's.
  const [serverAuth, clientAuth] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];
  const purposes = new ExtKeyUsage({ keyPurposes: [serverAuth, clientAuth] });
  const addresses = [Buffer.of(127, 0, 0, 1), Buffer.concat([Buffer.alloc(15), Buffer.of(1)])];
  const [dnsName, ipAddress] = [2, 7] as const;
  const names = [
    ...["localhost", ...(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) ? [name] : [])].map(
      (value) => new GeneralName({ type: dnsName, value }),
    ),
    ...addresses.map((address) => {
      const value = new OctetString({ valueHex: bufferOf(address) });
      return new GeneralName({ type: ipAddress, value });
    }),
  ];
  return [
    ...extensions,
    makeExtension("2.5.29.37", purposes.toSchema()),
    makeExtension("2.5.29.17", new GeneralNames({ names }).toSchema()),
  ];
}

function identify(key: webcrypto.CryptoKey): OctetString {
  const spki = KeyObject.from(key).export({ format: "der", type: "spki" });
  const digest = hash("sha256", spki, "buffer").subarray(0, 20);
  return new OctetString({ valueHex: bufferOf(digest) });
}

function makeExtension(id: string, value: Encodable, { critical = false } = {}): Extension {
  return new Extension({ extnID: id, critical, extnValue: value.toBER(false) });
}

/**
 * Returns an array buffer of exactly these bytes, because a Node buffer may be a view of a larger
 * one.
 */
function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
