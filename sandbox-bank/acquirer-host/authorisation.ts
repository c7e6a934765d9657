/**
 * Charges: a sale (0200) or an authorisation (0100). Every one that is accepted is booked as it
 * comes, even under a reference seen before: the books must show a gateway's mistake, not hide it.
 */
import { type Message, writeSubelements } from "@tollgate/protocols/iso8583";
import { nameCurrency, parseAmount } from "../money.ts";
import { findScenario, type Outcome, type Scenario } from "../scenarios.ts";
import { deliver, makeAnswer, makeApproval } from "./answer.ts";
import { decide } from "./decision.ts";
import type { Attend, Desk, Line } from "./desk.ts";

type Charge = {
  readonly request: Message;
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly scenario: Scenario | undefined;
};

// Field 63 of this dialect has the shape of field 48: a letter, then sub-elements.
// biome-ignore format: a table
const loyalty = writeSubelements("R", [
  ["01", "1250"],                         // balance
  ["02", "Thank you for paying with us"], // message
  ["03", "15"],                           // bonus
  ["04", "Sandbox Bonus"],                // program
]);

const explanationTag = "05";

export function makeAttendCharge(desk: Desk): Attend {
  return function attendCharge(request: Message, line: Line): void {
    const { 2: card, 11: trace, 37: reference, 49: currency } = request.fields;
    const amount = parseAmount(request.fields[4]);
    if (!card || !trace || !reference || !currency || amount === undefined) {
      deliver(makeAnswer(request, "30", desk), line, desk);
      return;
    }
    const scenario = findScenario(card);
    const { month } = desk.clock.now();
    const outcome = decide({ request, card, amount, month }, scenario, desk.switches);
    const charge = { request, reference, amount, currency: nameCurrency(currency), scenario };
    carryOut(outcome, charge, line, desk);
  };
}

function carryOut(outcome: Outcome, charge: Charge, line: Line, desk: Desk): void {
  const { request, reference, amount } = charge;
  switch (outcome.kind) {
    case "approve":
      deliver(approve(charge, amount, desk), line, desk);
      break;
    case "approve-half":
      deliver(approveHalf(charge, desk), line, desk);
      break;
    case "approve-slowly":
      deliver(approve(charge, amount, desk), line, desk, outcome.afterMs);
      break;
    case "approve-late":
      desk.late.hold(reference, line, (open) => open.answer(approve(charge, amount, desk)));
      break;
    case "approve-twice":
      deliverTwice(approve(charge, amount, desk), line, desk);
      break;
    case "approve-with-loyalty":
      deliver(approve(charge, amount, desk, { 63: loyalty }), line, desk);
      break;
    case "decline":
      deliver(makeDecline(request, outcome, desk), line, desk);
      break;
    case "book-in-silence":
      book(charge, amount, desk);
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

function approve(charge: Charge, amount: bigint, desk: Desk, more?: Message["fields"]): Message {
  book(charge, amount, desk);
  return makeApproval(charge.request, desk, more);
}

function approveHalf(charge: Charge, desk: Desk): Message {
  const half = charge.amount / 2n;
  if (half === 0n) return makeAnswer(charge.request, "51", desk);
  return approve(charge, half, desk, { 39: "10", 4: String(half).padStart(12, "0") });
}

function deliverTwice(answer: Message, line: Line, desk: Desk): void {
  deliver(answer, line, desk);
  deliver(answer, line, desk);
}

function makeDecline(
  request: Message,
  { code, explained }: { readonly code: string; readonly explained?: string },
  desk: Desk,
): Message {
  const answer = makeAnswer(request, code, desk);
  if (explained === undefined) return answer;
  const explanation = writeSubelements("R", [[explanationTag, explained]]);
  return { mti: answer.mti, fields: { ...answer.fields, 63: explanation } };
}

function book(
  { request, reference, currency, scenario }: Charge,
  amount: bigint,
  desk: Desk,
): void {
  const kind = request.mti === "0100" ? "authorisation" : "sale";
  const named = scenario?.later === undefined ? undefined : scenario.name;
  desk.ledger.book({ reference, kind, amount, currency }, named);
}
