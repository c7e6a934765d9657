/**
 * Refunds (0200 with processing code 20): payments to the card, with references of their own. A
 * repeat (0201) of a booked refund is accepted and not booked again. A 0200 is always booked, even
 * under a reference seen before: the ledger must show a gateway's mistake, not hide it.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { nameCurrency, parseAmount } from "../money.ts";
import { scenariosByCard } from "../scenarios.ts";
import { type Exchange, isRefusedBy, makeAnswer, makeApproval, toldToFollowUp } from "./answers.ts";

/** The first two digits of field 3. */
export function isRefund({ fields }: IsoMessage): boolean {
  return fields[3]?.startsWith("20") === true;
}

/** Undefined when the host does not answer. */
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
