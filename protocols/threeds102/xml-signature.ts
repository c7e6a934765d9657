/**
 * The XML signature of a PARes. Only one structure is accepted: one reference by id, canonical XML
 * in the inclusive or exclusive form, RSA, and certificates. Other algorithms, transforms, further
 * references and objects are refused. Names are compared by namespace, with any prefix.
 */
import { Buffer } from "node:buffer";
import { createHash, verify, type X509Certificate } from "node:crypto";
import { type CanonicalForm, canonicalize, localNameOf, namespaceOf } from "./canonical-xml.ts";
import { ThreeDsFault } from "./messages.ts";
import type { XmlElement } from "./xml.ts";

export const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#";

export const canonicalForms = {
  inclusive: "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
  exclusive: "http://www.w3.org/2001/10/xml-exc-c14n#",
} as const;

const digests = ["sha1", "sha256"] as const;
export type Digest = (typeof digests)[number];

// The only algorithms. Live ACSs signed with SHA-1, which nothing else in the project accepts.
export const digestMethods: Readonly<Record<Digest, string>> = {
  sha1: "http://www.w3.org/2000/09/xmldsig#sha1",
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
};

export const signatureMethods: Readonly<Record<Digest, string>> = {
  sha1: "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  sha256: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
};

type XmlSignature = {
  readonly signedInfo: XmlElement;
  /** The canonical forms of `SignedInfo` and of the signed element. */
  readonly form: CanonicalForm;
  readonly referenceForm: CanonicalForm;
  readonly method: Digest;
  readonly digest: Digest;
  readonly digestValue: Buffer;
  readonly value: Buffer;
  /** The certificates in DER. */
  readonly certificates: readonly Buffer[];
};

const misplaced = new ThreeDsFault("misplaced_signature");
const wrongSignature = new ThreeDsFault("wrong_signature");
const otherAlgorithm = new ThreeDsFault("other_algorithm");

/** Reads a signature that refers to `id`. */
export function readSignature(signature: XmlElement, id: string): XmlSignature | ThreeDsFault {
  const names = ["SignedInfo", "SignatureValue", "KeyInfo"];
  const [signedInfo, signatureValue, keyInfo] = findParts(signature.children, names);
  if (signedInfo === undefined || keyInfo === undefined) return misplaced;
  const signed = readSignedInfo(signedInfo, `#${id}`);
  if (signed instanceof ThreeDsFault) return signed;

  const value = readBase64(signatureValue);
  if (value === undefined) return wrongSignature;
  const certificates = keyInfo.children
    .filter((child) => isNamed(child, "X509Data"))
    .flatMap(({ children }) => children)
    .filter((child) => isNamed(child, "X509Certificate"))
    .map(readBase64);
  return certificates.length > 0 && certificates.every((der) => der !== undefined)
    ? { ...signed, value, certificates }
    : new ThreeDsFault("malformed_certificate");
}

function readSignedInfo(signedInfo: XmlElement, uri: string) {
  const names = ["CanonicalizationMethod", "SignatureMethod", "Reference"];
  const [canonicalization, signatureMethod, reference] = findParts(signedInfo.children, names);
  if (reference === undefined || reference.attributes.get("URI") !== uri) return misplaced;

  const [first, ...others] = reference.children;
  const hasTransforms = first !== undefined && isNamed(first, "Transforms");
  const parts = hasTransforms ? others : reference.children;
  const [digestMethod, digestText] = findParts(parts, ["DigestMethod", "DigestValue"]);
  if (digestMethod === undefined) return misplaced;

  const form = findForm(canonicalization);
  const referenceForm = findReferenceForm(hasTransforms ? first.children : []);
  const method = findDigest(signatureMethods, signatureMethod);
  const digest = findDigest(digestMethods, digestMethod);
  if (form === undefined || referenceForm === undefined) return otherAlgorithm;
  if (method === undefined || digest === undefined) return otherAlgorithm;
  const digestValue = readBase64(digestText);
  if (digestValue === undefined) return wrongSignature;
  return { signedInfo, form, referenceForm, method, digest, digestValue };
}

/** The highest number of prefixes, because each is looked up at every element. */
const prefixesMax = 32;

/** Returns the form of the signed element, which is the inclusive one without a transform. */
function findReferenceForm(transforms: readonly XmlElement[]): CanonicalForm | undefined {
  if (transforms.length === 0) return { kind: "inclusive" };
  const [transform] = findParts(transforms, ["Transform"]);
  return findForm(transform);
}

function findForm(element: XmlElement | undefined): CanonicalForm | undefined {
  const algorithm = element?.attributes.get("Algorithm");
  const [parameter, second] = element?.children ?? [];
  if (algorithm === canonicalForms.inclusive && parameter === undefined) {
    return { kind: "inclusive" };
  }
  if (algorithm !== canonicalForms.exclusive || second !== undefined) return undefined;
  if (parameter === undefined) return { kind: "exclusive", prefixes: [] };
  const list = parameter.attributes.get("PrefixList");
  if (list === undefined || parameter.children.length > 0) return undefined;
  if (!isNamed(parameter, "InclusiveNamespaces", canonicalForms.exclusive)) return undefined;
  const prefixes = list.split(/[ \t\r\n]+/).filter(Boolean);
  if (prefixes.length > prefixesMax) return undefined;
  return {
    kind: "exclusive",
    prefixes: prefixes.map((prefix) => (prefix === "#default" ? "" : prefix)),
  };
}

function findDigest(
  methods: Readonly<Record<Digest, string>>,
  element: XmlElement | undefined,
): Digest | undefined {
  if (element === undefined || element.children.length > 0) return undefined;
  const algorithm = element.attributes.get("Algorithm");
  return digests.find((digest) => methods[digest] === algorithm);
}

/** Returns the signed bytes, or undefined if the signature is not valid. */
export function checkSignature(
  signature: XmlSignature,
  signed: readonly XmlElement[],
  pathToSignature: readonly XmlElement[],
  signer: X509Certificate,
): string | undefined {
  const { signedInfo, form, referenceForm, method, digest, digestValue, value } = signature;
  const canonical = canonicalize(signed, referenceForm);
  const digested = createHash(digest).update(canonical, "utf8").digest();
  if (!digested.equals(digestValue)) return undefined;
  const bytes = Buffer.from(canonicalize([...pathToSignature, signedInfo], form), "utf8");
  return verify(method, bytes, signer.publicKey, value) ? canonical : undefined;
}

export function isNamed(
  { name, namespaces }: XmlElement,
  local: string,
  namespace: string = signatureNamespace,
): boolean {
  return localNameOf(name) === local && namespaceOf(name, namespaces) === namespace;
}

/** Returns the elements if they are exactly the named ones in this order, and otherwise none. */
function findParts(
  elements: readonly XmlElement[],
  names: readonly string[],
): readonly XmlElement[] {
  const fits =
    elements.length === names.length &&
    elements.every((element, index) => isNamed(element, names[index] ?? ""));
  return fits ? elements : [];
}

/** Reads base64, in which line breaks and spaces are allowed. */
function readBase64(element: XmlElement | undefined): Buffer | undefined {
  const base64 = element?.text.replace(/[ \t\r\n]/g, "") ?? "";
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0;
  return isBase64 && element?.children.length === 0 ? Buffer.from(base64, "base64") : undefined;
}
