/**
 * The table of every message except the AReq: preparation, answer, challenge, result and error. The
 * type and version are checked before a table is chosen.
 */
import { areq } from "./areq.ts";
import {
  anyObject,
  array,
  authenticationValue,
  type Condition,
  codes,
  country,
  digits,
  type ElementRow,
  extensionRows,
  no,
  O,
  object,
  oneOf,
  printable,
  protocolVersion,
  provided,
  R,
  text,
  url,
  uuid,
  when,
} from "./checks.ts";
import {
  hasNoSdk,
  isChallengedInBrowser,
  isNotDeleted,
  isPayment,
  isPossibleAnswer,
  isProven,
  statusIs,
} from "./conditions.ts";
import { type MessageType, textOf } from "./message.ts";

const card = digits(13, 19);

const spanRows: readonly ElementRow[] = [
  ["start", card, no, no, R],
  ["end", provided(card, rises("start", "end")), no, no, R],
];

const acsVersionRows: readonly ElementRow[] = [
  ["version", protocolVersion, no, no, R],
  ["acsInfoInd", array(99, codes("01-11", "80-99")), no, no, O],
  ["threeDSMethodURL", url(2048), no, no, O],
];

// biome-ignore format: a table
const rangeRows: readonly ElementRow[] = [
  ["startRange",              card,                                            R,                  R,                  no],
  ["endRange",                provided(card, rises("startRange", "endRange")), R,                  R,                  no],
  ["ranges",                  array(5000, object(spanRows)),                   no,                 no,                 R],
  ["actionInd",               oneOf("A", "D", "M"),                            O,                  O,                  O],
  ["acsStartProtocolVersion", protocolVersion,                                 when(isNotDeleted), when(isNotDeleted), no],
  ["acsEndProtocolVersion",   protocolVersion,                                 when(isNotDeleted), when(isNotDeleted), no],
  ["acsProtocolVersions",     array(99, object(acsVersionRows)),               no,                 no,                 when(isNotDeleted)],
  ["dsStartProtocolVersion",  protocolVersion,                                 O,                  O,                  no],
  ["dsEndProtocolVersion",    protocolVersion,                                 O,                  O,                  no],
  ["dsProtocolVersions",      array(99, protocolVersion),                      no,                 no,                 O],
  ["threeDSMethodURL",        url(256),                                        O,                  O,                  no],
  ["acsInfoInd",              array(99, codes("01-04", "80-99")),              no,                 O,                  no],
  ["issuerCountryCode",       country,                                         no,                 no,                 O],
];

const refused = when(statusIs("N", "U", "R"));
const challenged = when(statusIs("C", "D"));
const decoupled = when(statusIs("D"));
const spc = when(statusIs("S"));
const answered = when(statusIs("Y", "N"));
const trust = oneOf("Y", "N", "E", "P", "R", "U");

/** The outcome as an ARes and an RReq report it. */
// biome-ignore format: a table
const outcomeRows: readonly ElementRow[] = [
  ["transStatusReason",     codes("01-26", "80-99"), refused,        refused,        no],
  ["transStatusReason",     codes("01-30", "80-99"), no,             no,             refused],
  ["transStatusReasonInfo", text(1, 256),            no,             no,             O],
  ["authenticationValue",   authenticationValue,     when(isProven), when(isProven), no],
  ["authenticationValue",   text(1, 4000),           no,             no,             when(isProven)],
  ["eci",                   printable(2),            O,              O,              O],
];

const trustRows: readonly ElementRow[] = [
  ["whiteListStatus", trust, no, O, no],
  ["whiteListStatusSource", codes("01-03", "80-99"), no, O, no],
  ["trustListStatus", trust, no, no, O],
  ["trustListStatusSource", codes("01-03", "80-99"), no, no, O],
];

// biome-ignore format: a table
export const tables: Readonly<Record<MessageType, readonly ElementRow[]>> = {
  PReq: [
    // element                  value        2.1.0 2.2.0 2.3.1
    ["threeDSServerRefNumber",  text(1, 32), R, R, R],
    ["threeDSServerOperatorID", text(1, 32), O, O, O],
    ["threeDSServerTransID",    uuid,        R, R, R],
    ["serialNum",               text(1, 20), O, O, O],
    ...extensionRows,
  ],

  PRes: [
    ["threeDSServerTransID",   uuid,                                R, R, R],
    ["dsTransID",              uuid,                                R, R, R],
    ["serialNum",              text(1, 20),                         O, O, O],
    ["dsStartProtocolVersion", protocolVersion,                     R, R, no],
    ["dsEndProtocolVersion",   protocolVersion,                     R, R, no],
    ["cardRangeData",          array(1_000_000, object(rangeRows)), O, O, O],
    ...extensionRows,
  ],

  AReq: areq,

  ARes: [
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
    ...outcomeRows,
    ["acsURL",                  url(2048),                                         when(isChallengedInBrowser), when(isChallengedInBrowser), when(isChallengedInBrowser)],
    ["acsChallengeMandated",    oneOf("Y", "N"),                                   challenged,                  challenged,                  challenged],
    ["authenticationType",      codes("01-03", "80-99"),                           challenged,                  no,                          no],
    ["authenticationType",      codes("01-04", "80-99"),                           no,                          challenged,                  no],
    ["authenticationMethod",    array(99, codes("01-16", "80-99")),                no,                          no,                          challenged],
    ["acsDecConInd",            oneOf("Y", "N"),                                   no,                          decoupled,                   decoupled],
    ["cardholderInfo",          text(1, 128),                                      O,                           decoupled,                   no],
    ["cardholderInfo",          object([["text", text(1, 128), no, no, R]]),       no,                          no,                          decoupled],
    ...trustRows,
    ["transChallengeExemption", codes("05", "08", "10", "11", "79", "80-99"),      no,                          no,                          O],
    ["spcTransData",            anyObject,                                         no,                          no,                          spc],
    ["webAuthnCredList",        array(999, anyObject),                             no,                          no,                          spc],
    ["sdkTransID",              uuid,                                              O,                           O,                           O],
    ...extensionRows,
  ],

  CReq: [
    // element               value           2.1.0           2.2.0           2.3.1
    ["threeDSServerTransID", uuid,           R,              R,              R],
    ["acsTransID",           uuid,           R,              R,              R],
    ["challengeWindowSize",  codes("01-05"), when(hasNoSdk), when(hasNoSdk), when(hasNoSdk)],
    ...extensionRows,
  ],

  CRes: [
    ["threeDSServerTransID",   uuid,            R, R, R],
    ["acsTransID",             uuid,            R, R, R],
    ["transStatus",            oneOf("Y", "N"), R, R, R],
    ["challengeCompletionInd", oneOf("Y", "N"), O, O, O],
    ...extensionRows,
  ],

  RReq: [
    ["threeDSServerTransID",  uuid,                               R,               R,               R],
    ["dsTransID",             uuid,                               R,               R,               R],
    ["acsTransID",            uuid,                               R,               R,               R],
    ["messageCategory",       codes("01", "02", "80-99"),         R,               R,               R],
    ["transStatus",           oneOf(..."YNUAR"),                  when(isPayment), when(isPayment), no],
    ["transStatus",           oneOf(..."YNUARD"),                 no,              no,              when(isPayment)],
    ...outcomeRows,
    ["authenticationType",    codes("01-03", "80-99"),            answered,        no,              no],
    ["authenticationType",    codes("01-04", "80-99"),            no,              answered,        no],
    ["authenticationMethod",  array(99, codes("01-16", "80-99")), no,              no,              answered],
    ["interactionCounter",    digits(2, 2),                       R,               R,               R],
    ["challengeCancel",       codes("01-08", "80-99"),            O,               O,               no],
    ["challengeCancel",       codes("01-10", "80-99"),            no,              no,              O],
    ...trustRows,
    ...extensionRows,
  ],

  RRes: [
    ["threeDSServerTransID", uuid,                    R, R, R],
    ["dsTransID",            uuid,                    R, R, R],
    ["acsTransID",           uuid,                    R, R, R],
    ["resultsStatus",        codes("01-03", "80-99"), R, R, R],
    ...extensionRows,
  ],

  /** An Erro is never answered with another one, so only what its reader needs is required. */
  Erro: [
    // element               value                      2.1.0 2.2.0 2.3.1
    ["threeDSServerTransID", uuid,                      O, O, O],
    ["dsTransID",            uuid,                      O, O, O],
    ["acsTransID",           uuid,                      O, O, O],
    ["errorCode",            digits(3, 3),              R, R, R],
    ["errorComponent",       oneOf("C", "S", "D", "A"), R, R, R],
    ["errorDescription",     text(1, 2048),             R, R, R],
    ["errorDetail",          text(1, 2048),             R, R, R],
    ["errorMessageType",     text(4, 4),                O, O, O],
  ],
};

function rises(start: string, end: string): Condition {
  return ({ own }) => {
    const [first, last] = [textOf(own, start) ?? "", textOf(own, end) ?? ""];
    return first.length === last.length && first <= last;
  };
}
