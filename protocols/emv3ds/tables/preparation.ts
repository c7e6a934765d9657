/** PReq and PRes, whose card ranges have one shape up to 2.2.0 and another in 2.3.1. */
import {
  array,
  codes,
  country,
  digits,
  object,
  oneOf,
  protocolVersion,
  provided,
  text,
  url,
  uuid,
} from "../checks.ts";
import { isNotDeleted } from "../conditions.ts";
import { textOf } from "../message.ts";
import { type Condition, no, O, R, type Row, when } from "../rows.ts";
import { extensionRows } from "./extension.ts";

const rangesMax = 1_000_000;
const card = digits(13, 19);

// biome-ignore format: a table
export const preq: readonly Row[] = [
  // element                  value        2.1.0 2.2.0 2.3.1
  ["threeDSServerRefNumber",  text(1, 32), R, R, R],
  ["threeDSServerOperatorID", text(1, 32), O, O, O],
  ["threeDSServerTransID",    uuid,        R, R, R],
  ["serialNum",               text(1, 20), O, O, O],
  ...extensionRows,
];

// biome-ignore format: a table
const spanRows: readonly Row[] = [
  ["start", card,                                  no, no, R],
  ["end",   provided(card, rises("start", "end")), no, no, R],
];

// biome-ignore format: a table
const acsVersionRows: readonly Row[] = [
  ["version",          protocolVersion,                    no, no, R],
  ["acsInfoInd",       array(99, codes("01-11", "80-99")), no, no, O],
  ["threeDSMethodURL", url(2048),                          no, no, O],
];

// biome-ignore format: a table
const rangeRows: readonly Row[] = [
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

// biome-ignore format: a table
export const pres: readonly Row[] = [
  ["threeDSServerTransID",   uuid,                                R, R, R],
  ["dsTransID",              uuid,                                R, R, R],
  ["serialNum",              text(1, 20),                         O, O, O],
  ["dsStartProtocolVersion", protocolVersion,                     R, R, no],
  ["dsEndProtocolVersion",   protocolVersion,                     R, R, no],
  ["cardRangeData",          array(rangesMax, object(rangeRows)), O, O, O],
  ...extensionRows,
];

function rises(start: string, end: string): Condition {
  return ({ own }) => {
    const [first, last] = [textOf(own, start) ?? "", textOf(own, end) ?? ""];
    return first.length === last.length && first <= last;
  };
}
