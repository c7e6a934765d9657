/** From a decoded request to whoever answers it, by message type. */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { makeAttendCharge } from "./authorisation.ts";
import { makeAttendCapture } from "./capture.ts";
import type { Attend, Desk, Line } from "./desk.ts";
import { makeAttendInquiry } from "./inquiry.ts";
import { makeAttendNetwork } from "./network.ts";
import { makeAttendReversal } from "./reversal.ts";

export function makeAttend(desk: Desk): Attend {
  const network = makeAttendNetwork(desk);
  const charge = makeAttendCharge(desk);
  const capture = makeAttendCapture(desk);
  const reversal = makeAttendReversal(desk);
  const inquiry = makeAttendInquiry(desk);

  // biome-ignore format: a table
  const byMti: ReadonlyMap<string, Attend> = new Map([
    ["0800", network],
    ["0200", charge],   ["0100", charge],
    ["0220", capture],  ["0221", capture],
    ["0400", reversal], ["0401", reversal],
    ["0420", reversal], ["0421", reversal],
    ["0600", inquiry],
  ]);

  return function attend(request: IsoMessage, line: Line): void {
    const answerer = byMti.get(request.mti);
    const isUnknown = answerer === inquiry && !line.dialect.answersInquiries;
    if (answerer === undefined || isUnknown)
      line.close("it sent a message type that is no request here");
    else if (answerer !== network && !line.signedOn) line.close("it is not signed on");
    else answerer(request, line);
  };
}
