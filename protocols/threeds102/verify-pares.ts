/**
 * Verifies a signed PARes. Of the message as it was received only the shape is checked; the values
 * returned are read from the canonical bytes that the signature covers.
 */
import { hasNamespaceFault, localNameOf } from "./canonical-xml.ts";
import { type Envelope, openEnvelope, readId, readPaResElement } from "./codec.ts";
import { type PaRes, ThreeDsFault } from "./messages.ts";
import { findTrustedSigner, type PaResTrust } from "./trusted-signer.ts";
import { parseXml, type XmlElement } from "./xml.ts";
import { checkSignature, isNamed, readSignature } from "./xml-signature.ts";

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

/** What binds a PARes to its order: a genuine one of another purchase is no proof. */
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

/** The fields that differ, compared as texts; none if the PARes answers this order. */
export function matchPaRes(paRes: PaRes, order: PaResOrder): readonly (keyof PaResOrder)[] {
  const { merchant, purchase, pan } = paRes;
  const answered: PaResOrder = { ...merchant, ...purchase, lastFour: pan.slice(-4) };
  return boundFields.filter((name) => answered[name] !== order[name]);
}

const misplaced = new ThreeDsFault("misplaced_signature");

/** Exactly one PARes and one signature in the whole message, the second right after the first. */
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

/** However the attribute is written: readers differ in what they take for an id. */
function hasId({ attributes }: XmlElement, id: string): boolean {
  for (const [key, value] of attributes) {
    if (localNameOf(key).toLowerCase() === "id" && value.trim() === id) return true;
  }
  return false;
}
