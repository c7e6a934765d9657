/** The directory server of 3-D Secure 1.0.2: its card range, and whether a card is enrolled. */
import { randomUUID } from "node:crypto";
import {
  type CrReq,
  type CrRes,
  errorCodeFor,
  findMessageKind,
  readCrReq,
  readVeReq,
  ThreeDsFault,
  type VeReq,
  type VeRes,
  writeCrRes,
  writeError,
  writeVeRes,
} from "@tollgate/protocols/threeds102";
import type { ThreeDsMessages } from "../threeds-messages.ts";
import { range102 } from "./card-ranges.ts";
import type { Answer } from "./emv3ds-desk.ts";

export type Desk102 = {
  readonly messages: ThreeDsMessages;
  /** The ACS: the account it opens for this card, if the card is enrolled. */
  readonly enrol: (pan: string) => string | undefined;
  readonly acsUrl: () => string;
};

/** There is one range, and it never changes. */
const serialNumber = "1";

export function answer102(text: string, desk: Desk102): Answer {
  const kind = findMessageKind(text);
  if (kind instanceof ThreeDsFault) return refuse(kind, desk);
  switch (kind) {
    case "CRReq": {
      const request = readCrReq(text);
      if (request instanceof ThreeDsFault) return refuse(request, desk);
      const answer = listRanges(request);
      note(desk, ["received", "CRReq", request], ["sent", "CRRes", answer]);
      return { text: writeCrRes(answer) };
    }
    case "VEReq": {
      const request = readVeReq(text);
      if (request instanceof ThreeDsFault) return refuse(request, desk);
      const answer = verifyEnrolment(request, desk);
      note(desk, ["received", "VEReq", request], ["sent", "VERes", answer]);
      return { text: writeVeRes(answer) };
    }
    case "Error":
      return "nothing";
    default:
      return refuse(new ThreeDsFault("other_message"), desk);
  }
}

function listRanges({ messageId, serialNumber: held }: CrReq): CrRes {
  const { start: begin, end } = range102;
  const cardRanges = held === serialNumber ? [] : [{ begin, end, action: "A" } as const];
  return { messageId, cardRanges, serialNumber };
}

function verifyEnrolment({ messageId, pan }: VeReq, { enrol, acsUrl }: Desk102): VeRes {
  const acctId = enrol(pan);
  if (acctId === undefined) return { messageId, ch: { enrolled: "N" }, protocols: [] };
  const ch = { enrolled: "Y", acctId } as const;
  return { messageId, ch, url: acsUrl(), protocols: ["ThreeDSecure"] };
}

function refuse(fault: ThreeDsFault, desk: Desk102): Answer {
  const error = {
    messageId: randomUUID(),
    errorCode: errorCodeFor(fault),
    errorMessage: `The directory server cannot take this message: ${fault.reason}.`,
    errorDetail: fault.element ?? fault.reason,
  };
  note(desk, ["sent", "Error", error]);
  return { text: writeError(error) };
}

type Note = readonly [
  direction: "received" | "sent",
  type: string,
  message: { readonly messageId: string },
];

function note({ messages }: Desk102, ...notes: readonly Note[]): void {
  for (const [direction, type, message] of notes) {
    messages.record({ direction, type, transactionId: message.messageId, fields: { ...message } });
  }
}
