/**
 * The one shape of signature that is taken. Everything a verifier could be led astray with is
 * refused before it runs: other algorithms, transforms, more references, objects.
 */
import { Buffer } from "node:buffer";
import {
  canonicalization,
  digestMethods,
  signatureMethods,
  signatureNamespace,
} from "./algorithms.ts";
import type { XmlElement } from "./parse-xml.ts";
import { ThreeDsFault } from "./threeds-fault.ts";

/** The certificates of a signature that refers to `id`, as they stand in it. */
export function readSignatureShape(
  signature: XmlElement,
  id: string,
): readonly Buffer[] | ThreeDsFault {
  const prefix = signature.name.slice(0, -"Signature".length);
  const declared = prefix === "" ? "xmlns" : `xmlns:${prefix.slice(0, -1)}`;
  if (signature.attributes.get(declared) !== signatureNamespace) return misplaced;
  if (!staysInNamespace(signature, prefix)) return misplaced;

  const parts = findParts(signature, prefix, ["SignedInfo", "SignatureValue", "KeyInfo"]);
  if (parts === undefined) return misplaced;
  const [signed, , key] = parts;
  const fault = signed === undefined ? misplaced : findFault(signed, prefix, `#${id}`);
  if (fault !== undefined) return fault;

  const certificates = key === undefined ? [] : listCertificates(key, prefix);
  return certificates.includes(undefined) || certificates.length === 0
    ? new ThreeDsFault("malformed_certificate")
    : certificates.filter((certificate) => certificate !== undefined);
}

const misplaced = new ThreeDsFault("misplaced_signature");

function findFault(signed: XmlElement, prefix: string, uri: string): ThreeDsFault | undefined {
  const names = ["CanonicalizationMethod", "SignatureMethod", "Reference"];
  const [canonicalized, method, reference] = findParts(signed, prefix, names) ?? [];
  if (reference === undefined || reference.attributes.get("URI") !== uri) return misplaced;

  const [first] = reference.children;
  const transforms = first?.name === `${prefix}Transforms` ? first : undefined;
  const rest = { ...reference, children: reference.children.slice(transforms ? 1 : 0) };
  const [digest] = findParts(rest, prefix, ["DigestMethod", "DigestValue"]) ?? [];
  if (digest === undefined) return misplaced;

  const allowed =
    isOneOf([canonicalization], canonicalized) &&
    isOneOf(Object.values(signatureMethods), method) &&
    isOneOf(Object.values(digestMethods), digest) &&
    (transforms?.children ?? []).every((transform) => isOneOf([canonicalization], transform));
  return allowed ? undefined : new ThreeDsFault("other_algorithm");
}

function isOneOf(algorithms: readonly string[], element: XmlElement | undefined): boolean {
  const algorithm = element?.attributes.get("Algorithm");
  return algorithm !== undefined && algorithms.includes(algorithm) && !element?.children.length;
}

/** The children, if they are exactly the named ones in this order. */
function findParts(
  { children }: XmlElement,
  prefix: string,
  names: readonly string[],
): readonly XmlElement[] | undefined {
  const fits =
    children.length === names.length &&
    names.every((name, index) => children[index]?.name === prefix + name);
  return fits ? children : undefined;
}

/** One prefix throughout, declared once: then a name cannot mean two things. */
function staysInNamespace({ children }: XmlElement, prefix: string): boolean {
  return children.every((child) => {
    const redeclares = [...child.attributes.keys()].some((key) => key.startsWith("xmlns"));
    const hasPrefix = child.name.includes(":") ? child.name.startsWith(prefix) : prefix === "";
    return !redeclares && hasPrefix && staysInNamespace(child, prefix);
  });
}

function listCertificates(key: XmlElement, prefix: string): readonly (Buffer | undefined)[] {
  return key.children
    .filter(({ name }) => name === `${prefix}X509Data`)
    .flatMap(({ children }) => children)
    .filter(({ name }) => name === `${prefix}X509Certificate`)
    .map(({ text }) => text.replace(/[ \t\r\n]/g, ""))
    .map((base64) => {
      const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0;
      return isBase64 ? Buffer.from(base64, "base64") : undefined;
    });
}
