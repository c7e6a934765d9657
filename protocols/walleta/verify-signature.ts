/**
 * From one of our roots through the wallet's intermediate to the signer, and from the signer to
 * the content. Certificates are told by their markers, not by their order, and a root that came
 * along with the token is as good as none.
 */
import type { Buffer } from "node:buffer";
import { createHash, verify, type X509Certificate } from "node:crypto";
import { type Certificate, readCertificate, readPem } from "./certificate.ts";
import { intermediateMarker, leafMarker } from "./identifiers.ts";
import { readSignature, type Signature } from "./read-signature.ts";
import { WalletFault } from "./wallet-fault.ts";

export type SignatureTrust = {
  readonly now: number;
  readonly roots: readonly string[];
  readonly signingWindowMs: number;
  readonly allowSandboxSigner: boolean;
};

export type Verified = { readonly signingTime: number; readonly isSandboxSigner: boolean };

export function verifySignature(
  bytes: Buffer,
  content: Buffer,
  trust: SignatureTrust,
): Verified | WalletFault {
  const signature = readSignature(bytes);
  if (signature === undefined) return new WalletFault("malformed_signature");
  const chain = findChain(signature, trust.roots);
  if (chain instanceof WalletFault) return chain;
  const [leaf] = chain;
  if (!isSignedBy(leaf.x509, signature, content)) return new WalletFault("bad_signature");
  const isSandboxSigner = leaf.commonNames.some((name) => /sandbox/i.test(name));
  if (isSandboxSigner && !trust.allowSandboxSigner) return new WalletFault("sandbox_signer");
  const { signingTime } = signature;
  if (!(Math.abs(trust.now - signingTime) <= trust.signingWindowMs)) {
    return new WalletFault("outside_signing_window");
  }
  // The signing time is the signer's own word, which is why it has to be close to ours.
  const lived = chain.every(({ x509 }) => isValidAt(x509, signingTime));
  return lived ? { signingTime, isSandboxSigner } : new WalletFault("expired_certificate");
}

type Chain = readonly [leaf: Certificate, intermediate: Certificate, root: Certificate];

function findChain(signature: Signature, roots: readonly string[]): Chain | WalletFault {
  const carried = signature.certificates.map(readCertificate);
  if (carried.includes(undefined)) return new WalletFault("wrong_certificates");
  const leaf = findOnly(carried, leafMarker);
  const intermediate = findOnly(carried, intermediateMarker);
  if (leaf === undefined || intermediate === undefined)
    return new WalletFault("wrong_certificates");
  if (!leaf.issuerAndSerial.equals(signature.issuerAndSerial))
    return new WalletFault("wrong_certificates");
  if (leaf.x509.ca || !isIssuedBy(leaf, intermediate)) return new WalletFault("wrong_certificates");
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

/** By name, by permission to sign certificates, and by signature. */
function isIssuedBy({ x509 }: Certificate, { x509: issuer }: Certificate): boolean {
  try {
    return issuer.ca && x509.checkIssued(issuer) && x509.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function isSignedBy({ publicKey }: X509Certificate, signature: Signature, content: Buffer) {
  const digest = createHash("sha256").update(content).digest();
  if (!digest.equals(signature.messageDigest)) return false;
  if (publicKey.asymmetricKeyType !== signature.keyKind) return false;
  try {
    return verify("sha256", signature.signedBytes, publicKey, signature.value);
  } catch {
    return false;
  }
}

function isValidAt({ validFromDate, validToDate }: X509Certificate, moment: number): boolean {
  return validFromDate.getTime() <= moment && moment <= validToDate.getTime();
}
