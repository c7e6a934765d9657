/**
 * The ACS of 3-D Secure 1.0.2: the browser brings a PAReq and takes a signed PARes back. An account
 * is opened when the directory asks about a card, and holds no card number but its last digits.
 */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type PaReq,
  type PaResMessage,
  packPa,
  readPaReq,
  signPaRes,
  ThreeDsFault,
  unpackPa,
} from "@tollgate/protocols/threeds102";
import type { BankClock } from "../bank-clock.ts";
import type { PaResIdentity } from "../certificates/identities.ts";
import { isInRange102 } from "../directory-server/card-ranges.ts";
import type { AuthenticationValues } from "../issuer/authentication-values.ts";
import { maskCard } from "../issuer/mask-card.ts";
import { eciFor } from "../issuer/networks.ts";
import { showAmount } from "../money.ts";
import { findScenario, type Secure102Rule } from "../scenarios.ts";
import type { ThreeDsMessages } from "../threeds-messages.ts";
import { testCode } from "./challenge-end.ts";
import { makeChallengePage, type Purchase } from "./pages/challenge-page.ts";
import type { Page } from "./pages/page.ts";
import { makeForwardPage, makeRefusalPage } from "./pages/passing-pages.ts";
import type { Transactions } from "./transactions.ts";

export type Account = {
  readonly rule: Exclude<Secure102Rule, { kind: "not-enrolled" }>;
  readonly maskedCard: string;
  /** Zeros and the last four digits, as a PARes has it. */
  readonly zeroedCard: string;
  readonly proofs: Readonly<Record<"Y" | "A", { readonly eci: string; readonly cavv: string }>>;
  /** The PARes as the browser carries it, of the purchase that was last decided. */
  decided: { readonly xid: string; readonly packed: string } | undefined;
};

export type PaReqDesk = {
  readonly accounts: Transactions<Account>;
  readonly authenticationValues: AuthenticationValues;
  readonly clock: BankClock;
  readonly identity: PaResIdentity;
  readonly messages: ThreeDsMessages;
};

type Form = URLSearchParams;
type Status = PaResMessage["tx"]["status"];

const answerPath = "/acs/pareq/answer";
const hmac = "0";

/** The account's id, or nothing when the card is not enrolled. */
export function enrol(pan: string, desk: PaReqDesk): string | undefined {
  if (!isInRange102(pan)) return undefined;
  const rule = findScenario(pan)?.secure102 ?? { kind: "enrolled", status: "Y" };
  if (rule.kind === "not-enrolled") return undefined;
  const acctId = randomBytes(20).toString("base64");
  const prove = (status: "Y" | "A") => ({
    eci: eciFor(pan, status),
    cavv: desk.authenticationValues.make(pan),
  });
  desk.accounts.add(acctId, {
    rule,
    maskedCard: maskCard(pan),
    zeroedCard: pan.slice(-4).padStart(pan.length, "0"),
    proofs: { Y: prove("Y"), A: prove("A") },
    decided: undefined,
  });
  return acctId;
}

type Opened = {
  readonly paReq: PaReq;
  readonly account: Account;
  readonly termUrl: string;
  readonly brought: Readonly<Record<string, string>>;
};

export function showPaReq(form: Form, desk: PaReqDesk): Page {
  const opened = open(form, desk);
  if (isRefusal(opened)) return opened;
  const { paReq, account, brought } = opened;
  const { xid: transactionId } = paReq.purchase;
  const fields = { ...paReq };
  desk.messages.record({ direction: "received", type: "PAReq", transactionId, fields });
  return makeChallengePage({
    purchase: describePurchase(paReq, account),
    answerPath,
    hidden: brought,
    staysSilent: false,
  });
}

export function answerPaReq(form: Form, desk: PaReqDesk): Page {
  const opened = open(form, desk);
  if (isRefusal(opened)) return opened;
  const { paReq, account, termUrl } = opened;
  const { xid } = paReq.purchase;
  if (account.decided?.xid !== xid) {
    account.decided = { xid, packed: decide(paReq, account, form, desk) };
  }
  const fields = { PaRes: account.decided.packed, ...merchantsOwn(form) };
  return makeForwardPage("Back to the merchant", termUrl, fields);
}

function open(form: Form, { accounts }: PaReqDesk): Opened | Page {
  const [packed = "", termUrl = ""] = ["PaReq", "TermUrl"].map((name) => form.get(name) ?? "");
  const text = unpackPa(packed);
  const paReq = text instanceof ThreeDsFault ? text : readPaReq(text);
  if (paReq instanceof ThreeDsFault) return makeRefusalPage(400, "This is no PAReq.");
  if (!isWebAddress(termUrl)) {
    return makeRefusalPage(400, "The TermUrl is no address that a browser could go back to.");
  }
  const account = accounts.find(paReq.ch.acctId);
  if (account === undefined) {
    return makeRefusalPage(404, "The bank knows of no such payment, or it was too long ago.");
  }
  const brought = { PaReq: packed, TermUrl: termUrl, ...merchantsOwn(form) };
  return { paReq, account, termUrl, brought };
}

/** Comes back as it came, and only if it came. */
function merchantsOwn(form: Form): Readonly<Record<string, string>> {
  const text = form.get("MD");
  return text === null ? {} : { MD: text };
}

function isRefusal(opened: Opened | Page): opened is Page {
  return "body" in opened;
}

function isWebAddress(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return protocol === "http:" || protocol === "https:";
}

function describePurchase({ merchant, purchase }: PaReq, { maskedCard }: Account): Purchase {
  const { purchAmount, exponent, currency } = purchase;
  const amount = showAmount(purchAmount, exponent, currency);
  return { merchant: merchant.name, amount, card: maskedCard };
}

function decide(paReq: PaReq, account: Account, form: Form, desk: PaReqDesk): string {
  const { identity, messages } = desk;
  const paRes = makePaRes(paReq, account, statusOf(account, form), desk);
  const { key: privateKey, certificates } = identity;
  // As live ACSs signed to their last day.
  const signed = signPaRes(paRes, { privateKey, certificates, digest: "sha1" });
  const { xid: transactionId } = paReq.purchase;
  messages.record({ direction: "sent", type: "PARes", transactionId, fields: { ...paRes } });
  return packPa(account.rule.kind === "enrolled-badly-signed" ? breakSignature(signed) : signed);
}

/** A wrong code, failing and cancelling only spoil what would have succeeded. */
function statusOf({ rule }: Account, form: Form): Status {
  const code = form.get("code")?.trim() ?? "";
  const isConfirmed = form.get("action") === "confirm" && ["", testCode].includes(code);
  return rule.status === "Y" && !isConfirmed ? "N" : rule.status;
}

function makePaRes(
  paReq: PaReq,
  account: Account,
  status: Status,
  { clock }: PaReqDesk,
): PaResMessage {
  const { acqBin, merId } = paReq.merchant;
  const { xid, date, purchAmount, currency, exponent } = paReq.purchase;
  const isProved = status === "Y" || status === "A";
  const proof = isProved ? { ...account.proofs[status], cavvAlgorithm: hmac } : {};
  return {
    messageId: paReq.messageId,
    id: `PARes-${randomUUID()}`,
    merchant: { acqBin, merId },
    purchase: { xid, date, purchAmount, currency, exponent },
    pan: account.zeroedCard,
    tx: { time: stamp(clock.now().iso), status, ...proof },
  };
}

/** `YYYYMMDD HH:MM:SS`. */
function stamp(iso: string): string {
  return `${iso.slice(0, 10).replaceAll("-", "")} ${iso.slice(11, 19)}`;
}

function breakSignature(signed: string): string {
  return signed.replace(/(<SignatureValue>)(.)/, (_, tag: string, first: string) => {
    return tag + (first === "A" ? "B" : "A");
  });
}
