/** CReq and CRes of the browser, and the RReq and RRes that carry the result of record. */
import { array, authenticationValue, codes, digits, oneOf, text, uuid } from "../checks.ts";
import { hasNoSdk, isPayment, isProven, statusIs } from "../conditions.ts";
import { no, O, R, type Row, when } from "../rows.ts";
import { extensionRows } from "./extension.ts";

const answered = when(statusIs("Y", "N"));
const refused = when(statusIs("N", "U", "R"));
const trust = oneOf("Y", "N", "E", "P", "R", "U");

// biome-ignore format: a table
export const creq: readonly Row[] = [
  // element               value           2.1.0           2.2.0           2.3.1
  ["threeDSServerTransID", uuid,           R,              R,              R],
  ["acsTransID",           uuid,           R,              R,              R],
  ["challengeWindowSize",  codes("01-05"), when(hasNoSdk), when(hasNoSdk), when(hasNoSdk)],
  ...extensionRows,
];

// biome-ignore format: a table
export const cres: readonly Row[] = [
  ["threeDSServerTransID",   uuid,            R, R, R],
  ["acsTransID",             uuid,            R, R, R],
  ["transStatus",            oneOf("Y", "N"), R, R, R],
  ["challengeCompletionInd", oneOf("Y", "N"), O, O, O],
  ...extensionRows,
];

// biome-ignore format: a table
export const rreq: readonly Row[] = [
  ["threeDSServerTransID",  uuid,                               R,               R,               R],
  ["dsTransID",             uuid,                               R,               R,               R],
  ["acsTransID",            uuid,                               R,               R,               R],
  ["messageCategory",       codes("01", "02", "80-99"),         R,               R,               R],
  ["transStatus",           oneOf(..."YNUAR"),                  when(isPayment), when(isPayment), no],
  ["transStatus",           oneOf(..."YNUARD"),                 no,              no,              when(isPayment)],
  ["transStatusReason",     codes("01-26", "80-99"),            refused,         refused,         no],
  ["transStatusReason",     codes("01-30", "80-99"),            no,              no,              refused],
  ["transStatusReasonInfo", text(1, 256),                       no,              no,              O],
  ["authenticationValue",   authenticationValue,                when(isProven),  when(isProven),  no],
  ["authenticationValue",   text(1, 4000),                      no,              no,              when(isProven)],
  ["eci",                   text(2, 2),                         O,               O,               O],
  ["authenticationType",    codes("01-03", "80-99"),            answered,        no,              no],
  ["authenticationType",    codes("01-04", "80-99"),            no,              answered,        no],
  ["authenticationMethod",  array(99, codes("01-16", "80-99")), no,              no,              answered],
  ["interactionCounter",    digits(2, 2),                       R,               R,               R],
  ["challengeCancel",       codes("01-08", "80-99"),            O,               O,               no],
  ["challengeCancel",       codes("01-10", "80-99"),            no,              no,              O],
  ["whiteListStatus",       trust,                              no,              O,               no],
  ["whiteListStatusSource", codes("01-03", "80-99"),            no,              O,               no],
  ["trustListStatus",       trust,                              no,              no,              O],
  ["trustListStatusSource", codes("01-03", "80-99"),            no,              no,              O],
  ...extensionRows,
];

// biome-ignore format: a table
export const rres: readonly Row[] = [
  ["threeDSServerTransID", uuid,                    R, R, R],
  ["dsTransID",            uuid,                    R, R, R],
  ["acsTransID",           uuid,                    R, R, R],
  ["resultsStatus",        codes("01-03", "80-99"), R, R, R],
  ...extensionRows,
];
