/**
 * Verifies a signed PARes. Of the message as it was received only the shape is checked; the values
 * returned are read from the canonical bytes that the signature covers.
 */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { createRequire } from "node:module";
import { type Envelope, openEnvelope, readId, readPaResElement } from "./codec.ts";
import { type PaRes, ThreeDsFault } from "./messages.ts";
import {
  canonicalization,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "./sign-pares.ts";
import { parseXml, type XmlElement } from "./xml.ts";

/** xml-crypto takes some megabytes, and few gateways see a PARes: the first one loads it. */
const load = createRequire(import.meta.url);

export type PaResTrust = {
  /** PEM, one certificate each: the scheme's roots, from the configuration. */
  readonly roots: readonly string[];
  /** Milliseconds since 1970, for the validity of certificates. */
  readonly now: number;
};

export function verifyPaRes(xml: string, trust: PaResTrust): PaRes | ThreeDsFault {
  const envelope = openEnvelope(xml);
  if (envelope instanceof ThreeDsFault) return envelope;
  const signature = findSignature(envelope);
  if (signature instanceof ThreeDsFault) return signature;
  const id = readId(envelope.message, "PARes");
  if (id instanceof ThreeDsFault) return id;

  const certificates = readCertificates(signature, id);
  if (certificates instanceof ThreeDsFault) return certificates;
  const signer = findTrustedSigner(certificates, trust.roots, trust.now);
  if (signer instanceof ThreeDsFault) return signer;

  const signed = checkSignature(xml, signature, signer);
  if (signed === undefined) return new ThreeDsFault("wrong_signature");
  const element = parseXml(signed);
  if (element instanceof ThreeDsFault) return element;
  if (element.name !== "PARes") return misplaced;
  const paRes = readPaResElement(element);
  return paRes instanceof ThreeDsFault || paRes.id === id ? paRes : misplaced;
}

/** What binds a PARes to its order: a genuine one of another purchase is no proof. */
export type PaResOrder = PaRes["merchant"] & PaRes["purchase"] & { readonly lastFour: string };

// biome-ignore format: a table
const boundFields = [
  "xid", "acqBin", "merId", "purchAmount", "currency", "exponent", "date", "lastFour",
] as const satisfies readonly (keyof PaResOrder)[];

/** The fields that differ, compared as texts; none if the PARes answers this order. */
export function matchPaRes(paRes: PaRes, order: PaResOrder): readonly (keyof PaResOrder)[] {
  const { merchant, purchase, pan } = paRes;
  const answered: PaResOrder = { ...merchant, ...purchase, lastFour: pan.slice(-4) };
  return boundFields.filter((name) => answered[name] !== order[name]);
}

const misplaced = new ThreeDsFault("misplaced_signature");

/** Exactly one PARes and one signature in the whole message, the second right after the first. */
function findSignature({ kind, root, followers }: Envelope): XmlElement | ThreeDsFault {
  if (kind !== "PARes") return new ThreeDsFault("other_message");
  if (countElements(root, "PARes") !== 1) return new ThreeDsFault("repeated_element", "PARes");
  const signatures = countElements(root, "Signature");
  if (signatures === 0) return new ThreeDsFault("unsigned");
  const [signature, ...others] = followers;
  const isAlone =
    signatures === 1 && countElements(root, "SignedInfo") === 1 && others.length === 0;
  return isAlone && signature !== undefined && localName(signature) === "Signature"
    ? signature
    : misplaced;
}

/**
 * The certificates of a signature that refers to `id`. Only one shape of signature is accepted:
 * other algorithms, transforms, further references and objects are refused before the verifier
 * runs.
 */
function readCertificates(signature: XmlElement, id: string): readonly Buffer[] | ThreeDsFault {
  const prefix = signature.name.slice(0, -"Signature".length);
  const declared = prefix === "" ? "xmlns" : `xmlns:${prefix.slice(0, -1)}`;
  if (signature.attributes.get(declared) !== signatureNamespace) return misplaced;
  if (!staysInNamespace(signature, prefix)) return misplaced;

  const parts = findParts(signature.children, prefix, ["SignedInfo", "SignatureValue", "KeyInfo"]);
  const [signed, , key] = parts;
  if (signed === undefined || key === undefined) return misplaced;
  const fault = findSignedInfoFault(signed, prefix, `#${id}`);
  if (fault !== undefined) return fault;

  const certificates = key.children
    .filter(({ name }) => name === `${prefix}X509Data`)
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === `${prefix}X509Certificate`)
    .map(({ text }) => text.replace(/[ \t\r\n]/g, ""));
  const isBase64 = (text: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
  return certificates.length > 0 && certificates.every(isBase64)
    ? certificates.map((base64) => Buffer.from(base64, "base64"))
    : new ThreeDsFault("malformed_certificate");
}

function findSignedInfoFault(
  { children }: XmlElement,
  prefix: string,
  uri: string,
): ThreeDsFault | undefined {
  const names = ["CanonicalizationMethod", "SignatureMethod", "Reference"];
  const [canonicalized, method, reference] = findParts(children, prefix, names);
  if (reference === undefined || reference.attributes.get("URI") !== uri) return misplaced;

  const [first] = reference.children;
  const transforms = first?.name === `${prefix}Transforms` ? first : undefined;
  const others = reference.children.slice(transforms === undefined ? 0 : 1);
  const [digest] = findParts(others, prefix, ["DigestMethod", "DigestValue"]);
  if (digest === undefined) return misplaced;

  const isAllowed =
    isOneOf([canonicalization], canonicalized) &&
    isOneOf(Object.values(signatureMethods), method) &&
    isOneOf(Object.values(digestMethods), digest) &&
    (transforms?.children ?? []).every((transform) => isOneOf([canonicalization], transform));
  return isAllowed ? undefined : new ThreeDsFault("other_algorithm");
}

function isOneOf(algorithms: readonly string[], element: XmlElement | undefined): boolean {
  const algorithm = element?.attributes.get("Algorithm");
  return algorithm !== undefined && algorithms.includes(algorithm) && !element?.children.length;
}

/** The elements if they are exactly the named ones in this order, else none. */
function findParts(
  elements: readonly XmlElement[],
  prefix: string,
  names: readonly string[],
): readonly XmlElement[] {
  const fits =
    elements.length === names.length &&
    names.every((name, index) => elements[index]?.name === prefix + name);
  return fits ? elements : [];
}

/** One prefix throughout, declared once: then a name has only one meaning. */
function staysInNamespace({ children }: XmlElement, prefix: string): boolean {
  return children.every((child) => {
    const redeclares = [...child.attributes.keys()].some((key) => key.startsWith("xmlns"));
    const hasPrefix = child.name.includes(":") ? child.name.startsWith(prefix) : prefix === "";
    return !redeclares && hasPrefix && staysInNamespace(child, prefix);
  });
}

/** The canonical text that is signed. */
function checkSignature(
  xml: string,
  signature: XmlElement,
  signer: X509Certificate,
): string | undefined {
  const { SignedXml } = load("xml-crypto") as typeof import("xml-crypto");
  // It finds the attribute `id` by itself; naming the attribute would count each element twice.
  const verifier = new SignedXml({
    publicCert: signer.toString(),
    getCertFromKeyInfo: () => null,
  });
  keepOnly(verifier.SignatureAlgorithms, Object.values(signatureMethods));
  keepOnly(verifier.HashAlgorithms, Object.values(digestMethods));
  try {
    verifier.loadSignature(signature.source);
    keepOnly(verifier.CanonicalizationAlgorithms, [canonicalization]);
    if (!verifier.checkSignature(xml)) return undefined;
  } catch {
    return undefined;
  }
  const [signed, ...others] = verifier.getSignedReferences();
  return others.length === 0 ? signed : undefined;
}

function keepOnly(algorithms: Record<string, unknown>, names: readonly string[]): void {
  for (const name of Object.keys(algorithms)) {
    if (!names.includes(name)) delete algorithms[name];
  }
}

function countElements(element: XmlElement, name: string): number {
  const own = localName(element) === name ? 1 : 0;
  return element.children.reduce((count, child) => count + countElements(child, name), own);
}

function localName({ name }: XmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Live ACSs signed with 1024 bits until the end. */
const rsaBitsMin = 1024;
const certificatesMax = 8;

/**
 * The signer's certificate, if its chain ends in a configured root and is valid at `now`. The
 * message's certificates come in any order and prove nothing by themselves; its own root is never
 * used, even when it is the configured one.
 */
function findTrustedSigner(
  embedded: readonly Buffer[],
  roots: readonly string[],
  now: number,
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

function endsInRoot(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  if (roots.some((root) => isIssuedBy(certificate, root))) return true;
  return authorities
    .filter((authority) => isIssuedBy(certificate, authority))
    .some((authority) => {
      const others = authorities.filter((one) => one !== authority);
      return endsInRoot(authority, others, roots);
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
