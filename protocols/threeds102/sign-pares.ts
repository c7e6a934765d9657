/**
 * Signs a PARes as live ACSs did: the signature follows the PARes, refers to its id and has no
 * transforms. All that is written here is canonical XML already, so the bytes to digest and to
 * sign are the written ones.
 */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, sign, X509Certificate } from "node:crypto";
import {
  canonicalization,
  type Digest,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "./algorithms.ts";
import { writePaResElement } from "./codec.ts";
import { writeEnvelope } from "./envelope.ts";
import type { PaResMessage } from "./messages.ts";

export type PaResSigner = {
  /** RSA; a key or its PEM. */
  readonly privateKey: KeyObject | string;
  /** PEM, one certificate each, the signer's own first. */
  readonly certificates: readonly string[];
  readonly digest: Digest;
};

export function signPaRes(paRes: PaResMessage, signer: PaResSigner): string {
  const signed = writePaResElement(paRes);
  const content = writeSignedContent(signed, paRes.id, signer.digest);
  // Canonically an element carries the namespace it inherits; in place, its parent declares it.
  const canonical = `<SignedInfo xmlns="${signatureNamespace}">${content}</SignedInfo>`;
  const value = sign(signer.digest, Buffer.from(canonical, "utf8"), signer.privateKey);

  const signature = [
    `<Signature xmlns="${signatureNamespace}">`,
    `<SignedInfo>${content}</SignedInfo>`,
    `<SignatureValue>${value.toString("base64")}</SignatureValue>`,
    `<KeyInfo><X509Data>${signer.certificates.map(writeCertificate).join("")}</X509Data></KeyInfo>`,
    "</Signature>",
  ];
  return writeEnvelope(paRes.messageId, signed + signature.join(""));
}

function writeSignedContent(signed: string, id: string, digest: Digest): string {
  const digestValue = createHash(digest).update(signed, "utf8").digest("base64");
  return [
    `<CanonicalizationMethod Algorithm="${canonicalization}"></CanonicalizationMethod>`,
    `<SignatureMethod Algorithm="${signatureMethods[digest]}"></SignatureMethod>`,
    `<Reference URI="#${id}">`,
    `<DigestMethod Algorithm="${digestMethods[digest]}"></DigestMethod>`,
    `<DigestValue>${digestValue}</DigestValue>`,
    "</Reference>",
  ].join("");
}

function writeCertificate(pem: string): string {
  const base64 = new X509Certificate(pem).raw.toString("base64");
  return `<X509Certificate>${base64}</X509Certificate>`;
}
