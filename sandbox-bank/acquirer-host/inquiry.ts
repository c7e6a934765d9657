/**
 * Inquiries (0600): what became of a charge, truthfully from the books. What is held back is not
 * booked yet, so the host does not know it. An inquiry is always answered: doubt must have an end.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { numberCurrency } from "../money.ts";
import { deliver, makeAnswer, makeApproval } from "./answer.ts";
import type { Attend, Desk, Line } from "./desk.ts";

export function makeAttendInquiry(desk: Desk): Attend {
  return function attendInquiry(request: IsoMessage, line: Line): void {
    deliver(inquire(request, line, desk), line, desk);
  };
}

function inquire(request: IsoMessage, line: Line, desk: Desk): IsoMessage {
  const { 11: trace, 37: reference } = request.fields;
  if (!trace || !reference) return makeAnswer(request, "30", desk);
  const standing = desk.ledger.findStanding(reference);
  if (standing === undefined || standing.outstanding <= 0n) return makeAnswer(request, "25", desk);
  const numbers = desk.numbers.of(reference);
  return makeApproval(
    request,
    { desk, line, numbers },
    {
      4: String(standing.charged).padStart(12, "0"),
      49: numberCurrency(standing.currency),
    },
  );
}
