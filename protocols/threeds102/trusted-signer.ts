/**
 * The chain from the signer's certificate to a configured root. The message's certificates come in
 * any order and prove nothing by themselves; its own root is never used, even when it is the
 * configured one.
 */
import type { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { ThreeDsFault } from "./messages.ts";

export type PaResTrust = {
  /** PEM, one certificate each: the scheme's roots, from the configuration. */
  readonly roots: readonly string[];
  /** Milliseconds since 1970, for the validity of certificates. */
  readonly now: number;
};

/** Live ACSs signed with 1024 bits until the end. */
const rsaBitsMin = 1024;
const certificatesMax = 8;

/** The signer's certificate, if its chain ends in a configured root and is valid at `now`. */
export function findTrustedSigner(
  embedded: readonly Buffer[],
  { roots, now }: PaResTrust,
): X509Certificate | ThreeDsFault {
  const anchors = roots.map((pem) => new X509Certificate(pem)).filter(({ ca }) => ca);
  try {
    return findSigner(embedded, anchors, now);
  } catch {
    return new ThreeDsFault("malformed_certificate");
  }
}

function findSigner(
  embedded: readonly Buffer[],
  anchors: readonly X509Certificate[],
  now: number,
): X509Certificate | ThreeDsFault {
  if (embedded.length > certificatesMax) return new ThreeDsFault("malformed_certificate");
  const certificates = embedded.map((der) => new X509Certificate(der));
  const [signer, second] = certificates.filter(({ ca }) => !ca);
  if (signer === undefined || second !== undefined || !isRsa(signer)) {
    return new ThreeDsFault("malformed_certificate");
  }
  const authorities = certificates.filter((one) => one.ca && !isIssuedBy(one, one));
  if (!endsInRoot(signer, authorities, anchors)) return new ThreeDsFault("untrusted_chain");
  const isLive = ({ validFromDate, validToDate }: X509Certificate) =>
    validFromDate.getTime() <= now && now <= validToDate.getTime();
  return isLive(signer) && endsInRoot(signer, authorities.filter(isLive), anchors.filter(isLive))
    ? signer
    : new ThreeDsFault("expired_certificate");
}

/** Every authority is tried once, because a sender may let each issue all others. */
function endsInRoot(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  tried = new Set<X509Certificate>(),
): boolean {
  if (roots.some((root) => isIssuedBy(certificate, root))) return true;
  return authorities.some((authority) => {
    if (tried.has(authority) || !isIssuedBy(certificate, authority)) return false;
    tried.add(authority);
    return endsInRoot(authority, authorities, roots, tried);
  });
}

/** By name, by permission to sign certificates, and by signature. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isRsa({ publicKey }: X509Certificate): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin;
}
