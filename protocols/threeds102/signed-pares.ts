/**
 * Verifies a signed PARes, and signs one. Only the structure of a received message is checked. The
 * returned values are read from the canonical bytes that the signature covers.
 */
import { Buffer } from "node:buffer";
import { createHash, type KeyObject, sign, X509Certificate } from "node:crypto";
import { hasNamespaceFault, localNameOf } from "./canonical-xml.ts";
import {
  type Envelope,
  openEnvelope,
  readId,
  readPaResElement,
  writeEnvelope,
  writePaResElement,
} from "./codec.ts";
import { type PaRes, type PaResMessage, ThreeDsFault } from "./messages.ts";
import { parseXml, type XmlElement } from "./xml.ts";
import {
  canonicalForms,
  checkSignature,
  type Digest,
  digestMethods,
  isNamed,
  readSignature,
  signatureMethods,
  signatureNamespace,
} from "./xml-signature.ts";

export function verifyPaRes(xml: string, trust: PaResTrust): PaRes | ThreeDsFault {
  const envelope = openEnvelope(xml);
  if (envelope instanceof ThreeDsFault) return envelope;
  const { root, wrapper, message } = envelope;
  const elements = [root];
  // The list grows while it is read.
  for (const { children } of elements) for (const child of children) elements.push(child);
  const element = findSignature(envelope, elements);
  if (element instanceof ThreeDsFault) return element;
  if (elements.some(hasNamespaceFault)) return new ThreeDsFault("malformed_xml");
  const id = readId(message, "PARes");
  if (id instanceof ThreeDsFault) return id;
  if (elements.filter((one) => hasId(one, id)).length > 1) return misplaced;

  const signature = readSignature(element, id);
  if (signature instanceof ThreeDsFault) return signature;
  const signer = findTrustedSigner(signature.certificates, trust);
  if (signer instanceof ThreeDsFault) return signer;
  const path = [root, wrapper];
  const signed = checkSignature(signature, [...path, message], [...path, element], signer);
  if (signed === undefined) return new ThreeDsFault("wrong_signature");
  return readSigned(signed, id);
}

function readSigned(signed: string, id: string): PaRes | ThreeDsFault {
  const element = parseXml(signed);
  if (element instanceof ThreeDsFault) return element;
  if (element.name !== "PARes") return misplaced;
  const paRes = readPaResElement(element);
  return paRes instanceof ThreeDsFault || paRes.id === id ? paRes : misplaced;
}

/**
 * The values that bind a PARes to its order, because a genuine one of another purchase proves
 * nothing.
 */
export type PaResOrder = PaRes["merchant"] & PaRes["purchase"] & { readonly lastFour: string };

const boundFields = [
  "xid",
  "acqBin",
  "merId",
  "purchAmount",
  "currency",
  "exponent",
  "date",
  "lastFour",
] as const satisfies readonly (keyof PaResOrder)[];

/** Returns the fields that differ as texts. There are none if the PARes answers this order. */
export function matchPaRes(paRes: PaRes, order: PaResOrder): readonly (keyof PaResOrder)[] {
  const { merchant, purchase, pan } = paRes;
  const answered: PaResOrder = { ...merchant, ...purchase, lastFour: pan.slice(-4) };
  return boundFields.filter((name) => answered[name] !== order[name]);
}

const misplaced = new ThreeDsFault("misplaced_signature");

/**
 * Finds the signature. The whole message must have exactly one PARes and one signature right after
 * it.
 */
function findSignature(
  { kind, followers }: Envelope,
  elements: readonly XmlElement[],
): XmlElement | ThreeDsFault {
  const counts = { PARes: 0, Signature: 0, SignedInfo: 0 };
  for (const { name } of elements) {
    const local = localNameOf(name);
    if (local === "PARes" || local === "Signature" || local === "SignedInfo") counts[local] += 1;
  }
  if (kind !== "PARes") return new ThreeDsFault("other_message");
  if (counts.PARes !== 1) return new ThreeDsFault("repeated_element", "PARes");
  if (counts.Signature === 0) return new ThreeDsFault("unsigned");
  const [signature, ...others] = followers;
  const isAlone = counts.Signature === 1 && counts.SignedInfo === 1 && others.length === 0;
  return isAlone && signature !== undefined && isNamed(signature, "Signature")
    ? signature
    : misplaced;
}

/**
 * Returns whether the element has the id, in any spelling of the attribute, because readers differ
 * in what they accept as an id.
 */
function hasId({ attributes }: XmlElement, id: string): boolean {
  for (const [key, value] of attributes) {
    if (localNameOf(key).toLowerCase() === "id" && value.trim() === id) return true;
  }
  return false;
}

export type PaResTrust = {
  /** The scheme's roots from the configuration, in PEM with one certificate each. */
  readonly roots: readonly string[];
  /** The time in milliseconds since 1970, for the validity of certificates. */
  readonly now: number;
};

/** The shortest RSA key. Live ACSs signed with 1024 bits until the end. */
const rsaBitsMin = 1024;
const certificatesMax = 8;

/**
 * Returns the signer's certificate if its chain ends in a configured root and is valid at `now`.
 * The message's certificates are in any order and prove nothing by themselves. The root in the
 * message is never used, even if it equals the configured one.
 */
function findTrustedSigner(
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

/** Tries every authority once, because a sender may let each issue all others. */
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

/** Checks the name, the permission to sign certificates, and the signature. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isRsa({ publicKey }: X509Certificate): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  return asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin;
}

export const paResShapes = ["inclusive", "exclusive", "repeated-namespace"] as const;
export type PaResShape = (typeof paResShapes)[number];

type Writing = {
  readonly form: keyof typeof canonicalForms;
  /** The prefix of the signature's elements. */
  readonly prefix: string;
  readonly hasTransform: boolean;
  /** Whether `SignedInfo` declares again the namespace that is in force already. */
  readonly repeats: boolean;
};

const writings: Readonly<Record<PaResShape, Writing>> = {
  "inclusive": { form: "inclusive", prefix: "", hasTransform: false, repeats: false },
  "exclusive": { form: "exclusive", prefix: "ds:", hasTransform: true, repeats: false },
  "repeated-namespace": { form: "inclusive", prefix: "", hasTransform: false, repeats: true },
};

export type PaResSigner = {
  /** The RSA key, or its PEM. */
  readonly privateKey: KeyObject | string;
  /** The certificates in PEM, the signer's own first. */
  readonly certificates: readonly string[];
  readonly digest: Digest;
  readonly shape?: PaResShape;
};

/**
 * Signs a PARes as live ACSs did, in one of the forms that they wrote: the signature follows the
 * PARes and refers to its id. Everything that is written here is canonical XML already, so the
 * written bytes are digested and signed.
 */
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
  // In both canonical forms, SignedInfo contains the namespace that its parent declares.
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
