/**
 * Makes the answer to a request: what it echoes, when the host made it, and its response code.
 * The card number is never echoed.
 */
import { type IsoMessage, responseMti } from "@tollgate/protocols/iso8583";
import type { Desk, Line } from "./desk.ts";
import type { ApprovalNumbers } from "./numbers.ts";

const echoed = [3, 4, 7, 11, 32, 37, 41, 42, 49, 70];

/** The words for field 44, which has room for 25 characters. */
// biome-ignore format: a table
const texts: ReadonlyMap<string, string> = new Map([
  ["05", "DO NOT HONOUR"],
  ["12", "INVALID TRANSACTION"],
  ["13", "INVALID AMOUNT"],
  ["14", "INVALID CARD NUMBER"],
  ["1A", "AUTHENTICATION REQUIRED"],
  ["25", "ORIGINAL NOT FOUND"],
  ["30", "FORMAT ERROR"],
  ["41", "LOST CARD"],
  ["43", "STOLEN CARD, PICK UP"],
  ["51", "INSUFFICIENT FUNDS"],
  ["54", "EXPIRED CARD"],
  ["57", "NOT PERMITTED"],
  ["59", "SUSPECTED FRAUD"],
  ["61", "AMOUNT LIMIT EXCEEDED"],
  ["62", "RESTRICTED CARD"],
  ["65", "COUNT LIMIT EXCEEDED"],
  ["91", "ISSUER UNAVAILABLE"],
  ["96", "SYSTEM MALFUNCTION"],
  ["N7", "CVV MISMATCH"],
]);

type Fields = { [field: number]: string };

export function makeAnswer(request: IsoMessage, code: string, desk: Desk): IsoMessage {
  return { mti: responseMti(request.mti), fields: makeFields(request, code, desk) };
}

export type Approval = {
  readonly desk: Desk;
  /** The one that it goes out on: the network's id is written in its dialect. */
  readonly line: Line;
  readonly numbers: ApprovalNumbers;
};

/** An approval has numbers of its own; `more` are fields that this one carries besides. */
export function makeApproval(
  request: IsoMessage,
  { desk, line, numbers }: Approval,
  more?: Fields,
): IsoMessage {
  const fields = makeFields(request, more?.[39] ?? "00", desk);
  fields[38] = numbers.approvalCode;
  fields[62] = line.dialect.writeNetworkId(numbers.networkTransactionId);
  if (more !== undefined) Object.assign(fields, more);
  return { mti: responseMti(request.mti), fields };
}

/** Sends the answer after the bank's latency, and after `afterMs` more where a card is slow. */
export function deliver(answer: IsoMessage, line: Line, desk: Desk, afterMs = 0): void {
  const delayMs = desk.switches.nextLatencyMs() + afterMs;
  if (delayMs === 0) line.answer(answer);
  else setTimeout(() => line.answer(answer), delayMs).unref();
}

function makeFields(request: IsoMessage, code: string, desk: Desk): Fields {
  const { time, date } = desk.clock.now();
  const fields: Fields = {};
  for (const field of echoed) {
    const value = request.fields[field];
    if (value !== undefined) fields[field] = value;
  }
  fields[12] = time;
  fields[13] = date;
  fields[15] = date;
  fields[39] = code;
  const text = texts.get(code);
  if (text !== undefined) fields[44] = text;
  return fields;
}
