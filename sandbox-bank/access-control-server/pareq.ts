/** The ACS of 3-D Secure 1.0.2: the browser posts a PAReq and takes a signed PARes back. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type PaReq,
  type PaResMessage,
  packPa,
  readXml,
  signPaRes,
  ThreeDsFault,
  unpackPa,
} from "@tollgate/protocols/threeds102";
import { isWithin, ranges102 } from "../directory-server/card-ranges.ts";
import { eciFor, maskCard, type ProvedStatus } from "../issuer.ts";
import { showAmount } from "../money.ts";
import { scenariosByCard } from "../scenarios.ts";
import { type Account, acsPaths, type ThreeDsContext } from "../threeds-context.ts";
import {
  echo,
  makeChallengePage,
  makeErrorPage,
  makeForwardPage,
  type Page,
  testCode,
  unknownPayment,
} from "./pages.ts";

type Form = URLSearchParams;

/** Returns the account id, or undefined if the card is not enrolled. */
export function enrol(pan: string, context: ThreeDsContext): string | undefined {
  if (!ranges102.some((range) => isWithin(pan, range))) return undefined;
  const rule = scenariosByCard.get(pan)?.threeds102 ?? { kind: "enrolled", status: "Y" };
  if (rule.kind === "not-enrolled") return undefined;
  const acctId = randomBytes(20).toString("base64");
  const prove = (status: ProvedStatus) => ({
    eci: eciFor(pan, status),
    cavv: context.authenticationValues.make(pan, "threeds102"),
  });
  context.accounts.add(acctId, {
    rule,
    maskedCard: maskCard(pan),
    zeroedCard: pan.slice(-4).padStart(pan.length, "0"),
    proofs: { Y: prove("Y"), A: prove("A") },
    decided: undefined,
  });
  return acctId;
}

export function showPaReq(form: Form, context: ThreeDsContext): Page {
  const request = readRequest(form, context);
  if ("body" in request) return request;
  const { paReq, account, hidden } = request;
  const { purchAmount, exponent, currency, xid } = paReq.purchase;
  context.messages.record("received", "PAReq", xid, paReq);
  const amount = showAmount(purchAmount, exponent, currency);
  return makeChallengePage({
    purchase: { merchant: paReq.merchant.name, amount, card: account.maskedCard },
    answerPath: acsPaths.paReqAnswer,
    hidden,
    hasResult: true,
  });
}

/** Answers a PAReq. A purchase is decided once, however often its page is answered. */
export function answerPaReq(form: Form, context: ThreeDsContext): Page {
  const request = readRequest(form, context);
  if ("body" in request) return request;
  const { paReq, account, termUrl } = request;
  const { xid } = paReq.purchase;
  if (account.decided?.xid !== xid) {
    account.decided = { xid, paRes: makePaRes(paReq, account, form, context) };
  }
  const fields = { PaRes: account.decided.paRes, ...echo(form, "MD") };
  return makeForwardPage("Back to the merchant", termUrl, fields);
}

function readRequest(form: Form, { accounts }: ThreeDsContext) {
  const [packed = "", termUrl = ""] = ["PaReq", "TermUrl"].map((name) => form.get(name) ?? "");
  const text = unpackPa(packed);
  const paReq = text instanceof ThreeDsFault ? text : readXml("PAReq", text);
  if (paReq instanceof ThreeDsFault) return makeErrorPage(400, "This is not a PAReq.");
  if (!["http:", "https:"].includes(URL.parse(termUrl)?.protocol ?? "")) {
    return makeErrorPage(400, "The TermUrl is not a web address.");
  }
  const account = accounts.find(paReq.ch.acctId);
  if (account === undefined) return unknownPayment;
  const hidden = { PaReq: packed, TermUrl: termUrl, ...echo(form, "MD") };
  return { paReq, account, termUrl, hidden };
}

/** Returns the signed and encoded PARes. */
function makePaRes(paReq: PaReq, account: Account, form: Form, context: ThreeDsContext): string {
  const { acqBin, merId } = paReq.merchant;
  const { xid, date, purchAmount, currency, exponent } = paReq.purchase;
  const status = decideStatus(account, form);
  const isProved = status === "Y" || status === "A";
  // Algorithm 0 is HMAC.
  const proof = isProved ? { ...account.proofs[status], cavvAlgorithm: "0" } : {};
  const { iso } = context.clock.now();
  const time = `${iso.slice(0, 10).replaceAll("-", "")} ${iso.slice(11, 19)}`;
  const paRes: PaResMessage = {
    messageId: paReq.messageId,
    id: `PARes-${randomUUID()}`,
    merchant: { acqBin, merId },
    purchase: { xid, date, purchAmount, currency, exponent },
    pan: account.zeroedCard,
    tx: { time, status, ...proof },
  };
  const { key: privateKey, certificates } = context.paResIdentity;
  // The digest is SHA-1, with which live ACSs signed until 1.0.2 was retired.
  const shape = context.switches.nextPaResShape();
  const signed = signPaRes(paRes, { privateKey, certificates, digest: "sha1", shape });
  context.messages.record("sent", "PARes", xid, paRes);
  return packPa(account.rule.kind === "enrolled-badly-signed" ? breakSignature(signed) : signed);
}

/**
 * Decides the status. A wrong code, failing and cancelling only change a result that would have
 * been a success.
 */
function decideStatus({ rule }: Account, form: Form) {
  const code = form.get("code")?.trim() ?? "";
  const isConfirmed = form.get("action") === "confirm" && ["", testCode].includes(code);
  return rule.status === "Y" && !isConfirmed ? "N" : rule.status;
}

function breakSignature(signed: string): string {
  return signed.replace(/(SignatureValue>)(.)/, (_, tag: string, first: string) => {
    return tag + (first === "A" ? "B" : "A");
  });
}
