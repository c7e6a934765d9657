/**
 * The directory server of EMV 3-D Secure: publishes card ranges, passes AReqs to the ACS, and
 * answers a faulty message with an Erro.
 */
import { randomUUID } from "node:crypto";
import {
  type Emv3dsMessage,
  isProtocolVersion,
  MessageFault,
  makeErro,
  type ProtocolVersion,
  protocolVersions,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import { authenticate } from "../access-control-server/authentication.ts";
import { acsPaths, type ThreeDsContext } from "../threeds-context.ts";
import { findVersion, serialNumberOf, writeCardRanges, writeMoreRanges } from "./card-ranges.ts";

const newestVersion: ProtocolVersion = "2.3.1";

/** The answer's text, which may be empty; undefined when there is never an answer. */
export function answerEmv3ds(text: string, context: ThreeDsContext): string | undefined {
  const { messages } = context;
  const request = readMessage(text, { types: ["PReq", "AReq", "Erro"], allowHttp: true });
  if (request instanceof MessageFault) {
    const { messageType = "", threeDSServerTransID = "" } = request.received;
    messages.record("received", messageType, threeDSServerTransID, request.received);
    // An Erro is never answered with another.
    return messageType === "Erro" ? "" : answerFault(request, context);
  }
  const { messageType } = request;
  messages.record("received", messageType, transactionIdOf(request), request);
  if (messageType === "Erro") return "";
  if (messageType === "PReq") return answerPReq(request, context);
  return passToAcs(request, context);
}

function answerPReq(preq: Emv3dsMessage, context: ThreeDsContext): string {
  const pres = makePRes(preq, context);
  const text = write(pres, context, preq);
  const { moreCardRanges } = context.switches.current;
  if (moreCardRanges === 0 || !("cardRangeData" in pres)) return text;
  const methodUrl = context.acsUrl() + acsPaths.method;
  const more = writeMoreRanges(moreCardRanges, versionOf(pres.messageVersion), methodUrl);
  // The list is the last element. Not checked: that would stop the bank for seconds.
  return `${text.slice(0, -"]}".length)}${more}]}`;
}

function makePRes(preq: Emv3dsMessage, { acsUrl, switches }: ThreeDsContext): Emv3dsMessage {
  const { messageVersion } = preq;
  const version = versionOf(messageVersion);
  const methodUrl = acsUrl() + acsPaths.method;
  const serialNum = serialNumberOf(methodUrl, switches.current.moreCardRanges);
  const isCurrent = textOf(preq, "serialNum") === serialNum;
  const dsVersions = {
    dsStartProtocolVersion: protocolVersions[0],
    dsEndProtocolVersion: newestVersion,
  };
  return {
    messageType: "PRes",
    messageVersion,
    threeDSServerTransID: preq["threeDSServerTransID"],
    dsTransID: randomUUID(),
    serialNum,
    ...(version === "2.3.1" ? {} : dsVersions),
    // Absent when nothing has changed: the list may not be empty.
    ...(isCurrent ? {} : { cardRangeData: writeCardRanges(version, methodUrl) }),
  };
}

function passToAcs(areq: Emv3dsMessage, context: ThreeDsContext): string | undefined {
  const dsTransID = randomUUID();
  const directory = { dsReferenceNumber: "TOLLGATE-SANDBOX-DS", dsURL: context.directoryUrl() };
  const answer = findFault(areq) ?? authenticate({ ...areq, dsTransID, ...directory }, context);
  if (answer === undefined) return undefined;
  if (!(answer instanceof MessageFault)) return write(answer, context, areq);
  const { messageType, messageVersion } = areq;
  const threeDSServerTransID = transactionIdOf(areq);
  const received = { messageType, messageVersion, threeDSServerTransID, dsTransID };
  const { code, elements, detail } = answer;
  return answerFault(new MessageFault(code, elements, detail, received), context);
}

/** Faults that the codec does not know: the card's version, and a result URL without TLS. */
function findFault(areq: Emv3dsMessage): MessageFault | undefined {
  const version = findVersion(textOf(areq, "acctNumber") ?? "");
  if (version === undefined) return new MessageFault("305", ["acctNumber"]);
  if (version !== areq.messageVersion) return new MessageFault("102", [], version);
  const isSecure = textOf(areq, "threeDSServerURL")?.startsWith("https:") === true;
  return isSecure ? undefined : new MessageFault("203", ["threeDSServerURL"]);
}

function answerFault(fault: MessageFault, context: ThreeDsContext): string {
  const messageVersion = versionOf(fault.received.messageVersion);
  return write(makeErro(fault, "D", { messageVersion }), context);
}

function write(
  message: Emv3dsMessage,
  { messages }: ThreeDsContext,
  request?: Emv3dsMessage,
): string {
  const answered = request === undefined ? {} : { request };
  const text = writeMessage(message, { allowHttp: true, ...answered });
  messages.record("sent", message.messageType, transactionIdOf(message), message);
  return text;
}

function transactionIdOf(message: Emv3dsMessage): string {
  return textOf(message, "threeDSServerTransID") ?? "";
}

function versionOf(text: string | undefined): ProtocolVersion {
  return isProtocolVersion(text) ? text : newestVersion;
}
