/**
 * The sandbox bank's dialect of ISO 8583:1987: where each thing that a message says has its field.
 * A host with other habits is another file like this one. The card number and the CVV leave their
 * secrets here, and nowhere else on this way.
 */
import {
  type Framing,
  iso87Ascii,
  originalData,
  type Specification,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import type { calendar } from "../../values/time.ts";
import type { Attempt, ReversalAdvice } from "../acquirer.ts";
import type { GateSettings } from "../gate.ts";

export const specification: Specification = iso87Ascii;
export const framing: Framing = "binary-2";

export const mtis = { sale: "0200", reversal: "0420", reversalRepeated: "0421", network: "0800" };
export const saleAnswerMti = "0210";
export const networkCodes = { signOn: "001", signOff: "002", echo: "301" };
export const networkAccepted = "00";

export type MessageKind = "sale" | "reversal";
type Where = MessageKind | "both";
type Calendar = ReturnType<typeof calendar>;

/** The same in every message of a gate. */
export type GateRow = readonly [number, Where, (settings: GateSettings) => string];

// biome-ignore format: a table
export const gateRows: readonly GateRow[] = [
  [ 3, "both",     () => "000000"],                             // purchase
  [18, "both",     ({ categoryCode }) => categoryCode],
  [19, "both",     ({ countryCode }) => countryCode],
  [22, "both",     () => "010"],                                // the number was typed, no PIN
  [25, "both",     () => "59"],                                 // electronic commerce
  [32, "both",     ({ acquirerId }) => acquirerId],
  [39, "reversal", () => "68"],                                 // the answer did not come in time
  [42, "both",     ({ merchantCode }) => merchantCode.padEnd(15)],
  [43, "sale",     ({ nameAndPlace }) => nameAndPlace.padEnd(40)],
];

/** What one message is about. `sent` and `traceNumber` are its own, not those of the charge. */
export type Facts = {
  readonly attempt: Attempt;
  readonly sent: Calendar;
  readonly traceNumber: string;
  readonly approvalCode: ReversalAdvice["approvalCode"];
  /** The charge that a reversal takes back. */
  readonly original: { readonly sent: Calendar; readonly acquirerId: string } | undefined;
};

/** Nothing: the message goes without the field. */
export type AttemptRow = readonly [number, Where, (facts: Facts) => string | undefined];

// biome-ignore format: a table
export const attemptRows: readonly AttemptRow[] = [
  [ 2, "both",     ({ attempt }) => attempt.card.number.reveal()],
  [ 4, "both",     ({ attempt }) => writeAmount(attempt.amount.minor)],
  [ 7, "both",     ({ sent }) => transmissionTime(sent)],
  [11, "both",     ({ traceNumber }) => traceNumber],
  [12, "sale",     ({ sent }) => sent.hour + sent.minute + sent.second],
  [13, "sale",     ({ sent }) => sent.month + sent.day],
  [14, "both",     ({ attempt }) => expiry(attempt)],
  [37, "both",     ({ attempt }) => attempt.charge.reference],
  [38, "reversal", ({ approvalCode }) => approvalCode?.padEnd(6)],
  // A reversal repeats the terminal of its charge, also when the gate has another by now.
  [41, "both",     ({ attempt }) => attempt.charge.gate.terminalId.padEnd(8)],
  [48, "sale",     ({ attempt }) => privateElements(attempt)],
  [49, "both",     ({ attempt }) => attempt.amount.currency.numeric],
  [90, "reversal", ({ attempt, original }) => original && nameOriginal(attempt, original)],
];

export function transmissionTime({ month, day, hour, minute, second }: Calendar): string {
  return month + day + hour + minute + second;
}

export function writeAmount(minor: bigint): string {
  return String(minor).padStart(12, "0");
}

function expiry({ card }: Attempt): string {
  return card.expiryYear.slice(-2) + card.expiryMonth.padStart(2, "0");
}

/** Category T (no face to face), then 42 with the ECI and 92 with the CVV. */
function privateElements({ eci, cvv }: Attempt): string | undefined {
  if (eci === undefined && cvv === undefined) return undefined;
  const elements: [tag: string, value: string][] = [];
  if (eci !== undefined) elements.push(["42", eci]);
  if (cvv !== undefined) elements.push(["92", cvv.reveal()]);
  return writeSubelements("T", elements);
}

function nameOriginal(
  { charge }: Attempt,
  { sent, acquirerId }: NonNullable<Facts["original"]>,
): string {
  const transmittedAt = transmissionTime(sent);
  return originalData({ mti: mtis.sale, stan: charge.traceNumber, transmittedAt, acquirerId });
}
