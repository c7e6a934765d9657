/**
 * Handles a request by its message type: network messages, charges, and the captures, reversals
 * and inquiries that follow a charge and name it by its reference (field 37).
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { LedgerEntry } from "../ledger.ts";
import { formatAmount, isOtherCurrency, numberCurrency, parseAmount } from "../money.ts";
import { type LaterRule, scenariosByName } from "../scenarios.ts";
import {
  type Exchange,
  type HostContext,
  isRefusedBy,
  makeAnswer,
  makeApproval,
  send,
  toldToFollowUp,
} from "./answers.ts";
import { answerKeyRequest, receiveDeliveryAnswer } from "./authentication.ts";
import { answerCharge, answerPayout, answerRefund, isPayout, isRefund } from "./charges.ts";
import type { ChangedMessage } from "./dialects.ts";
import { answerTotals } from "./totals.ts";

/** Handles a request. Returns undefined if the host does not answer. */
type Handler = (exchange: Exchange) => IsoMessage | undefined;

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["0800", answerNetwork],
  ["0200", answerPayment],
  ["0201", answerPayment],
  ["0100", answerCharge],
  ["0220", answerCapture],
  ["0221", answerCapture],
  ["0400", answerReversal],
  ["0401", answerReversal],
  ["0420", answerReversal],
  ["0421", answerReversal],
  ["0500", answerTotals],
  ["0600", answerInquiry],
]);

export function answerRequest(exchange: Exchange): void {
  const { request, connection } = exchange;
  const handler = handlers.get(request.mti);
  const { answersInquiries, answersTotals } = connection.dialect;
  const isUnsupported =
    (handler === answerInquiry && !answersInquiries) ||
    (handler === answerTotals && !answersTotals);
  if (request.mti === "0810") {
    receiveDeliveryAnswer(exchange);
  } else if (handler === undefined || isUnsupported) {
    connection.close("the gateway sent a message type that is not a request here");
  } else if (handler === answerNetwork) {
    connection.answer(answerNetwork(exchange));
  } else if (connection.signedOn) {
    const answer = handler(exchange);
    if (answer !== undefined) send(exchange, answer);
  } else connection.close("the gateway is not signed on");
}

/** Answers sign-on, sign-off and echo, by field 70. */
function answerNetwork(exchange: Exchange): IsoMessage {
  const { request, connection, host } = exchange;
  const { 70: code = "" } = request.fields;
  if (code === "001") {
    connection.signedOn = !host.switches.current.refuseSignOn;
    return makeAnswer(exchange, connection.signedOn ? "00" : "91");
  }
  if (code === connection.dialect.keys.ask) return answerKeyRequest(exchange);
  if (code === "002") connection.signedOn = false;
  return makeAnswer(exchange, code === "002" || code === "301" ? "00" : "12");
}

/** Answers a payment from the card, or to it. */
function answerPayment(exchange: Exchange): IsoMessage | undefined {
  const { request } = exchange;
  if (isPayout(request)) return answerPayout(exchange);
  const isCredit = isRefund(request) || request.mti === "0201";
  return isCredit ? answerRefund(exchange) : answerCharge(exchange);
}

function answerCapture(exchange: Exchange): IsoMessage | undefined {
  const told = toldToFollowUp(exchange);
  if (isRefusedBy(told)) return makeAnswer(exchange, told);
  const done = capture(exchange);
  const code = told ?? done;
  const isLost = code === "00" && exchange.host.switches.isAnswerLost();
  return isLost ? undefined : makeAnswer(exchange, code);
}

/**
 * Books a capture and returns the response code. A repeat (0221) of a booked capture is accepted
 * and not booked again; a 0220 is always a new capture.
 */
function capture({ request, connection, host }: Exchange): string {
  const { 11: trace, 37: reference } = request.fields;
  const amount = parseAmount(request.fields[4]);
  if (amount === undefined || !trace || !reference) return "30";
  const balance = host.ledger.findBalance(reference);
  if (balance === undefined) return "25";
  const { kind, captures, charged, currency, outstanding } = balance;
  if (kind !== "authorisation" || isOtherCurrency(request.fields[49], currency)) return "12";
  const later = findLaterRule(reference, host);
  if (later?.kind === "refuse-captures") return later.code;

  if (request.mti === "0221" && captures.includes(amount)) return "00";
  const limit = captures.length === 0 ? outstanding : charged;
  if (amount === 0n || amount > limit) return "13";
  const { gate } = connection.dialect;
  host.ledger.book({ reference, kind: "capture", amount, currency, gate, trace });
  return "00";
}

/**
 * Answers a reversal. Requests (0400, 0401) may be refused. Advices (0420, 0421) settle doubt, so
 * their answers are never lost at random.
 */
function answerReversal(exchange: Exchange): IsoMessage | undefined {
  const { request, connection, host } = exchange;
  const reference = request.fields[37];
  if (!reference || !request.fields[11]) return makeAnswer(exchange, "30");
  const { approveLate } = host.switches.current;
  if (!approveLate) host.delayedApprovals.release(reference, connection);
  const later = findLaterRule(reference, host);
  const { reversalCode } = host.switches.current;
  const told = isRefusable(request) ? toldToFollowUp(exchange) : reversalCode;
  const isDone = isRefusable(request) ? !isRefusedBy(told) : (told ?? "00") === "00";
  if (told !== null && !isDone) return makeAnswer(exchange, told);
  const reversed = reverse(exchange, reference, later);
  const code = told ?? reversed;
  if (later?.kind === "leave-reversals-unanswered") {
    const before = host.unansweredReversals.get(reference) ?? 0;
    host.unansweredReversals.set(reference, before + 1);
    if (before < later.first) return undefined;
  }
  const isLost = code === "00" && isRefusable(request) && host.switches.isAnswerLost();
  return isLost ? undefined : makeAnswer(exchange, code);
}

/**
 * Books a reversal and returns the response code. Field 95 states the amount that remains charged,
 * so a repeat has nothing left to reverse: it is accepted and not booked again.
 */
function reverse(
  { request, connection, host }: Exchange,
  reference: string,
  later: LaterRule | undefined,
): string {
  const { ledger } = host;
  const balance = ledger.findBalance(reference);
  if (balance === undefined) return "25";
  const { currency, outstanding } = balance;
  if (isOtherCurrency(request.fields[49], currency)) return "12";
  const fault = request.changed && findFault(request.changed, ledger.entries(reference));
  if (fault !== undefined) return fault;
  if (later?.kind === "refuse-returns" && isRefusable(request)) return later.code;

  const remaining = parseAmount(request.fields[95]?.slice(0, 12) ?? "0");
  if (remaining === undefined) return "30";
  const amount = outstanding - remaining;
  if (amount > 0n) {
    if (isRefusable(request) && isCleared(reference, host)) return "12";
    const { gate } = connection.dialect;
    const { 11: trace = "" } = request.fields;
    ledger.book({ reference, kind: "reversal", amount, currency, gate, trace });
    return "00";
  }
  const isRepeat = ledger.entries(reference).some(({ kind }) => kind === "reversal");
  return isRepeat ? "00" : "13";
}

const typesByKind: ReadonlyMap<LedgerEntry["kind"], string> = new Map([
  ["sale", "0200"],
  ["authorisation", "0100"],
  ["capture", "0220"],
]);

/**
 * Finds the fault of a return. A return changes the capture, or a charge without one, and must
 * state the amount of that same message. The ledger has no trace numbers of charges.
 */
function findFault(
  { mti, trace, amount }: ChangedMessage,
  entries: readonly LedgerEntry[],
): string | undefined {
  const entry = entries.findLast(({ kind }) => typesByKind.has(kind));
  if (entry === undefined || mti !== typesByKind.get(entry.kind)) return "25";
  if (entry.trace !== undefined && entry.trace !== trace) return "25";
  return amount === undefined || amount === entry.amount ? undefined : "13";
}

/**
 * Returns whether the charge is in a settlement file already, so that only a refund can return it.
 */
function isCleared(reference: string, { ledger, clock, switches }: HostContext): boolean {
  const { clearedAfterS } = switches.current;
  const moved = ledger.entries(reference).findLast(({ kind }) => {
    return kind === "sale" || kind === "capture";
  });
  if (clearedAfterS === null || moved === undefined) return false;
  return clock.now().ms - Date.parse(moved.at) >= clearedAfterS * 1_000;
}

const laterTypes: ReadonlySet<string> = new Set(["0220", "0400"]);

function isRefusable({ mti }: IsoMessage): boolean {
  return mti === "0400" || mti === "0401";
}

function findLaterRule(reference: string, { ledger }: HostContext): LaterRule | undefined {
  return scenariosByName.get(ledger.findScenarioName(reference) ?? "")?.later;
}

/**
 * Answers with what the ledger contains about a charge, or about a later message that field 90
 * names. A delayed approval is not booked yet, so it is unknown.
 */
function answerInquiry(exchange: Exchange): IsoMessage {
  const { request, host } = exchange;
  const { 11: trace, 37: reference, 90: original = "" } = request.fields;
  if (!trace || !reference) return makeAnswer(exchange, "30");
  const later = host.ledger.entries(reference).find((entry) => {
    return entry.trace !== undefined && entry.trace === original.slice(4, 10);
  });
  if (later?.kind === "payout") {
    const fields = { 4: formatAmount(later.amount), 49: numberCurrency(later.currency) };
    return makeApproval(exchange, host.approvalNumbers.of(reference), fields);
  }
  if (later !== undefined) return makeAnswer(exchange, "00");
  if (laterTypes.has(original.slice(0, 4))) return makeAnswer(exchange, "25");
  const balance = host.ledger.findBalance(reference);
  if (balance === undefined || balance.outstanding <= 0n) return makeAnswer(exchange, "25");
  const fields = { 4: formatAmount(balance.charged), 49: numberCurrency(balance.currency) };
  return makeApproval(exchange, host.approvalNumbers.of(reference), fields);
}
