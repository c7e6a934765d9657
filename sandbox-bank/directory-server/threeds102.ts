/** The directory server of 3-D Secure 1.0.2: its card range, and whether a card is enrolled. */
import { randomUUID } from "node:crypto";
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
import { enrol } from "../access-control-server/pareq.ts";
import { acsPaths, type ThreeDsContext } from "../threeds-context.ts";
import { ranges102 } from "./card-ranges.ts";

/** Of the one range, which never changes. */
const serialNumber = "2";

export function answer102(text: string, context: ThreeDsContext): string {
  const { messages } = context;
  const kind = findMessageKind(text);
  if (kind instanceof ThreeDsFault) return answerFault(kind, context);
  if (kind === "Error") return "";
  const isKnown = kind === "CRReq" || kind === "VEReq";
  const request = isKnown ? readXml(kind, text) : new ThreeDsFault("other_message");
  if (request instanceof ThreeDsFault) return answerFault(request, context);
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

function answerFault(fault: ThreeDsFault, { messages }: ThreeDsContext): string {
  const error = {
    messageId: randomUUID(),
    errorCode: errorCodeFor(fault),
    errorMessage: `The directory server cannot take this message: ${fault.reason}.`,
    errorDetail: fault.element ?? fault.reason,
  };
  messages.record("sent", "Error", error.messageId, error);
  return writeXml("Error", error);
}
