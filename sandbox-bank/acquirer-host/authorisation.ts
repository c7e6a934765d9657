/**
 * Charges: a sale (0200), an authorisation (0100) or a verification of the card, which is decided
 * like one and moves nothing. Every charge that is accepted is booked as it comes, even under a
 * reference seen before: the books must show a gateway's mistake, not hide it.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { nameCurrency, parseAmount } from "../money.ts";
import { findScenario, type Outcome, type Scenario } from "../scenarios.ts";
import { deliver, makeAnswer, makeApproval } from "./answer.ts";
import { decide, isVerification } from "./decision.ts";
import type { Attend, Desk, Line } from "./desk.ts";
import type { Remarks } from "./host-dialect.ts";

type Charge = {
  readonly request: IsoMessage;
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly scenario: Scenario | undefined;
};

const loyalty: Remarks = {
  balance: "1250",
  message: "Thank you for paying with us",
  bonus: "15",
  program: "Sandbox Bonus",
};

export function makeAttendCharge(desk: Desk): Attend {
  return function attendCharge(request: IsoMessage, line: Line): void {
    const { 2: card, 11: trace, 37: reference, 49: currency } = request.fields;
    const amount = parseAmount(request.fields[4]);
    if (!card || !trace || !reference || !currency || amount === undefined) {
      deliver(makeAnswer(request, "30", desk), line, desk);
      return;
    }
    const scenario = findScenario(card);
    const { month } = desk.clock.now();
    const proof = line.dialect.readProof(request.fields);
    const outcome = decide({ request, card, amount, month, proof }, scenario, desk);
    const charge = { request, reference, amount, currency: nameCurrency(currency), scenario };
    carryOut(outcome, charge, line, desk);
  };
}

function carryOut(outcome: Outcome, charge: Charge, line: Line, desk: Desk): void {
  const { reference } = charge;
  switch (outcome.kind) {
    case "approve":
      deliver(approve(charge, line, desk), line, desk);
      break;
    case "approve-half":
      deliver(approveHalf(charge, line, desk), line, desk);
      break;
    case "approve-slowly":
      deliver(approve(charge, line, desk), line, desk, outcome.afterMs);
      break;
    case "approve-late":
      desk.late.hold(reference, line, (open) => open.answer(approve(charge, open, desk)));
      break;
    case "approve-twice":
      deliverTwice(approve(charge, line, desk), line, desk);
      break;
    case "approve-with-loyalty": {
      const words = { 63: line.dialect.writeRemarks(loyalty) };
      deliver(approve(charge, line, desk, words), line, desk);
      break;
    }
    case "decline":
      deliver(decline(charge, outcome, line, desk), line, desk);
      break;
    case "book-in-silence":
      book(charge, desk);
      break;
    case "ignore":
      break;
    case "drop-link":
      line.close("the card asks for it");
      break;
    case "answer-garbage":
      line.answerGarbage(reference);
  }
}

function approve(charge: Charge, line: Line, desk: Desk, more?: IsoMessage["fields"]): IsoMessage {
  book(charge, desk);
  const numbers = desk.numbers.next(charge.reference);
  return makeApproval(charge.request, { desk, line, numbers }, more);
}

function approveHalf(charge: Charge, line: Line, desk: Desk): IsoMessage {
  // There is no half of nothing: a verification is approved as it is.
  if (isVerification(charge.request)) return approve(charge, line, desk);
  const half = charge.amount / 2n;
  if (half === 0n) return makeAnswer(charge.request, "51", desk);
  const part = { 39: "10", 4: String(half).padStart(12, "0") };
  return approve({ ...charge, amount: half }, line, desk, part);
}

function deliverTwice(answer: IsoMessage, line: Line, desk: Desk): void {
  deliver(answer, line, desk);
  deliver(answer, line, desk);
}

function decline(
  { request }: Charge,
  { code, explained }: { readonly code: string; readonly explained?: string },
  line: Line,
  desk: Desk,
): IsoMessage {
  const answer = makeAnswer(request, code, desk);
  if (explained === undefined) return answer;
  const explanation = line.dialect.writeRemarks({ explanation: explained });
  return { mti: answer.mti, fields: { ...answer.fields, 63: explanation } };
}

function book({ request, reference, amount, currency, scenario }: Charge, desk: Desk): void {
  if (isVerification(request)) return;
  const kind = request.mti === "0100" ? "authorisation" : "sale";
  const named = scenario?.later === undefined ? undefined : scenario.name;
  desk.ledger.book({ reference, kind, amount, currency }, named);
}
