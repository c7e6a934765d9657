/**
 * The token's signature is CMS SignedData with detached content, in the one form that the wallet
 * writes. Any other form is refused, so that no byte remains unchecked. The chain leads from a
 * configured root through the wallet's intermediate to the leaf. Certificates are identified by
 * their markers and not by their order, and a root in the token is ignored.
 */
import { Buffer } from "node:buffer";
import { createHash, X509Certificate } from "node:crypto";
import {
  childrenOf,
  type Element,
  readBer,
  readObjectIdentifier,
  readTime,
  tags,
} from "../shared/asn1.ts";
import { isSignedBy, WalletFault } from "../shared/wallet.ts";

/** The extension of the certificate that signs tokens. */
export const leafMarker = "1.2.840.113635.100.6.29";
/** The extension of the certificate that issued the leaf. */
export const intermediateMarker = "1.2.840.113635.100.6.2.14";
/** The extension of a merchant's certificate: a UTF8String with the identifier's SHA-256 in hex. */
export const merchantIdentifierExtension = "1.2.840.113635.100.6.32";

export const identifiers = {
  data: "1.2.840.113549.1.7.1",
  signedData: "1.2.840.113549.1.7.2",
  contentType: "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
  signingTime: "1.2.840.113549.1.9.5",
  sha256: "2.16.840.1.101.3.4.2.1",
  ecdsaSha256: "1.2.840.10045.4.3.2",
  rsa: "1.2.840.113549.1.1.1",
  rsaSha256: "1.2.840.113549.1.1.11",
} as const;

export type SignatureTrust = {
  /** The time in milliseconds since 1970. */
  readonly now: number;
  /** The roots in PEM, with one certificate each. */
  readonly roots: readonly string[];
  /** How far the signing time may differ from now, in both directions. */
  readonly signingWindowMs: number;
  readonly allowSandboxSigner: boolean;
};

export type VerifiedSignature = Exclude<ReturnType<typeof verifySignature>, WalletFault>;

export function verifySignature(bytes: Buffer, content: Buffer, trust: SignatureTrust) {
  const signature = readSignature(bytes);
  if (signature === undefined) return new WalletFault("malformed_signature");
  const chain = findChain(signature, trust.roots);
  if (chain instanceof WalletFault) return chain;
  const [leaf] = chain;
  if (!hasSigned(leaf.x509, signature, content)) return new WalletFault("bad_signature");
  const isSandboxSigner = /\bCN=.*sandbox/i.test(leaf.x509.subject);
  if (isSandboxSigner && !trust.allowSandboxSigner) return new WalletFault("sandbox_signer");
  const { signingTime } = signature;
  if (!(Math.abs(trust.now - signingTime) <= trust.signingWindowMs)) {
    return new WalletFault("outside_signing_window");
  }
  // The signer itself states the signing time, so it has to be close to now.
  const wasValid = chain.every(({ x509: { validFromDate, validToDate } }) => {
    return validFromDate.getTime() <= signingTime && signingTime <= validToDate.getTime();
  });
  return wasValid ? { signingTime, isSandboxSigner } : new WalletFault("expired_certificate");
}

type Chain = readonly [leaf: Certificate, intermediate: Certificate, root: Certificate];

function findChain(signature: Signature, roots: readonly string[]): Chain | WalletFault {
  const carried = signature.certificates.map(readCertificate);
  const leaf = findOnly(carried, leafMarker);
  const intermediate = findOnly(carried, intermediateMarker);
  if (carried.includes(undefined) || leaf === undefined || intermediate === undefined) {
    return new WalletFault("wrong_certificates");
  }
  const isSigner = leaf.issuerAndSerial.equals(signature.issuerAndSerial);
  if (!isSigner || leaf.x509.ca || !isIssuedBy(leaf, intermediate)) {
    return new WalletFault("wrong_certificates");
  }
  const pinned = roots.map(readPem).filter((one) => one !== undefined);
  const root = pinned.find((one) => isIssuedBy(intermediate, one));
  return root === undefined ? new WalletFault("untrusted_root") : [leaf, intermediate, root];
}

function findOnly(
  certificates: readonly (Certificate | undefined)[],
  marker: string,
): Certificate | undefined {
  const [found, second] = certificates.filter((one) => one?.extensions.has(marker));
  return second === undefined ? found : undefined;
}

/** Checks the name, the permission to sign certificates, and the signature. */
function isIssuedBy({ x509 }: Certificate, { x509: issuer }: Certificate): boolean {
  try {
    return issuer.ca && x509.checkIssued(issuer) && x509.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function hasSigned({ publicKey }: X509Certificate, signature: Signature, content: Buffer) {
  const digest = createHash("sha256").update(content).digest();
  if (!digest.equals(signature.messageDigest)) return false;
  if (publicKey.asymmetricKeyType !== signature.keyKind) return false;
  return isSignedBy(publicKey, signature.signedBytes, signature.value);
}

export function readPem(pem: string): Certificate | undefined {
  try {
    return readCertificate(new X509Certificate(pem).raw);
  } catch {
    return undefined;
  }
}

type Certificate = NonNullable<ReturnType<typeof readCertificate>>;

function readCertificate(der: Buffer) {
  const [body, , signature] = readBer(der)?.children ?? [];
  // A signature consists of whole bytes; unused bits would give one certificate two encodings.
  if (body === undefined || signature?.content[0] !== 0) return undefined;
  const parts = body.children.filter(({ tag }) => tag !== tags.context0);
  const [serial, , issuer] = parts;
  const extensions = readExtensions(parts.find(({ tag }) => tag === tags.context3));
  if (serial === undefined || issuer === undefined || extensions === undefined) return undefined;
  // These bytes are how a signature names its signer.
  const issuerAndSerial = Buffer.concat([issuer.encoded, serial.encoded]);
  try {
    return { x509: new X509Certificate(der), issuerAndSerial, extensions };
  } catch {
    return undefined;
  }
}

/** Returns the value of each extension by its object identifier. */
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

type Signature = NonNullable<ReturnType<typeof readSignature>>;

/** Returns undefined if the signature has another form. */
function readSignature(bytes: Buffer) {
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

function readSigner(signer: Element | undefined) {
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

const keyKinds: ReadonlyMap<string | undefined, "ec" | "rsa"> = new Map([
  [identifiers.ecdsaSha256, "ec"],
  [identifiers.rsaSha256, "rsa"],
  [identifiers.rsa, "rsa"],
]);

function readAttributes(element: Element) {
  // The attributes are signed as a SET in DER and sent under another tag.
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

/** Returns undefined if the algorithm has parameters other than NULL. */
function algorithmOf(element: Element | undefined): string | undefined {
  const [name, parameters, ...others] = childrenOf(element, tags.sequence);
  const isPlain = parameters === undefined || parameters.encoded.equals(Buffer.of(tags.null, 0));
  return isPlain && others.length === 0 ? readObjectIdentifier(name) : undefined;
}

function isOne(element: Element | undefined): boolean {
  return element?.tag === tags.integer && element.content.equals(Buffer.of(1));
}
