/**
 * The directory server of EMV 3-D Secure: says which cards take part, passes requests to the ACS,
 * and answers what it cannot take with an Erro of its own.
 */
import { randomUUID } from "node:crypto";
import {
  type Emv3dsMessage,
  isProtocolVersion,
  MessageFault,
  makeErro,
  type ProtocolVersion,
  protocolVersions,
  type Received,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { ThreeDsMessages } from "../threeds-messages.ts";
import { findRange, serialNumberOf, writeCardRanges } from "./card-ranges.ts";

export type EmvDesk = {
  readonly messages: ThreeDsMessages;
  /** The ACS; it answers nothing when it stays silent. */
  readonly authenticate: (areq: Emv3dsMessage) => Emv3dsMessage | MessageFault | undefined;
  readonly methodUrl: () => string;
  readonly ownUrl: () => string;
};

/** What goes back: a message, nothing but an empty answer, or no answer ever. */
export type Answer = { readonly text: string } | "nothing" | "silence";

export const directoryReference = "TOLLGATE-SANDBOX-DS";

const newest: ProtocolVersion = "2.3.1";

export function answerEmv(text: string, desk: EmvDesk): Answer {
  const request = readMessage(text, { types: ["PReq", "AReq", "Erro"], allowHttp: true });
  if (request instanceof MessageFault) {
    noteUnread(request.received, desk);
    // An Erro is never answered with another, not even one that cannot be read.
    return request.received.messageType === "Erro" ? "nothing" : refuse(request, desk);
  }
  note("received", request, desk);
  if (request.messageType === "Erro") return "nothing";
  if (request.messageType === "PReq") return send(prepare(request, desk), request, desk);
  return passToAcs(request, desk);
}

function prepare(preq: Emv3dsMessage, { methodUrl }: EmvDesk): Emv3dsMessage {
  const { messageVersion } = preq;
  const version = versionOf(messageVersion);
  const serialNum = serialNumberOf(methodUrl());
  const isCurrent = textOf(preq, "serialNum") === serialNum;
  const span = { dsStartProtocolVersion: protocolVersions[0], dsEndProtocolVersion: newest };
  return {
    messageType: "PRes",
    messageVersion,
    threeDSServerTransID: preq["threeDSServerTransID"],
    dsTransID: randomUUID(),
    serialNum,
    ...(version === "2.3.1" ? {} : span),
    // An empty list may not stand there: without one nothing has changed.
    ...(isCurrent ? {} : { cardRangeData: writeCardRanges(version, methodUrl()) }),
  };
}

function passToAcs(areq: Emv3dsMessage, desk: EmvDesk): Answer {
  const passed: Emv3dsMessage = {
    ...areq,
    dsTransID: randomUUID(),
    dsReferenceNumber: directoryReference,
    dsURL: desk.ownUrl(),
  };
  const answer = findFault(areq) ?? desk.authenticate(passed);
  if (answer === undefined) return "silence";
  if (!(answer instanceof MessageFault)) return send(answer, areq, desk);
  return refuse(new MessageFault(answer.code, answer.elements, answer.detail, tell(passed)), desk);
}

/** What the codec cannot know: who takes part, and that results need a connection to trust. */
function findFault(areq: Emv3dsMessage): MessageFault | undefined {
  const range = findRange(textOf(areq, "acctNumber") ?? "");
  if (range === undefined) return new MessageFault("305", ["acctNumber"]);
  if (range.version !== areq.messageVersion) return new MessageFault("102", [], range.version);
  const isSecret = textOf(areq, "threeDSServerURL")?.startsWith("https:") === true;
  return isSecret ? undefined : new MessageFault("203", ["threeDSServerURL"]);
}

function tell(areq: Emv3dsMessage): Received {
  const { messageType, messageVersion } = areq;
  const threeDSServerTransID = textOf(areq, "threeDSServerTransID") ?? "";
  const dsTransID = textOf(areq, "dsTransID") ?? "";
  return { messageType, messageVersion, threeDSServerTransID, dsTransID };
}

function refuse(fault: MessageFault, desk: EmvDesk): Answer {
  const version = versionOf(fault.received.messageVersion);
  return send(makeErro(fault, { component: "D", version }), undefined, desk);
}

function send(message: Emv3dsMessage, request: Emv3dsMessage | undefined, desk: EmvDesk): Answer {
  const text = writeMessage(message, {
    allowHttp: true,
    ...(request === undefined ? {} : { request }),
  });
  note("sent", message, desk);
  return { text };
}

function note(direction: "received" | "sent", message: Emv3dsMessage, { messages }: EmvDesk): void {
  const transactionId = textOf(message, "threeDSServerTransID") ?? "";
  messages.record({ direction, type: message.messageType, transactionId, fields: message });
}

/** Only what could be told of it: the rest may hold anything. */
function noteUnread(received: Received, { messages }: EmvDesk): void {
  const { messageType: type = "", threeDSServerTransID: transactionId = "" } = received;
  messages.record({ direction: "received", type, transactionId, fields: { ...received } });
}

function versionOf(text: string | undefined): ProtocolVersion {
  return isProtocolVersion(text) ? text : newest;
}
