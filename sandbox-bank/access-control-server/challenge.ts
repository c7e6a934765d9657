/**
 * The ACS of EMV 3-D Secure in the cardholder's browser: the 3DS Method, the challenge page and its
 * result, which is sent to the 3DS Server first and to the browser after. A challenge is decided
 * once, however often its page is opened or answered.
 */
import {
  decodeFormValue,
  decodeMethodData,
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { ChallengeRule } from "../scenarios.ts";
import { acsPaths, type Challenge, type ThreeDsContext } from "../threeds-context.ts";
import { writeAuthenticationMethod } from "./authentication.ts";
import {
  echo,
  makeChallengePage,
  makeErrorPage,
  makeForwardPage,
  makeNoResultPage,
  type Page,
  testCode,
  unknownPayment,
} from "./pages.ts";

type Form = URLSearchParams;

/** Returns the page of the hidden frame, which reports to its opener that the method has run. */
export function runMethod(form: Form, { messages }: ThreeDsContext): Page {
  const data = decodeMethodData(form.get("threeDSMethodData") ?? "", { allowHttp: true });
  if (data instanceof MessageFault || data.threeDSMethodNotificationURL === undefined) {
    return makeErrorPage(400, "This is not a request for the 3DS Method.");
  }
  const { threeDSServerTransID, threeDSMethodNotificationURL } = data;
  messages.record("received", "threeDSMethodData", threeDSServerTransID, data);
  return makeForwardPage("Looking at this browser", threeDSMethodNotificationURL, {
    threeDSMethodData: encodeFormValue({ threeDSServerTransID }),
  });
}

export function showChallenge(form: Form, { challenges, messages }: ThreeDsContext): Page {
  const text = decodeFormValue(form.get("creq") ?? "");
  const creq = text instanceof MessageFault ? text : readMessage(text, { types: ["CReq"] });
  if (creq instanceof MessageFault) {
    return makeErrorPage(400, "This is not a request for a challenge.");
  }
  const challenge = challenges.find(textOf(creq, "acsTransID") ?? "");
  const isSame = challenge?.threeDSServerTransID === textOf(creq, "threeDSServerTransID");
  if (challenge === undefined || !isSame) return unknownPayment;
  messages.record("received", "CReq", challenge.threeDSServerTransID, creq);
  return makeChallengePage({
    purchase: challenge.purchase,
    answerPath: acsPaths.challengeAnswer,
    hidden: { acsTransID: challenge.acsTransID, ...echo(form, "threeDSSessionData") },
    hasResult: challenge.rule !== "no-result",
  });
}

export async function answerChallenge(form: Form, context: ThreeDsContext): Promise<Page> {
  const challenge = context.challenges.find(form.get("acsTransID") ?? "");
  if (challenge === undefined) return unknownPayment;
  const result = decide(challenge.rule, form.get("action") ?? "", form.get("code") ?? "");
  if (result === undefined) return makeNoResultPage(challenge.purchase);
  challenge.cres ??= complete(challenge, result, context);
  const fields = { cres: await challenge.cres, ...echo(form, "threeDSSessionData") };
  return makeForwardPage("Back to the merchant", challenge.notificationUrl, fields);
}

type Result = {
  /** The status in the RReq, which counts. */
  readonly status: "Y" | "N";
  /** The status in the CRes, which only informs the browser. */
  readonly cresStatus: "Y" | "N";
  readonly isCancelled: boolean;
  /** If positive, the RReq is sent this long after the CRes instead of before it. */
  readonly rreqAfterMs: number;
};

const failed: Result = { status: "N", cresStatus: "N", isCancelled: false, rreqAfterMs: 0 };
const passed: Result = { ...failed, status: "Y", cresStatus: "Y" };

/** Decides the challenge. Returns undefined if the issuer never sends a result. */
function decide(rule: ChallengeRule, action: string, code: string): Result | undefined {
  if (rule === "no-result") return undefined;
  if (rule === "cancelled" || action === "cancel") return { ...failed, isCancelled: true };
  const byCode = action === "confirm" && code.trim() === testCode ? passed : failed;
  const results: Readonly<Record<typeof rule, Result>> = {
    "failed": failed,
    "by-code": byCode,
    "by-code-result-late": { ...byCode, rreqAfterMs: 3_000 },
    "result-differs": { ...failed, cresStatus: "Y" },
  };
  return results[rule];
}

/** Sends the RReq and returns the encoded CRes. */
async function complete(
  challenge: Challenge,
  result: Result,
  { messages, results }: ThreeDsContext,
): Promise<string> {
  const { version, threeDSServerTransID, acsTransID, dsTransID, messageCategory } = challenge;
  const { status, isCancelled, rreqAfterMs } = result;
  const ids = { messageVersion: version, threeDSServerTransID, acsTransID };
  const rreq: Emv3dsMessage = {
    messageType: "RReq",
    ...ids,
    dsTransID,
    messageCategory,
    transStatus: status,
    interactionCounter: "01",
    ...writeAuthenticationMethod(version),
    ...(status === "Y" ? challenge.proof : { transStatusReason: "01" }),
    ...(isCancelled ? { challengeCancel: "01" } : {}),
  };
  const delivered = results.deliver(rreq, challenge.threeDSServerUrl, rreqAfterMs);
  if (rreqAfterMs === 0) await delivered;

  const cres: Emv3dsMessage = { messageType: "CRes", ...ids, transStatus: result.cresStatus };
  messages.record("sent", "CRes", threeDSServerTransID, cres);
  return encodeFormValue(writeMessage(cres));
}
