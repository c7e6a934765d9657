/** The readers and writers of every message: an envelope, and the table of what is inside. */
import assert from "node:assert/strict";
import { openEnvelope, readId, readMessage, writeEnvelope, writeMessage } from "./envelope.ts";
import type {
  CrReq,
  CrRes,
  ErrorMessage,
  MessageKind,
  PaReq,
  PaRes,
  PaResMessage,
  VeReq,
  VeRes,
} from "./messages.ts";
import type { XmlElement } from "./parse-xml.ts";
import { ThreeDsFault } from "./threeds-fault.ts";
import type { Tree } from "./walk-rows.ts";

export const readCrReq = makeReader<CrReq>("CRReq");
export const readCrRes = makeReader<CrRes>("CRRes");
export const readVeReq = makeReader<VeReq>("VEReq");
export const readVeRes = makeReader<VeRes>("VERes", findEnrolmentGap);
export const readPaReq = makeReader<PaReq>("PAReq");
export const readError = makeReader<ErrorMessage>("Error");

export const writeCrReq = makeWriter<CrReq>("CRReq");
export const writeCrRes = makeWriter<CrRes>("CRRes");
export const writeVeReq = makeWriter<VeReq>("VEReq");
export const writeVeRes = makeWriter<VeRes>("VERes", findEnrolmentGap);
export const writePaReq = makeWriter<PaReq>("PAReq");
export const writeError = makeWriter<ErrorMessage>("Error");

/** Which reader to use: an endpoint takes several kinds, and any answer may be an `Error`. */
export function findMessageKind(xml: string): MessageKind | ThreeDsFault {
  const envelope = openEnvelope(xml);
  return envelope instanceof ThreeDsFault ? envelope : envelope.kind;
}

/** Looks at no signature: for whoever wrote the message himself. */
export function readUnverifiedPaRes(xml: string): PaResMessage | ThreeDsFault {
  const envelope = openEnvelope(xml);
  if (envelope instanceof ThreeDsFault) return envelope;
  const { kind, message, messageId, followers } = envelope;
  if (kind !== "PARes") return new ThreeDsFault("other_message");
  if (followers.some(({ name }) => name === "PARes")) {
    return new ThreeDsFault("repeated_element", "PARes");
  }
  const paRes = readPaResElement(message);
  return paRes instanceof ThreeDsFault ? paRes : { messageId, ...paRes };
}

export function writeUnsignedPaRes(paRes: PaResMessage): string {
  return writeEnvelope(paRes.messageId, writePaResElement(paRes));
}

export function readPaResElement(element: XmlElement): PaRes | ThreeDsFault {
  const id = readId(element, "PARes");
  if (id instanceof ThreeDsFault) return id;
  const tree = readMessage("PARes", element);
  if (tree instanceof ThreeDsFault) return tree;
  // The table of PARes says which fields there are and what is in them.
  return { id, ...tree } as unknown as PaRes;
}

export function writePaResElement(paRes: PaResMessage): string {
  if (paRes.id === paRes.messageId) assert.fail("PARes/id is the id of Message too");
  return writeMessage("PARes", treeOf(paRes), paRes.id);
}

type Message = { readonly messageId: string };
/** The element that is missing, as far as it depends on another one. */
type FindGap<M> = (message: M) => string | undefined;

function makeReader<M extends Message>(kind: MessageKind, findGap?: FindGap<M>) {
  return (xml: string): M | ThreeDsFault => {
    const envelope = openEnvelope(xml);
    if (envelope instanceof ThreeDsFault) return envelope;
    if (envelope.kind !== kind) return new ThreeDsFault("other_message");
    if (envelope.message.attributes.size > 0) return new ThreeDsFault("malformed_element", kind);
    const tree = readMessage(kind, envelope.message);
    if (tree instanceof ThreeDsFault) return tree;
    // The table of the kind says which fields there are and what is in them.
    const message = { messageId: envelope.messageId, ...tree } as unknown as M;
    const gap = findGap?.(message);
    return gap === undefined ? message : new ThreeDsFault("missing_element", gap);
  };
}

function makeWriter<M extends Message>(kind: MessageKind, findGap?: FindGap<M>) {
  return (message: M): string => {
    const gap = findGap?.(message);
    if (gap !== undefined) assert.fail(`${gap} is missing`);
    return writeEnvelope(message.messageId, writeMessage(kind, treeOf(message)));
  };
}

/** A cardholder who takes part can be reached: by which account, and where. */
function findEnrolmentGap({ ch, url }: VeRes): string | undefined {
  if (ch.enrolled !== "Y") return undefined;
  if (ch.acctId === undefined) return "VERes/CH/acctID";
  return url === undefined ? "VERes/url" : undefined;
}

/** Any message is a tree of texts; the writer asks it only for what the table names. */
function treeOf(message: Message): Tree {
  return message as unknown as Tree;
}
