/**
 * Signs a PARes as live ACSs did: the signature follows the PARes, refers to its id and has no
 * transforms. All that is written here is canonical XML already, so the written bytes are digested
 * and signed.
 */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, sign, X509Certificate } from "node:crypto";
import { writeEnvelope, writePaResElement } from "./codec.ts";
import type { PaResMessage } from "./messages.ts";

export const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#";
export const canonicalization = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";

type Digest = "sha1" | "sha256";

// The only algorithms. SHA-1 is what live ACSs signed with; nothing else in the project accepts it.
// biome-ignore format: a table
export const digestMethods: Readonly<Record<Digest, string>> = {
  sha1:   "http://www.w3.org/2000/09/xmldsig#sha1",
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
};

// biome-ignore format: a table
export const signatureMethods: Readonly<Record<Digest, string>> = {
  sha1:   "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  sha256: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
};

export type PaResSigner = {
  /** RSA; a key or its PEM. */
  readonly privateKey: KeyObject | string;
  /** PEM, one certificate each, the signer's own first. */
  readonly certificates: readonly string[];
  readonly digest: Digest;
};

export function signPaRes(paRes: PaResMessage, signer: PaResSigner): string {
  const { digest, privateKey, certificates } = signer;
  const signed = writePaResElement(paRes);
  const digestValue = createHash(digest).update(signed, "utf8").digest("base64");
  const content = [
    `<CanonicalizationMethod Algorithm="${canonicalization}"></CanonicalizationMethod>`,
    `<SignatureMethod Algorithm="${signatureMethods[digest]}"></SignatureMethod>`,
    `<Reference URI="#${paRes.id}">`,
    `<DigestMethod Algorithm="${digestMethods[digest]}"></DigestMethod>`,
    `<DigestValue>${digestValue}</DigestValue>`,
    "</Reference>",
  ].join("");
  // In canonical form an element carries the namespace that its parent declares.
  const canonical = `<SignedInfo xmlns="${signatureNamespace}">${content}</SignedInfo>`;
  const value = sign(digest, Buffer.from(canonical, "utf8"), privateKey);

  const signature = [
    `<Signature xmlns="${signatureNamespace}">`,
    `<SignedInfo>${content}</SignedInfo>`,
    `<SignatureValue>${value.toString("base64")}</SignatureValue>`,
    `<KeyInfo><X509Data>${certificates.map(writeCertificate).join("")}</X509Data></KeyInfo>`,
    "</Signature>",
  ];
  return writeEnvelope(paRes.messageId, signed + signature.join(""));
}

function writeCertificate(pem: string): string {
  const base64 = new X509Certificate(pem).raw.toString("base64");
  return `<X509Certificate>${base64}</X509Certificate>`;
}
