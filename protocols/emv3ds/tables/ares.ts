/** ARes: the bank's answer, or the directory server's in its place. */
import {
  anyObject,
  array,
  authenticationValue,
  codes,
  object,
  oneOf,
  provided,
  text,
  url,
  uuid,
} from "../checks.ts";
import {
  isChallengedInBrowser,
  isPayment,
  isPossibleAnswer,
  isProven,
  statusIs,
} from "../conditions.ts";
import { no, O, R, type Row, when } from "../rows.ts";
import { extensionRows } from "./extension.ts";

const challenged = when(statusIs("C", "D"));
const decoupled = when(statusIs("D"));
const refused = when(statusIs("N", "U", "R"));
const spc = when(statusIs("S"));
const trust = oneOf("Y", "N", "E", "P", "R", "U");

// biome-ignore format: a table
const cardholderRows: readonly Row[] = [
  ["text", text(1, 128), no, no, R],
];

// biome-ignore format: a table
export const ares: readonly Row[] = [
  // element                  value                                              2.1.0                        2.2.0                        2.3.1
  ["threeDSServerTransID",    uuid,                                              R,                           R,                           R],
  ["dsTransID",               uuid,                                              R,                           R,                           R],
  ["acsTransID",              uuid,                                              R,                           R,                           R],
  ["acsReferenceNumber",      text(1, 32),                                       R,                           R,                           R],
  ["dsReferenceNumber",       text(1, 32),                                       R,                           R,                           R],
  ["acsOperatorID",           text(1, 32),                                       O,                           O,                           O],
  ["transStatus",             provided(oneOf(..."YNUACR"), isPossibleAnswer),    when(isPayment),             no,                          no],
  ["transStatus",             provided(oneOf(..."YNUACRDI"), isPossibleAnswer),  no,                          when(isPayment),             no],
  ["transStatus",             provided(oneOf(..."YNUACRDIS"), isPossibleAnswer), no,                          no,                          when(isPayment)],
  ["transStatusReason",       codes("01-26", "80-99"),                           refused,                     refused,                     no],
  ["transStatusReason",       codes("01-30", "80-99"),                           no,                          no,                          refused],
  ["transStatusReasonInfo",   text(1, 256),                                      no,                          no,                          O],
  ["authenticationValue",     authenticationValue,                               when(isProven),              when(isProven),              no],
  ["authenticationValue",     text(1, 4000),                                     no,                          no,                          when(isProven)],
  ["eci",                     text(2, 2),                                        O,                           O,                           O],
  ["acsURL",                  url(2048),                                         when(isChallengedInBrowser), when(isChallengedInBrowser), when(isChallengedInBrowser)],
  ["acsChallengeMandated",    oneOf("Y", "N"),                                   challenged,                  challenged,                  challenged],
  ["authenticationType",      codes("01-03", "80-99"),                           challenged,                  no,                          no],
  ["authenticationType",      codes("01-04", "80-99"),                           no,                          challenged,                  no],
  ["authenticationMethod",    array(99, codes("01-16", "80-99")),                no,                          no,                          challenged],
  ["acsDecConInd",            oneOf("Y", "N"),                                   no,                          decoupled,                   decoupled],
  ["cardholderInfo",          text(1, 128),                                      O,                           decoupled,                   no],
  ["cardholderInfo",          object(cardholderRows),                            no,                          no,                          decoupled],
  ["whiteListStatus",         trust,                                             no,                          O,                           no],
  ["whiteListStatusSource",   codes("01-03", "80-99"),                           no,                          O,                           no],
  ["trustListStatus",         trust,                                             no,                          no,                          O],
  ["trustListStatusSource",   codes("01-03", "80-99"),                           no,                          no,                          O],
  ["transChallengeExemption", codes("05", "08", "10", "11", "79", "80-99"),      no,                          no,                          O],
  ["spcTransData",            anyObject,                                         no,                          no,                          spc],
  ["webAuthnCredList",        array(999, anyObject),                             no,                          no,                          spc],
  ["sdkTransID",              uuid,                                              O,                           O,                           O],
  ...extensionRows,
];
