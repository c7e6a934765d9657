/**
 * The layouts of ISO 8583:1987 that Tollgate speaks: text throughout, binary, and binary with the
 * private fields of hosts close to the card networks.
 */
import type { Composite, FieldRow, Specification } from "./specification.ts";
import type { Positions } from "./subfields.ts";

/** Bytes and bitmaps are upper-case hex; the length before field 55 counts hex characters. */
// biome-ignore format: a table
export const iso87Ascii: Specification = {
  mti:       "ascii",
  bitmap:    "hex",
  oddDigits: "none",
  rows: [
    [  2, "primary account number",                    "n",   "LL ascii",   19, "ascii"],
    [  3, "processing code",                           "n",   "fixed",       6, "ascii"],
    [  4, "amount, minor units of 49",                 "n",   "fixed",      12, "ascii"],
    [  7, "transmission date and time MMDDhhmmss GMT", "n",   "fixed",      10, "ascii"],
    [ 11, "system trace audit number",                 "n",   "fixed",       6, "ascii"],
    [ 12, "local time hhmmss",                         "n",   "fixed",       6, "ascii"],
    [ 13, "local date MMDD",                           "n",   "fixed",       4, "ascii"],
    [ 14, "expiry YYMM",                               "n",   "fixed",       4, "ascii"],
    [ 15, "settlement date MMDD",                      "n",   "fixed",       4, "ascii"],
    [ 17, "capture date MMDD",                         "n",   "fixed",       4, "ascii"],
    [ 18, "merchant category",                         "n",   "fixed",       4, "ascii"],
    [ 19, "acquirer country",                          "n",   "fixed",       3, "ascii"],
    [ 22, "entry mode",                                "n",   "fixed",       3, "ascii"],
    [ 23, "card sequence number",                      "n",   "fixed",       3, "ascii"],
    [ 25, "condition code",                            "n",   "fixed",       2, "ascii"],
    [ 32, "acquirer id",                               "n",   "LL ascii",   11, "ascii"],
    [ 33, "forwarder id",                              "n",   "LL ascii",   11, "ascii"],

    [ 37, "retrieval reference",                       "an",  "fixed",      12, "ascii"],
    [ 38, "approval code",                             "an",  "fixed",       6, "ascii"],
    [ 39, "response code",                             "an",  "fixed",       2, "ascii"],
    [ 41, "terminal",                                  "ans", "fixed",       8, "ascii"],
    [ 42, "merchant",                                  "ans", "fixed",      15, "ascii"],
    [ 43, "merchant name and place",                   "ans", "fixed",      40, "ascii"],
    [ 44, "additional response",                       "ans", "LL ascii",   25, "ascii"],
    [ 48, "private data",                              "ans", "LLL ascii", 999, "ascii"],
    [ 49, "currency",                                  "n",   "fixed",       3, "ascii"],

    [ 52, "PIN block",                                 "b",   "fixed",       8, "hex"  ],
    [ 53, "security control",                          "n",   "fixed",      16, "ascii"],
    [ 54, "additional amounts",                        "ans", "LLL ascii", 120, "ascii"],
    [ 55, "chip data, BER-TLV",                        "b",   "LLL ascii", 255, "hex"  ],
    [ 60, "additional point of service",               "ans", "LLL ascii", 999, "ascii"],
    [ 61, "point of service data",                     "ans", "LLL ascii", 999, "ascii"],
    [ 62, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [ 63, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [ 64, "message authentication code",               "b",   "fixed",       8, "hex"  ],

    [ 70, "network management code",                   "n",   "fixed",       3, "ascii"],
    [ 90, "original data elements",                    "n",   "fixed",      42, "ascii"],
    [ 95, "replacement amounts",                       "an",  "fixed",      42, "ascii"],
    [126, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [128, "message authentication code",               "b",   "fixed",       8, "hex"  ],
  ],
};

/**
 * The same fields with their digits packed and their bytes as they are. Banks agree on the rows and
 * differ in which end of an odd number of digits is padded.
 */
export const iso87BinaryLeft: Specification = {
  mti: "bcd",
  bitmap: "binary",
  oddDigits: "left 0",
  rows: replaceRows(iso87Ascii.rows.map(packRow), [
    [60, "additional point of service", "n", "LL bcd", 20, "bcd"],
    [126, "private use: 8-byte bitmap, then subfields", "b", "LL binary", 255, "binary"],
  ]),
};

export const iso87BinaryRight: Specification = { ...iso87BinaryLeft, oddDigits: "right F" };

// biome-ignore format: a table
export const pointOfService60: Positions = {
  field: 60,
  content: "n",
  fill: "0",
  rows: [
    [ 1, "terminal type",                       1],
    [ 2, "terminal entry capability",           1],
    [ 3, "chip condition",                      1],
    [ 4, "special condition",                   1],
    [ 5, "reserved",                            2],
    [ 6, "chip transaction",                    1],
    [ 7, "chip authentication reliability",     1],
    [ 8, "electronic commerce indicator",       2],
  ],
};

// biome-ignore format: a table
export const payment62: Composite = {
  field: 62,
  oddDigits: "left 0",
  rows: [
    [ 2, "network transaction id",              "n",   "fixed",  15, "bcd"   ],
  ],
};

// biome-ignore format: a table
export const cardholder63: Positions = {
  field: 63,
  content: "ans",
  fill: " ",
  rows: [
    [ 1, "loyalty balance",                    12],
    [ 2, "loyalty bonus",                      12],
    [ 3, "loyalty program",                    25],
    [ 4, "loyalty message",                    60],
    [ 5, "explanation of a refusal",          120],
  ],
};

// biome-ignore format: a table
export const security126: Composite = {
  field: 126,
  oddDigits: "left 0",
  rows: [
    [ 9, "authentication value (CAVV)",         "b",   "fixed",  20, "binary"],
    [10, "CVV2: given, answer wanted, value",   "an",  "fixed",   6, "ascii" ],
    [13, "point of service environment",        "an",  "fixed",   1, "ascii" ],
  ],
};
export const iso87Bitmapped: Specification = {
  ...iso87BinaryLeft,
  rows: replaceRows(iso87BinaryLeft.rows, [
    [62, "payment: 8-byte bitmap, then subfields", "b", "LL binary", 255, "binary"],
  ]),
  composites: [payment62, security126],
};

function packRow([field, name, content, prefix, lengthMax]: FieldRow): FieldRow {
  const encodings = { n: "bcd", an: "ascii", ans: "ascii", b: "binary" } as const;
  let packedPrefix = prefix;
  if (prefix === "LL ascii") packedPrefix = "LL bcd";
  if (prefix === "LLL ascii") packedPrefix = "LLL bcd";
  return [field, name, content, packedPrefix, lengthMax, encodings[content]];
}

function replaceRows(rows: readonly FieldRow[], others: readonly FieldRow[]): readonly FieldRow[] {
  return rows.map((row) => others.find(([field]) => field === row[0]) ?? row);
}
