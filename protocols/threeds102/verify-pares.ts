/**
 * Verifies a signed PARes. The message as it came is only ever looked at to refuse it; the values
 * returned are read from the canonical bytes that the signature was found to cover.
 */
import type { X509Certificate } from "node:crypto";
import { createRequire } from "node:module";
import { canonicalization, digestMethods, signatureMethods } from "./algorithms.ts";
import { findTrustedSigner } from "./certificate-chain.ts";
import { readPaResElement } from "./codec.ts";
import { type Envelope, openEnvelope, readId } from "./envelope.ts";
import type { PaRes } from "./messages.ts";
import { parseXml, type XmlElement } from "./parse-xml.ts";
import { readSignatureShape } from "./signature-shape.ts";
import { ThreeDsFault } from "./threeds-fault.ts";

/** Takes some megabytes, and most gateways never see a PARes: it is loaded with the first one. */
const load = createRequire(import.meta.url);

export type PaResTrust = {
  /** PEM, one certificate each: the scheme's own roots, from the configuration. */
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

  const certificates = readSignatureShape(signature, id);
  if (certificates instanceof ThreeDsFault) return certificates;
  const signer = findTrustedSigner(certificates, trust.roots, trust.now);
  if (signer instanceof ThreeDsFault) return signer;

  const signed = checkSignature(xml, signature, signer);
  if (signed === undefined) return new ThreeDsFault("wrong_signature");
  return readSigned(signed, id);
}

/** Exactly one PARes and one signature in the whole message, the second right after the first. */
function findSignature({ kind, root, followers }: Envelope): XmlElement | ThreeDsFault {
  if (kind !== "PARes") return new ThreeDsFault("other_message");
  if (countElements(root, "PARes") !== 1) return new ThreeDsFault("repeated_element", "PARes");
  const signatures = countElements(root, "Signature");
  if (signatures === 0) return new ThreeDsFault("unsigned");
  const [signature, ...others] = followers;
  const alone = signatures === 1 && countElements(root, "SignedInfo") === 1 && others.length === 0;
  return alone && signature !== undefined && localName(signature) === "Signature"
    ? signature
    : new ThreeDsFault("misplaced_signature");
}

/** The canonical bytes that are signed, as text. */
function checkSignature(
  xml: string,
  signature: XmlElement,
  signer: X509Certificate,
): string | undefined {
  const { SignedXml } = load("xml-crypto") as typeof import("xml-crypto");
  // The attribute `id` is found without being named; naming it makes each element count twice.
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

function readSigned(signed: string, id: string): PaRes | ThreeDsFault {
  const element = parseXml(signed);
  if (element instanceof ThreeDsFault) return element;
  if (element.name !== "PARes") return new ThreeDsFault("misplaced_signature");
  const paRes = readPaResElement(element);
  if (paRes instanceof ThreeDsFault) return paRes;
  return paRes.id === id ? paRes : new ThreeDsFault("misplaced_signature");
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
