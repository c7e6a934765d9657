/**
 * The token's signature: a CMS SignedData without its content, in the one shape that the wallet
 * writes. Anything else is refused here, so that no byte of it goes unlooked at.
 */
import { Buffer } from "node:buffer";
import { type Element, readBer, readIdentifier, tags } from "./ber.ts";
import { identifiers } from "./identifiers.ts";

export type Signature = {
  /** In DER, in no order that means anything. */
  readonly certificates: readonly Buffer[];
  /** The encoded issuer, then the encoded serial number, of who signed. */
  readonly issuerAndSerial: Buffer;
  readonly messageDigest: Buffer;
  /** Milliseconds since 1970. */
  readonly signingTime: number;
  readonly keyKind: "ec" | "rsa";
  /** The signed attributes as they are signed. */
  readonly signedBytes: Buffer;
  readonly value: Buffer;
};

const certificatesMax = 8;

/** Nothing when it has another shape. */
export function readSignature(bytes: Buffer): Signature | undefined {
  const [type, wrapped, ...rest] = childrenOf(readBer(bytes), tags.sequence);
  if (readIdentifier(type) !== identifiers.signedContent || rest.length > 0) return undefined;
  const [signed, ...beside] = childrenOf(wrapped, tags.context0);
  const [version, digests, content, certificates, signers, ...others] = childrenOf(
    signed,
    tags.sequence,
  );
  const [digest, ...digestsMore] = childrenOf(digests, tags.set);
  const [contentType, ...embedded] = childrenOf(content, tags.sequence);
  const [signer, ...signersMore] = childrenOf(signers, tags.set);
  const tooMuch = [beside, others, digestsMore, embedded, signersMore].some(({ length }) => length);
  if (tooMuch || !isOne(version) || algorithmOf(digest) !== identifiers.sha256) return undefined;
  if (readIdentifier(contentType) !== identifiers.plainContent) return undefined;
  const carried = childrenOf(certificates, tags.context0);
  if (carried.length > certificatesMax) return undefined;
  const read = readSigner(childrenOf(signer, tags.sequence));
  return read && { ...read, certificates: carried.map(({ encoded }) => encoded) };
}

function readSigner(parts: readonly Element[]): Omit<Signature, "certificates"> | undefined {
  const [version, sid, digest, attributes, algorithm, value, ...others] = parts;
  const [issuer, serial, ...sidMore] = childrenOf(sid, tags.sequence);
  if (others.length > 0 || sidMore.length > 0 || !isOne(version)) return undefined;
  if (issuer === undefined || serial === undefined) return undefined;
  if (algorithmOf(digest) !== identifiers.sha256) return undefined;
  const keyKind = keyKinds.get(algorithmOf(algorithm));
  if (keyKind === undefined || value?.tag !== tags.octetString) return undefined;
  const signed = attributes && readAttributes(attributes);
  if (signed === undefined) return undefined;
  const issuerAndSerial = Buffer.concat([issuer.encoded, serial.encoded]);
  return { ...signed, issuerAndSerial, keyKind, value: value.content };
}

// biome-ignore format: a table
const keyKinds: ReadonlyMap<string | undefined, "ec" | "rsa"> = new Map([
  [identifiers.ecdsaSha256, "ec"],
  [identifiers.rsaSha256,   "rsa"],
  [identifiers.rsa,         "rsa"],
]);

type Attributes = Pick<Signature, "messageDigest" | "signingTime" | "signedBytes">;

function readAttributes(element: Element): Attributes | undefined {
  // They are signed as a SET in DER, and travel under another tag.
  if (element.tag !== tags.context0 || element.isIndefinite) return undefined;
  const signedBytes = Buffer.concat([Buffer.of(tags.set), element.encoded.subarray(1)]);
  const values = new Map<string, Element>();
  for (const attribute of element.children) {
    const [type, set, ...others] = childrenOf(attribute, tags.sequence);
    const [value, ...valuesMore] = childrenOf(set, tags.set);
    const name = readIdentifier(type);
    if (name === undefined || value === undefined || values.has(name)) return undefined;
    if (others.length > 0 || valuesMore.length > 0) return undefined;
    values.set(name, value);
  }
  const digest = values.get(identifiers.messageDigest);
  const signingTime = readMoment(values.get(identifiers.signingTime));
  if (readIdentifier(values.get(identifiers.contentType)) !== identifiers.plainContent) {
    return undefined;
  }
  if (digest?.tag !== tags.octetString || signingTime === undefined) return undefined;
  return { messageDigest: digest.content, signingTime, signedBytes };
}

/** UTCTime or GeneralizedTime, to the second and in UTC. */
function readMoment(element: Element | undefined): number | undefined {
  const text = element?.content.toString("latin1") ?? "";
  const century = Number(text.slice(0, 2)) < 50 ? "20" : "19";
  const full = element?.tag === tags.utcTime ? century + text : text;
  if (element?.tag !== tags.utcTime && element?.tag !== tags.generalizedTime) return undefined;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = Date.parse(iso);
  // The parser takes the 30th of February for the 1st or 2nd of March.
  return !Number.isNaN(time) && new Date(time).toISOString() === iso ? time : undefined;
}

/** Nothing for an algorithm with parameters other than empty ones. */
function algorithmOf(element: Element | undefined): string | undefined {
  const [name, parameters, ...others] = childrenOf(element, tags.sequence);
  const isPlain = parameters === undefined || parameters.encoded.equals(Buffer.of(tags.nothing, 0));
  return isPlain && others.length === 0 ? readIdentifier(name) : undefined;
}

function isOne(element: Element | undefined): boolean {
  return element?.tag === tags.integer && element.content.equals(Buffer.of(1));
}

function childrenOf(element: Element | undefined, tag: number): readonly Element[] {
  return element?.tag === tag ? element.children : [];
}
