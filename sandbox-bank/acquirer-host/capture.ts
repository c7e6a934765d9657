/**
 * Capture advices (0220): money of an earlier authorisation, named by its reference. A repeat
 * (0221) of what is booked is accepted and not booked again; a new 0220 is always a new capture.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { isOtherCurrency, parseAmount } from "../money.ts";
import { findScenarioNamed } from "../scenarios.ts";
import { deliver, makeAnswer } from "./answer.ts";
import { isAnswerLost } from "./decision.ts";
import type { Attend, Desk, Line } from "./desk.ts";

export function makeAttendCapture(desk: Desk): Attend {
  return function attendCapture(request: IsoMessage, line: Line): void {
    const code = capture(request, desk);
    if (code === "00" && isAnswerLost(desk.switches)) return;
    deliver(makeAnswer(request, code, desk), line, desk);
  };
}

/** Books the capture where it can be; gives the response code. */
function capture(request: IsoMessage, { ledger }: Desk): string {
  const { 11: trace, 37: reference } = request.fields;
  const amount = parseAmount(request.fields[4]);
  if (amount === undefined || !trace || !reference) return "30";
  const standing = ledger.findStanding(reference);
  if (standing === undefined) return "25";
  if (standing.kind !== "authorisation") return "12";
  if (isOtherCurrency(request.fields[49], standing.currency)) return "12";
  const later = findScenarioNamed(ledger.findScenarioName(reference) ?? "")?.later;
  if (later?.kind === "refuse-captures") return later.code;

  if (request.mti === "0221" && standing.captures.includes(amount)) return "00";
  const limit = standing.captures.length === 0 ? standing.outstanding : standing.charged;
  if (amount === 0n || amount > limit) return "13";
  ledger.book({ reference, kind: "capture", amount, currency: standing.currency });
  return "00";
}
