/**
 * The directory server of both protocols: HTTPS for clients with a certificate of the directory's
 * authority. While it is switched off, it still accepts connections and requests without answering,
 * as a failing server does. It answers a faulty message with an error message of the same protocol.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
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
import {
  type CrReq,
  type CrRes,
  errorCodeFor,
  findMessageKind,
  readXml,
  ThreeDsFault,
  type VeReq,
  type VeRes,
  writeXml,
} from "@tollgate/protocols/threeds102";
import { authenticate } from "../access-control-server/authentication.ts";
import { enrol } from "../access-control-server/pareq.ts";
import type { Identities } from "../certificates/chains.ts";
import { type Address, Listener, makeRequestListener, readBody } from "../http.ts";
import { acsPaths, type ThreeDsContext } from "../threeds-context.ts";
import {
  findVersion,
  ranges102,
  serialNumberOf,
  writeCardRanges,
  writeMoreRanges,
} from "./card-ranges.ts";

const bodyBytesMax = 1_048_576;

const xmlTypes = ["application/xml", "text/xml"];

const endpoints = new Map([
  [
    "/emv3ds",
    {
      accepts: ["application/json"],
      answers: "application/json; charset=utf-8",
      answer: answerEmv3ds,
    },
  ],
  [
    "/threeds102",
    { accepts: xmlTypes, answers: "application/xml; charset=utf-8", answer: answer102 },
  ],
]);

export function makeDirectoryServer(
  identity: Identities["directory"],
  address: Address,
  context: ThreeDsContext,
) {
  const unanswered = new Set<ServerResponse>();

  function leaveUnanswered(response: ServerResponse): void {
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const refuse = (status: number, headers = {}) => response.writeHead(status, headers).end();
    const text = await readBody(request, bodyBytesMax);
    if (context.switches.current.directoryDown) return leaveUnanswered(response);
    const url = URL.parse(request.url ?? "", "https://directory");
    const endpoint = endpoints.get(url?.pathname ?? "");
    if (endpoint === undefined) return refuse(404);
    if (request.method !== "POST") return refuse(405, { allow: "POST" });
    const mediaType = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (!endpoint.accepts.includes(mediaType ?? "")) return refuse(415);
    if (text === undefined) return refuse(413);
    const answer = endpoint.answer(text, context);
    if (answer === undefined) return leaveUnanswered(response);
    return response.writeHead(200, { "content-type": endpoint.answers }).end(answer);
  }

  const clientCertificate = { requestCert: true, rejectUnauthorized: true };
  const tls = { ...identity, ...clientCertificate, minVersion: "TLSv1.2" } as const;
  return {
    listener: new Listener(createServer(tls, makeRequestListener(handle, context.log)), address),
    /** Closes the connections of all requests that were left without an answer. */
    dropUnanswered(): void {
      for (const response of unanswered) response.destroy();
      unanswered.clear();
    },
  };
}

const newestVersion: ProtocolVersion = "2.3.1";

/**
 * Answers a message of EMV 3-D Secure: publishes card ranges, and passes AReqs to the ACS. Returns
 * the text of the answer, which may be empty, or undefined if there is never an answer.
 */
function answerEmv3ds(text: string, context: ThreeDsContext): string | undefined {
  const { messages } = context;
  const request = readMessage(text, { types: ["PReq", "AReq", "Erro"], allowHttp: true });
  if (request instanceof MessageFault) {
    const { messageType = "", threeDSServerTransID = "" } = request.received;
    messages.record("received", messageType, threeDSServerTransID, request.received);
    // An Erro is never answered with another one.
    return messageType === "Erro" ? "" : answerFaultEmv3ds(request, context);
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
  // The list is the last element. The result is not checked, because that would stop the sandbox
  // bank for seconds.
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
    // The list is absent if nothing has changed, because it may not be empty.
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
  return answerFaultEmv3ds(new MessageFault(code, elements, detail, received), context);
}

/** Finds faults that the codec does not know: the card's version, and a result URL without TLS. */
function findFault(areq: Emv3dsMessage): MessageFault | undefined {
  const version = findVersion(textOf(areq, "acctNumber") ?? "");
  if (version === undefined) return new MessageFault("305", ["acctNumber"]);
  if (version !== areq.messageVersion) return new MessageFault("102", [], version);
  const isSecure = textOf(areq, "threeDSServerURL")?.startsWith("https:") === true;
  return isSecure ? undefined : new MessageFault("203", ["threeDSServerURL"]);
}

function answerFaultEmv3ds(fault: MessageFault, context: ThreeDsContext): string {
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

/** The serial number of the ranges, which never change. */
const serialNumber = "2";

/** Answers a message of 3-D Secure 1.0.2: its card ranges, and whether a card is enrolled. */
function answer102(text: string, context: ThreeDsContext): string {
  const { messages } = context;
  const kind = findMessageKind(text);
  if (kind instanceof ThreeDsFault) return answerFault102(kind, context);
  if (kind === "Error") return "";
  const isKnown = kind === "CRReq" || kind === "VEReq";
  const request = isKnown ? readXml(kind, text) : new ThreeDsFault("other_message");
  if (request instanceof ThreeDsFault) return answerFault102(request, context);
  messages.record("received", kind, request.messageId, request);
  if ("pan" in request) {
    const answer = verifyEnrolment(request, context);
    messages.record("sent", "VERes", answer.messageId, answer);
    return writeXml("VERes", answer);
  }
  const answer = listRanges(request);
  messages.record("sent", "CRRes", answer.messageId, answer);
  return writeXml("CRRes", answer);
}

function listRanges({ messageId, serialNumber: known }: CrReq): CrRes {
  const all = ranges102.map(({ start: begin, end }) => ({ begin, end, action: "A" }) as const);
  const cardRanges = known === serialNumber ? [] : all;
  return { messageId, cardRanges, serialNumber };
}

function verifyEnrolment({ messageId, pan }: VeReq, context: ThreeDsContext): VeRes {
  const acctId = enrol(pan, context);
  if (acctId === undefined) return { messageId, ch: { enrolled: "N" }, protocols: [] };
  const url = context.acsUrl() + acsPaths.paReq;
  return { messageId, ch: { enrolled: "Y", acctId }, url, protocols: ["ThreeDSecure"] };
}

function answerFault102(fault: ThreeDsFault, { messages }: ThreeDsContext): string {
  const error = {
    messageId: randomUUID(),
    errorCode: errorCodeFor(fault),
    errorMessage: `The directory server cannot take this message: ${fault.reason}.`,
    errorDetail: fault.element ?? fault.reason,
  };
  messages.record("sent", "Error", error.messageId, error);
  return writeXml("Error", error);
}
