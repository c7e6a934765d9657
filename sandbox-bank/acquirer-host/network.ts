/** Network messages (0800): sign-on, sign-off and echo, named by field 70. */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { makeAnswer } from "./answer.ts";
import type { Attend, Desk, Line } from "./desk.ts";

export function makeAttendNetwork(desk: Desk): Attend {
  return function attendNetwork(request: IsoMessage, line: Line): void {
    const code = codeFor(request.fields[70], line, desk);
    line.answer(makeAnswer(request, code, desk));
  };
}

function codeFor(networkCode: string | undefined, line: Line, desk: Desk): string {
  switch (networkCode) {
    case "001":
      line.signedOn = !desk.switches.current.refuseSignOn;
      return line.signedOn ? "00" : "91";
    case "002":
      line.signedOn = false;
      return "00";
    case "301":
      return "00";
    default:
      return "12";
  }
}
