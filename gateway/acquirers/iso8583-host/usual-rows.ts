/**
 * The part of the tables that hosts have in common: fields that ISO 8583:1987 itself gives a place
 * and a meaning. A host with other habits leaves these out and has rows of its own.
 */
import {
  aboutCharge,
  all,
  allButInquiry,
  changes,
  charges,
  type FactRow,
  type GateRow,
  payments,
} from "./dialect.ts";
import * as value from "./field-values.ts";

/** The same in every message of a gate. */
// biome-ignore format: a table
export const iso87GateRows: readonly GateRow[] = [
  [ 3, allButInquiry,              () => "000000"],                     // purchase
  [18, allButInquiry,              ({ categoryCode }) => categoryCode],
  [19, allButInquiry,              ({ countryCode }) => countryCode],
  [25, [...payments, ...changes],  () => "59"],                         // electronic commerce
  [25, ["account-verification"],   () => "51"],                         // is the card good?
  [32, all,                        ({ acquirerId }) => acquirerId],
  [39, ["reversal"],               () => "68"],                         // no answer came in time
  [42, all,                        ({ merchantCode }) => merchantCode.padEnd(15)],
  [43, charges,                    ({ nameAndPlace }) => nameAndPlace.padEnd(40)],
];

/** What one message says. */
// biome-ignore format: a table
export const iso87Rows: readonly FactRow[] = [
  [ 2, allButInquiry,              value.cardNumber],
  [ 4, allButInquiry,              value.amount],
  [ 7, all,                        value.transmitted],
  [11, all,                        value.traceNumber],
  [12, charges,                    value.localTime],
  [13, charges,                    value.localDate],
  [14, allButInquiry,              value.expiry],
  [22, [...charges, "reversal"],   value.entryMode],
  [37, all,                        value.reference],
  [38, changes,                    value.approvalCode],
  [41, all,                        value.terminal],
  [49, allButInquiry,              value.currency],
  [90, aboutCharge,                value.nameOriginal],
  [95, ["return"],                 value.replacementAmounts],
];
