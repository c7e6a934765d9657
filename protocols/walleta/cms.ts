/**
 * The token's signature: CMS SignedData with detached content, in the one shape that the wallet
 * writes, and the certificates in it. Any other shape is refused, so that no byte goes unchecked.
 */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import {
  childrenOf,
  type Element,
  readBer,
  readObjectIdentifier,
  readTime,
  tags,
} from "../shared/asn1.ts";

/** Extension of the certificate that signs tokens. */
export const leafMarker = "1.2.840.113635.100.6.29";
/** Extension of the certificate that issued the leaf. */
export const intermediateMarker = "1.2.840.113635.100.6.2.14";
/** Extension of a merchant's certificate: a UTF8String, the identifier's SHA-256 in hex. */
export const merchantIdentifierExtension = "1.2.840.113635.100.6.32";

// biome-ignore format: a table
export const identifiers = {
  data:          "1.2.840.113549.1.7.1",
  signedData:    "1.2.840.113549.1.7.2",
  contentType:   "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
  signingTime:   "1.2.840.113549.1.9.5",
  sha256:        "2.16.840.1.101.3.4.2.1",
  ecdsaSha256:   "1.2.840.10045.4.3.2",
  rsa:           "1.2.840.113549.1.1.1",
  rsaSha256:     "1.2.840.113549.1.1.11",
} as const;

export type Certificate = {
  readonly x509: X509Certificate;
  /** The encoded issuer, then the encoded serial number: how a signature names its signer. */
  readonly issuerAndSerial: Buffer;
  /** The value of each extension by its object identifier. */
  readonly extensions: ReadonlyMap<string, Buffer>;
};

export type Signature = {
  /** DER, in any order. */
  readonly certificates: readonly Buffer[];
  /** Of the signer's certificate. */
  readonly issuerAndSerial: Buffer;
  readonly messageDigest: Buffer;
  /** Milliseconds since 1970. */
  readonly signingTime: number;
  readonly keyKind: "ec" | "rsa";
  /** The signed attributes in the encoding that is signed. */
  readonly signedBytes: Buffer;
  readonly value: Buffer;
};

export function readPem(pem: string): Certificate | undefined {
  try {
    return readCertificate(new X509Certificate(pem).raw);
  } catch {
    return undefined;
  }
}

export function readCertificate(der: Buffer): Certificate | undefined {
  const [body, , signature] = readBer(der)?.children ?? [];
  // A signature is whole bytes; unused bits would give one certificate two encodings.
  if (body === undefined || signature?.content[0] !== 0) return undefined;
  const parts = body.children.filter(({ tag }) => tag !== tags.context0);
  const [serial, , issuer] = parts;
  const extensions = readExtensions(parts.find(({ tag }) => tag === tags.context3));
  if (serial === undefined || issuer === undefined || extensions === undefined) return undefined;
  const issuerAndSerial = Buffer.concat([issuer.encoded, serial.encoded]);
  try {
    return { x509: new X509Certificate(der), issuerAndSerial, extensions };
  } catch {
    return undefined;
  }
}

function readExtensions(element: Element | undefined): ReadonlyMap<string, Buffer> | undefined {
  const extensions = new Map<string, Buffer>();
  for (const { children } of element?.children[0]?.children ?? []) {
    const name = readObjectIdentifier(children[0]);
    const value = children.at(-1);
    if (name === undefined || value?.tag !== tags.octetString) return undefined;
    extensions.set(name, value.content);
  }
  return extensions;
}

const certificatesMax = 8;

/** Undefined if it has another shape. */
export function readSignature(bytes: Buffer): Signature | undefined {
  const [type, wrapped] = childrenOf(readBer(bytes), tags.sequence, 2);
  const [signedData] = childrenOf(wrapped, tags.context0, 1);
  const parts = childrenOf(signedData, tags.sequence, 5);
  const [version, digests, content, certificates, signers] = parts;
  const [digest] = childrenOf(digests, tags.set, 1);
  const [contentType] = childrenOf(content, tags.sequence, 1);
  const [signer] = childrenOf(signers, tags.set, 1);
  const carried = childrenOf(certificates, tags.context0);
  const isExpected =
    readObjectIdentifier(type) === identifiers.signedData &&
    isOne(version) &&
    algorithmOf(digest) === identifiers.sha256 &&
    readObjectIdentifier(contentType) === identifiers.data &&
    carried.length <= certificatesMax;
  const read = isExpected ? readSigner(signer) : undefined;
  return read && { ...read, certificates: carried.map(({ encoded }) => encoded) };
}

function readSigner(signer: Element | undefined): Omit<Signature, "certificates"> | undefined {
  const parts = childrenOf(signer, tags.sequence, 6);
  const [version, sid, digest, attributes, algorithm, value] = parts;
  const [issuer, serial] = childrenOf(sid, tags.sequence, 2);
  if (issuer === undefined || serial === undefined || !isOne(version)) return undefined;
  if (algorithmOf(digest) !== identifiers.sha256) return undefined;
  const keyKind = keyKinds.get(algorithmOf(algorithm));
  if (keyKind === undefined || value?.tag !== tags.octetString) return undefined;
  const signed = attributes && readAttributes(attributes);
  const issuerAndSerial = Buffer.concat([issuer.encoded, serial.encoded]);
  return signed && { ...signed, issuerAndSerial, keyKind, value: value.content };
}

// biome-ignore format: a table
const keyKinds: ReadonlyMap<string | undefined, "ec" | "rsa"> = new Map([
  [identifiers.ecdsaSha256, "ec"],
  [identifiers.rsaSha256,   "rsa"],
  [identifiers.rsa,         "rsa"],
]);

type Attributes = Pick<Signature, "messageDigest" | "signingTime" | "signedBytes">;

function readAttributes(element: Element): Attributes | undefined {
  // They are signed as a SET in DER, and sent under another tag.
  if (element.tag !== tags.context0 || element.isIndefinite) return undefined;
  const signedBytes = Buffer.concat([Buffer.of(tags.set), element.encoded.subarray(1)]);
  const values = new Map<string, Element>();
  for (const attribute of element.children) {
    const [type, set] = childrenOf(attribute, tags.sequence, 2);
    const [value] = childrenOf(set, tags.set, 1);
    const name = readObjectIdentifier(type);
    if (name === undefined || value === undefined || values.has(name)) return undefined;
    values.set(name, value);
  }
  const contentType = readObjectIdentifier(values.get(identifiers.contentType));
  const digest = values.get(identifiers.messageDigest);
  const signingTime = readTime(values.get(identifiers.signingTime));
  if (contentType !== identifiers.data || digest?.tag !== tags.octetString) return undefined;
  return signingTime === undefined
    ? undefined
    : { messageDigest: digest.content, signingTime, signedBytes };
}

/** Undefined if the algorithm has parameters other than NULL. */
function algorithmOf(element: Element | undefined): string | undefined {
  const [name, parameters, ...others] = childrenOf(element, tags.sequence);
  const isPlain = parameters === undefined || parameters.encoded.equals(Buffer.of(tags.null, 0));
  return isPlain && others.length === 0 ? readObjectIdentifier(name) : undefined;
}

function isOne(element: Element | undefined): boolean {
  return element?.tag === tags.integer && element.content.equals(Buffer.of(1));
}
