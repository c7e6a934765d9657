/**
 * Reversals: requests (0400, repeated as 0401) and advices (0420, repeated as 0421) for the charge
 * of the same reference. Field 95 says what remains charged afterwards, so a repeat finds nothing
 * left to do: it is accepted and booked once. An advice settles doubt, so its answer is never lost
 * by chance.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { isOtherCurrency, parseAmount } from "../money.ts";
import { findScenarioNamed, type LaterRule } from "../scenarios.ts";
import { deliver, makeAnswer } from "./answer.ts";
import { isAnswerLost } from "./decision.ts";
import type { Attend, Desk, Line } from "./desk.ts";

export function makeAttendReversal(desk: Desk): Attend {
  const unanswered = new Map<string, number>();

  return function attendReversal(request: IsoMessage, line: Line): void {
    const reference = request.fields[37];
    if (!reference || !request.fields[11]) {
      deliver(makeAnswer(request, "30", desk), line, desk);
      return;
    }
    desk.late.release(reference, line);
    const later = findScenarioNamed(desk.ledger.findScenarioName(reference) ?? "")?.later;
    const code = reverse(request, reference, desk, later);
    if (later?.kind === "leave-reversals-unanswered") {
      const before = unanswered.get(reference) ?? 0;
      unanswered.set(reference, before + 1);
      if (before < later.first) return;
    }
    if (code === "00" && isReturn(request) && isAnswerLost(desk.switches)) return;
    deliver(makeAnswer(request, code, desk), line, desk);
  };
}

/** A request, which may be refused; an advice tells what has happened already. */
function isReturn({ mti }: IsoMessage): boolean {
  return mti === "0400" || mti === "0401";
}

/** Books the reversal where it can be; gives the response code. */
function reverse(
  request: IsoMessage,
  reference: string,
  { ledger }: Desk,
  later: LaterRule | undefined,
): string {
  const standing = ledger.findStanding(reference);
  if (standing === undefined) return "25";
  if (isOtherCurrency(request.fields[49], standing.currency)) return "12";
  if (later?.kind === "refuse-returns" && isReturn(request)) return later.code;

  const remaining = readRemaining(request.fields[95]);
  if (remaining === undefined) return "30";
  const amount = standing.outstanding - remaining;
  if (amount > 0n) {
    ledger.book({ reference, kind: "reversal", amount, currency: standing.currency });
    return "00";
  }
  const reversedBefore = ledger.entries(reference).some(({ kind }) => kind === "reversal");
  return reversedBefore ? "00" : "13";
}

/** Replacement amounts: the first twelve digits are what remains charged; absent means nothing. */
function readRemaining(field: string | undefined): bigint | undefined {
  return field === undefined ? 0n : parseAmount(field.slice(0, 12));
}
