/**
 * Charges and refunds. A charge is a sale (0200), an authorisation (0100), or a verification of the
 * card, which is decided like a charge and books nothing. Every accepted one is booked, even under
 * a reference seen before: the ledger must show a gateway's mistake, not hide it.
 */
import type { IsoFields, IsoMessage } from "@tollgate/protocols/iso8583";
import { eciFor } from "../issuer.ts";
import { formatAmount, nameCurrency, parseAmount } from "../money.ts";
import {
  amountOutcomes,
  approval,
  byCvv,
  cvvMismatch,
  cvvOutcomes,
  decline,
  type HostRule,
  type Outcome,
  type PayoutRule,
  type Scenario,
  scenariosByCard,
} from "../scenarios.ts";
import {
  type Exchange,
  isRefusedBy,
  makeAnswer,
  makeApproval,
  mayYetBeDone,
  send,
  toldToFollowUp,
} from "./answers.ts";
import type { CardholderProof, Remarks } from "./dialects.ts";

type Charge = Exchange & {
  readonly card: string;
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly scenario: Scenario | undefined;
  /** The fields of the answer with the issuer's results for address and CVV. */
  readonly checks?: IsoFields;
};

const loyalty: Remarks = {
  balance: "1250",
  message: "Thank you for paying with us",
  bonus: "15",
  program: "Sandbox Bonus",
};

/** Answers a charge. Returns undefined if the host does not answer. */
export function answerCharge(exchange: Exchange): IsoMessage | undefined {
  const { request, connection, host } = exchange;
  const { 2: card, 11: trace, 37: reference, 49: number } = request.fields;
  const amount = parseAmount(request.fields[4]);
  if (!card || !trace || !reference || !number || amount === undefined) {
    return makeAnswer(exchange, "30");
  }
  const currency = nameCurrency(number);
  const scenario = scenariosByCard.get(card);
  const charge = { request, connection, host, card, reference, amount, currency, scenario };
  return execute(decide(charge), { ...charge, checks: writeChecks(charge) });
}

/** Writes the results. A card without a rule of its own has the address that the gateway sends. */
function writeChecks({ request, connection, host, scenario }: Charge): IsoFields {
  const { dialect } = connection;
  const { avsResult, cvvResult } = host.switches.current;
  const address = dialect.readAddress(request.fields);
  const cvv = dialect.readProof(request.fields)?.cvv ?? "";
  const isByCvv = (scenario?.host ?? byCvv).kind === "by-cvv";
  const isRight = !isByCvv || cvvOutcomes.has(cvv);
  return dialect.writeChecks({
    ...(address && { avs: avsResult ?? scenario?.checks?.avs ?? avsOf(address) }),
    ...(cvv !== "" && { cvv: cvvResult ?? scenario?.checks?.cvv ?? (isRight ? "M" : "N") }),
  });
}

function avsOf({ postcode, street }: Readonly<Record<"postcode" | "street", string>>): string {
  if (postcode === "") return "A";
  return street === "" ? "Z" : "Y";
}

function execute(outcome: Outcome, charge: Charge): IsoMessage | undefined {
  const { connection, host, reference } = charge;
  const { dialect } = connection;
  switch (outcome.kind) {
    case "approve":
      return approve(charge);
    case "approve-half":
      return approveHalf(charge);
    case "approve-with-loyalty":
      return approve(charge, { 63: dialect.writeRemarks(loyalty) });
    case "decline": {
      const { code, explanation } = outcome;
      if (explanation === undefined) return makeAnswer(charge, code, charge.checks);
      const remarks = { 63: dialect.writeRemarks({ explanation }) };
      return makeAnswer(charge, code, { ...charge.checks, ...remarks });
    }
    case "approve-twice": {
      const answer = approve(charge);
      send(charge, answer);
      return answer;
    }
    case "approve-slowly":
      send(charge, approve(charge), outcome.afterMs);
      break;
    case "approve-late":
      host.delayedApprovals.add(reference, connection, (open) =>
        open.answer(approve({ ...charge, connection: open })),
      );
      break;
    case "book-without-answer":
      book(charge);
      // An inquiry refers to this number.
      host.approvalNumbers.next(reference, charge.card);
      break;
    case "drop-link":
      connection.close("the card's scenario drops the link");
      break;
    case "answer-garbage":
      connection.answerGarbage(reference);
  }
  return undefined;
}

function approve(charge: Charge, more?: IsoFields): IsoMessage {
  book(charge);
  return makeApproval(charge, charge.host.approvalNumbers.next(charge.reference, charge.card), {
    ...charge.checks,
    ...more,
  });
}

/** Approves half of the amount. A verification has no amount and is approved as it is. */
function approveHalf(charge: Charge): IsoMessage {
  if (isVerification(charge.request)) return approve(charge);
  const half = charge.amount / 2n;
  if (half === 0n) return makeAnswer(charge, "51");
  const part = { 39: "10", 4: formatAmount(half) };
  return approve({ ...charge, amount: half }, part);
}

function book({ request, connection, host, reference, amount, currency, scenario }: Charge) {
  if (isVerification(request)) return;
  if (isPayout(request)) {
    const { gate } = connection.dialect;
    host.ledger.book({ reference, kind: "payout", amount, currency, gate, ...traceOf(request) });
    return;
  }
  const kind = request.mti === "0100" ? "authorisation" : "sale";
  const named = scenario?.later === undefined ? undefined : scenario.name;
  const { gate } = connection.dialect;
  host.ledger.book({ reference, kind, amount, currency, gate }, named);
}

/**
 * Decides a charge by its form, then by the card's scenario, then by the random shares of the
 * switches.
 */
function decide(charge: Charge): Outcome {
  const { connection, host, request } = charge;
  const faultCode = findFault(charge);
  if (faultCode !== undefined) return decline(faultCode);
  const proof = connection.dialect.readProof(request.fields);
  if (proof === undefined) return decline("30");
  const { chargeCode } = host.switches.current;
  if (chargeCode !== null) return chargeCode === "00" ? approval : declineOf(charge, chargeCode);
  const outcome = applyScenario(charge, proof);
  if (outcome.kind !== "approve") return outcome;
  if (host.switches.current.approveLate) return { kind: "approve-late" };
  if (host.switches.isDeclined()) return decline("05");
  return host.switches.isAnswerLost() ? { kind: "book-without-answer" } : outcome;
}

/** Books a charge that the switches report as possibly done, because the host then has done it. */
function declineOf(charge: Charge, code: string): Outcome {
  if (mayYetBeDone.has(code)) book(charge);
  return decline(code);
}

/** Returns the response code of a charge that is wrong for every card. */
function findFault({ request, host, card, amount }: Charge): string | undefined {
  if (!isLuhnValid(card)) return "14";
  // Only the first two digits are fixed, because account types may differ.
  if (request.fields[3]?.startsWith("00") !== true) return "12";
  if (isVerification(request) && request.mti !== "0100") return "12";
  if (isVerification(request) !== (amount === 0n)) return "13";
  const expiry = request.fields[14];
  return expiry !== undefined && expiry < host.clock.now().month ? "54" : undefined;
}

function applyScenario(charge: Charge, proof: CardholderProof): Outcome {
  const { request, amount, scenario } = charge;
  const rule = scenario?.host ?? byCvv;
  switch (rule.kind) {
    case "by-cvv":
      return cvvOutcomes.get(proof.cvv) ?? cvvMismatch;
    case "by-amount":
      return amountOutcomes.get(String(amount % 100n).padStart(2, "0")) ?? approval;
    case "approve-if-authenticated":
      return needsNoProof(request) || isAuthenticated(charge, proof)
        ? approval
        : decline(rule.otherwise);
    case "approve-if-authenticated-or-exempt":
      return needsNoProof(request) || proof.isExempt || isAuthenticated(charge, proof)
        ? approval
        : decline(rule.otherwise);
    case "approve-unless-recurrent":
      // Entry mode 10 means that the card is on file.
      return request.fields[22]?.startsWith("10") ? decline(rule.otherwise) : approval;
    default:
      return rule;
  }
}

/** Returns whether the order came by mail or telephone, where no cardholder can authenticate. */
function needsNoProof({ fields }: IsoMessage): boolean {
  return fields[25] === "08";
}

/** Returns whether the message is an account verification, which condition code 51 marks. */
function isVerification({ fields }: IsoMessage): boolean {
  return fields[25] === "51";
}

/**
 * Returns whether the cardholder was authenticated. An attempt (ECI 06 or 01) does not count, and
 * neither does the value of another card.
 */
function isAuthenticated({ card, host }: Charge, proof: CardholderProof): boolean {
  const { eci, authenticationValue = "" } = proof;
  return (
    eci === eciFor(card, "Y") && host.authenticationValues.isGenuine(card, authenticationValue)
  );
}

function isLuhnValid(card: string): boolean {
  let sum = 0;
  for (let index = 0; index < card.length; index += 1) {
    const digit = card.charCodeAt(card.length - 1 - index) - 48;
    if (digit < 0 || digit > 9) return false;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return card.length >= 12 && sum % 10 === 0;
}

/** Returns whether the first two digits of field 3 mean an original credit. */
export function isPayout({ fields }: IsoMessage): boolean {
  return fields[3]?.startsWith("26") === true;
}

function traceOf({ fields: { 11: trace } }: IsoMessage) {
  return trace === undefined ? {} : { trace };
}

/**
 * Answers a payout (0200 with processing code 26): money for the card, which no message takes back.
 * A repeat (0201) of a booked payout is approved again and not booked again. Returns undefined if
 * the host does not answer.
 */
export function answerPayout(exchange: Exchange): IsoMessage | undefined {
  const { request, host } = exchange;
  const { 2: card, 11: trace, 14: expiry, 37: reference, 49: number } = request.fields;
  const amount = parseAmount(request.fields[4]);
  if (!card || !trace || !reference || !number || amount === undefined) {
    return makeAnswer(exchange, "30");
  }
  const scenario = scenariosByCard.get(card);
  const charge = { ...exchange, card, reference, amount, currency: nameCurrency(number), scenario };
  const isRepeat = request.mti === "0201";
  const isBooked = host.ledger.entries(reference).some(({ kind }) => kind === "payout");
  const rule = scenario?.payout ?? scenario?.host ?? approval;
  if (rule.kind === "book-in-silence") {
    if (!isBooked) execute(noAnswer, charge);
    return undefined;
  }
  const { repeatCode } = host.switches.current;
  if (isRepeat && repeatCode !== null) return makeAnswer(exchange, repeatCode);
  if (isRepeat && isBooked) return makeApproval(exchange, host.approvalNumbers.of(reference));
  if (!isLuhnValid(card)) return makeAnswer(exchange, "14");
  if (amount === 0n) return makeAnswer(exchange, "13");
  if (expiry !== undefined && expiry < host.clock.now().month) return makeAnswer(exchange, "54");
  return execute(decidePayout(charge, rule), charge);
}

const noAnswer: Outcome = { kind: "book-without-answer" };

/** The receiver has neither a CVV nor an authentication, so rules about these approve. */
function decidePayout(charge: Charge, rule: HostRule | PayoutRule): Outcome {
  const { switches } = charge.host;
  const { chargeCode } = switches.current;
  if (chargeCode !== null) return chargeCode === "00" ? approval : declineOf(charge, chargeCode);
  if (rule.kind === "by-amount") {
    return amountOutcomes.get(String(charge.amount % 100n).padStart(2, "0")) ?? approval;
  }
  if (isAlsoOfPayouts(rule)) return rule;
  if (switches.isDeclined()) return decline("05");
  return switches.isAnswerLost() ? noAnswer : approval;
}

const outcomesOfPayouts: ReadonlySet<string> = new Set<Outcome["kind"]>([
  ...(["decline", "ignore", "drop-link", "answer-garbage"] as const),
  ...(["book-without-answer", "approve-slowly", "approve-twice"] as const),
]);

function isAlsoOfPayouts(rule: HostRule | PayoutRule): rule is Outcome {
  return outcomesOfPayouts.has(rule.kind);
}

/** Returns whether the first two digits of field 3 mean a refund. */
export function isRefund({ fields }: IsoMessage): boolean {
  return fields[3]?.startsWith("20") === true;
}

/**
 * Answers a refund (0200 with processing code 20), which is a payment to the card with a reference
 * of its own. A repeat (0201) of a booked refund is accepted and not booked again. Returns
 * undefined if the host does not answer.
 */
export function answerRefund(exchange: Exchange): IsoMessage | undefined {
  const { request, connection, host } = exchange;
  const { 2: card, 11: trace, 37: reference, 49: number } = request.fields;
  const amount = parseAmount(request.fields[4]);
  if (!card || !trace || !reference || !number || amount === undefined || !isRefund(request)) {
    return makeAnswer(exchange, "30");
  }
  if (amount === 0n) return makeAnswer(exchange, "13");
  const told = toldToFollowUp(exchange);
  if (isRefusedBy(told)) return makeAnswer(exchange, told);
  const later = scenariosByCard.get(card)?.later;
  if (later?.kind === "refuse-returns") return makeAnswer(exchange, later.code);

  const isBooked = host.ledger.entries(reference).some(({ kind }) => kind === "refund");
  if (request.mti !== "0201" || !isBooked) {
    const { gate } = connection.dialect;
    const currency = nameCurrency(number);
    host.ledger.book({ reference, kind: "refund", amount, currency, gate, trace });
  }
  if (later?.kind === "leave-reversals-unanswered") {
    const before = host.unansweredReversals.get(reference) ?? 0;
    host.unansweredReversals.set(reference, before + 1);
    if (before < later.first) return undefined;
  }
  if (told !== null && told !== "00") return makeAnswer(exchange, told);
  if (host.switches.isAnswerLost()) return undefined;
  return makeApproval(exchange, host.approvalNumbers.of(reference));
}
