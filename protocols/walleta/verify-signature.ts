/**
 * Verifies the chain from a configured root through the wallet's intermediate to the leaf, and the
 * leaf's signature of the content. Certificates are identified by their markers, not by their
 * order, and a root that the token carries is ignored.
 */
import type { Buffer } from "node:buffer";
import { createHash, verify, type X509Certificate } from "node:crypto";
import { WalletFault } from "../shared/wallet.ts";
import {
  type Certificate,
  intermediateMarker,
  leafMarker,
  readCertificate,
  readPem,
  readSignature,
  type Signature,
} from "./cms.ts";

export type SignatureTrust = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** PEM, one certificate each. */
  readonly roots: readonly string[];
  /** How far the signing time may be from now, in both directions. */
  readonly signingWindowMs: number;
  readonly allowSandboxSigner: boolean;
};

export type VerifiedSignature = {
  /** Milliseconds since 1970. */
  readonly signingTime: number;
  readonly isSandboxSigner: boolean;
};

export function verifySignature(
  bytes: Buffer,
  content: Buffer,
  trust: SignatureTrust,
): VerifiedSignature | WalletFault {
  const signature = readSignature(bytes);
  if (signature === undefined) return new WalletFault("malformed_signature");
  const chain = findChain(signature, trust.roots);
  if (chain instanceof WalletFault) return chain;
  const [leaf] = chain;
  if (!isSignedBy(leaf.x509, signature, content)) return new WalletFault("bad_signature");
  const isSandboxSigner = /\bCN=.*sandbox/i.test(leaf.x509.subject);
  if (isSandboxSigner && !trust.allowSandboxSigner) return new WalletFault("sandbox_signer");
  const { signingTime } = signature;
  if (!(Math.abs(trust.now - signingTime) <= trust.signingWindowMs)) {
    return new WalletFault("outside_signing_window");
  }
  // The signer itself states the signing time, which is why it has to be close to now.
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
