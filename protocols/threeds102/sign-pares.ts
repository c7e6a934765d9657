/**
 * Signs a PARes as live ACSs did, in one of the shapes that they wrote: the signature follows the
 * PARes and refers to its id. All that is written here is canonical XML already, so the written
 * bytes are digested and signed.
 */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, sign, X509Certificate } from "node:crypto";
import { writeEnvelope, writePaResElement } from "./codec.ts";
import type { PaResMessage } from "./messages.ts";
import {
  canonicalForms,
  type Digest,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "./xml-signature.ts";

export const paResShapes = ["inclusive", "exclusive", "repeated-namespace"] as const;
export type PaResShape = (typeof paResShapes)[number];

type Writing = {
  readonly form: keyof typeof canonicalForms;
  /** Of the signature's elements. */
  readonly prefix: string;
  readonly hasTransform: boolean;
  /** `SignedInfo` declares the namespace that is in force already. */
  readonly repeats: boolean;
};

const writings: Readonly<Record<PaResShape, Writing>> = {
  "inclusive": { form: "inclusive", prefix: "", hasTransform: false, repeats: false },
  "exclusive": { form: "exclusive", prefix: "ds:", hasTransform: true, repeats: false },
  "repeated-namespace": { form: "inclusive", prefix: "", hasTransform: false, repeats: true },
};

export type PaResSigner = {
  /** RSA; a key or its PEM. */
  readonly privateKey: KeyObject | string;
  /** PEM, one certificate each, the signer's own first. */
  readonly certificates: readonly string[];
  readonly digest: Digest;
  readonly shape?: PaResShape;
};

export function signPaRes(paRes: PaResMessage, signer: PaResSigner): string {
  const { digest, privateKey, certificates, shape = "inclusive" } = signer;
  const { form, prefix, hasTransform, repeats } = writings[shape];
  const element = (name: string, content: string, attributes = "") =>
    `<${prefix}${name}${attributes}>${content}</${prefix}${name}>`;
  const method = (name: string, algorithm: string) =>
    element(name, "", ` Algorithm="${algorithm}"`);

  const signed = writePaResElement(paRes);
  const digestValue = createHash(digest).update(signed, "utf8").digest("base64");
  const transform = method("Transform", canonicalForms[form]);
  const reference =
    (hasTransform ? element("Transforms", transform) : "") +
    method("DigestMethod", digestMethods[digest]) +
    element("DigestValue", digestValue);
  const content =
    method("CanonicalizationMethod", canonicalForms[form]) +
    method("SignatureMethod", signatureMethods[digest]) +
    element("Reference", reference, ` URI="#${paRes.id}"`);
  const namespace = ` xmlns${prefix && ":"}${prefix.slice(0, -1)}="${signatureNamespace}"`;
  // In both canonical forms SignedInfo carries the namespace that its parent declares.
  const canonical = element("SignedInfo", content, namespace);
  const value = sign(digest, Buffer.from(canonical, "utf8"), privateKey);

  const encoded = certificates.map((pem) => new X509Certificate(pem).raw.toString("base64"));
  const data = encoded.map((base64) => element("X509Certificate", base64)).join("");
  const signature =
    element("SignedInfo", content, repeats ? namespace : "") +
    element("SignatureValue", value.toString("base64")) +
    element("KeyInfo", element("X509Data", data));
  const whole = signed + element("Signature", signature, namespace);
  return writeEnvelope(paRes.messageId, whole);
}
