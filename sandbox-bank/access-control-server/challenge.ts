/**
 * The challenge of 2.x in the browser: the page, and what its answer sets going. The result goes
 * to the 3DS Server first and to the browser after; a challenge is decided once, however often
 * its page is opened or answered.
 */
import {
  decodeFormValue,
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { ThreeDsMessages } from "../threeds-messages.ts";
import { type Challenge, writeMethod } from "./authentication.ts";
import { type Ending, endChallenge, type Pressed } from "./challenge-end.ts";
import { makeChallengePage, makeSilentPage } from "./pages/challenge-page.ts";
import type { Page } from "./pages/page.ts";
import { makeForwardPage, makeRefusalPage } from "./pages/passing-pages.ts";
import type { Transactions } from "./transactions.ts";

export type ChallengeDesk = {
  readonly challenges: Transactions<Challenge>;
  readonly messages: ThreeDsMessages;
  /** Done when the 3DS Server has answered, or will not. */
  readonly deliverResult: (rreq: Emv3dsMessage, url: string) => Promise<void>;
  /** Forgotten when the bank stops. */
  readonly later: (afterMs: number, act: () => void) => void;
};

type Form = URLSearchParams;

const answerPath = "/acs/challenge/answer";
const authenticationFailed = "01";
const cardholderCancelled = "01";

export function showChallenge(form: Form, desk: ChallengeDesk): Page {
  const creq = readCReq(form.get("creq") ?? "");
  if (creq === undefined) return makeRefusalPage(400, "This is no request for a challenge.");
  const challenge = desk.challenges.find(textOf(creq, "acsTransID") ?? "");
  const isSame = challenge?.threeDSServerTransID === textOf(creq, "threeDSServerTransID");
  if (challenge === undefined || !isSame) return unknown;
  const { messageType: type } = creq;
  const transactionId = challenge.threeDSServerTransID;
  desk.messages.record({ direction: "received", type, transactionId, fields: creq });
  return makeChallengePage({
    purchase: challenge.purchase,
    answerPath,
    hidden: { acsTransID: challenge.acsTransID, ...sessionOf(form) },
    staysSilent: challenge.end === "silence",
  });
}

export async function answerChallenge(form: Form, desk: ChallengeDesk): Promise<Page> {
  const challenge = desk.challenges.find(form.get("acsTransID") ?? "");
  if (challenge === undefined) return unknown;
  const pressed: Pressed = { action: form.get("action") ?? "", code: form.get("code") ?? "" };
  const ending = endChallenge(challenge.end, pressed);
  if (ending === undefined) return makeSilentPage(challenge.purchase);
  challenge.result ??= decide(challenge, ending, desk);
  const cres = await challenge.result;
  const fields = { cres, ...sessionOf(form) };
  return makeForwardPage("Back to the merchant", challenge.notificationUrl, fields);
}

const unknown = makeRefusalPage(404, "The bank knows of no such payment, or it was too long ago.");

/** Both spellings of base64, and whatever else the codec forgives. */
function readCReq(packed: string): Emv3dsMessage | undefined {
  const text = decodeFormValue(packed);
  if (text instanceof MessageFault) return undefined;
  const creq = readMessage(text, { types: ["CReq"] });
  return creq instanceof MessageFault ? undefined : creq;
}

/** Comes back as it came, and only if it came. */
function sessionOf(form: Form): Readonly<Record<string, string>> {
  const threeDSSessionData = form.get("threeDSSessionData");
  return threeDSSessionData === null ? {} : { threeDSSessionData };
}

async function decide(challenge: Challenge, ending: Ending, desk: ChallengeDesk): Promise<string> {
  const rreq = makeRReq(challenge, ending);
  const deliver = () => desk.deliverResult(rreq, challenge.threeDSServerUrl);
  if (ending.resultAfterMs > 0) desk.later(ending.resultAfterMs, deliver);
  else await deliver();

  const cres = makeCRes(challenge, ending);
  const transactionId = challenge.threeDSServerTransID;
  desk.messages.record({ direction: "sent", type: "CRes", transactionId, fields: cres });
  return encodeFormValue(writeMessage(cres));
}

function makeRReq(challenge: Challenge, { status, isCancelled }: Ending): Emv3dsMessage {
  return {
    messageType: "RReq",
    messageVersion: challenge.version,
    threeDSServerTransID: challenge.threeDSServerTransID,
    dsTransID: challenge.dsTransID,
    acsTransID: challenge.acsTransID,
    messageCategory: challenge.messageCategory,
    transStatus: status,
    interactionCounter: "01",
    ...writeMethod(challenge.version),
    ...(status === "Y" ? challenge.proof : { transStatusReason: authenticationFailed }),
    ...(isCancelled ? { challengeCancel: cardholderCancelled } : {}),
  };
}

function makeCRes(challenge: Challenge, { told }: Ending): Emv3dsMessage {
  return {
    messageType: "CRes",
    messageVersion: challenge.version,
    threeDSServerTransID: challenge.threeDSServerTransID,
    acsTransID: challenge.acsTransID,
    transStatus: told,
  };
}
