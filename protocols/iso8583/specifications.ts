/**
 * The layouts of ISO 8583:1987 that Tollgate uses: text, binary, and binary with the private fields
 * of hosts close to the card networks. Every data element has a row, so that an answer with
 * elements that the gateway does not use is still read. Bit 65, which announces a third bitmap, has
 * none and is refused.
 */
import type { Composite, FieldRow, Specification } from "./specification.ts";
import type { Positions } from "./subfields.ts";

/**
 * The text layout. Bytes and bitmaps are upper-case hex, and the length before field 55 counts hex
 * characters.
 */
// biome-ignore format: a table
export const iso87Ascii: Specification = {
  mti:       "ascii",
  bitmap:    "hex",
  oddDigits: "none",
  shown:     [62, 63],
  rows: [
    [  2, "primary account number",                    "n",   "LL ascii",   19, "ascii"],
    [  3, "processing code",                           "n",   "fixed",       6, "ascii"],
    [  4, "amount, minor units of 49",                 "n",   "fixed",      12, "ascii"],
    [  5, "amount, settlement",                        "n",   "fixed",      12, "ascii"],
    [  6, "amount, cardholder billing",                "n",   "fixed",      12, "ascii"],
    [  7, "transmission date and time MMDDhhmmss GMT", "n",   "fixed",      10, "ascii"],
    [  8, "fee, cardholder billing",                   "n",   "fixed",       8, "ascii"],
    [  9, "conversion rate, settlement",               "n",   "fixed",       8, "ascii"],
    [ 10, "conversion rate, cardholder billing",       "n",   "fixed",       8, "ascii"],
    [ 11, "system trace audit number",                 "n",   "fixed",       6, "ascii"],
    [ 12, "local time hhmmss",                         "n",   "fixed",       6, "ascii"],
    [ 13, "local date MMDD",                           "n",   "fixed",       4, "ascii"],
    [ 14, "expiry YYMM",                               "n",   "fixed",       4, "ascii"],
    [ 15, "settlement date MMDD",                      "n",   "fixed",       4, "ascii"],
    [ 16, "conversion date MMDD",                      "n",   "fixed",       4, "ascii"],
    [ 17, "capture date MMDD",                         "n",   "fixed",       4, "ascii"],
    [ 18, "merchant category",                         "n",   "fixed",       4, "ascii"],
    [ 19, "acquirer country",                          "n",   "fixed",       3, "ascii"],
    [ 20, "card number's country",                     "n",   "fixed",       3, "ascii"],
    [ 21, "forwarder country",                         "n",   "fixed",       3, "ascii"],
    [ 22, "entry mode",                                "n",   "fixed",       3, "ascii"],
    [ 23, "card sequence number",                      "n",   "fixed",       3, "ascii"],
    [ 24, "network international id",                  "n",   "fixed",       3, "ascii"],
    [ 25, "condition code",                            "n",   "fixed",       2, "ascii"],
    [ 26, "PIN capture code",                          "n",   "fixed",       2, "ascii"],
    [ 27, "length of approval codes",                  "n",   "fixed",       1, "ascii"],
    [ 28, "transaction fee: C or D, digits",           "an",  "fixed",       9, "ascii"],
    [ 29, "settlement fee: C or D, digits",            "an",  "fixed",       9, "ascii"],
    [ 30, "processing fee: C or D, digits",            "an",  "fixed",       9, "ascii"],
    [ 31, "settlement processing fee: C or D, digits", "an",  "fixed",       9, "ascii"],
    [ 32, "acquirer id",                               "n",   "LL ascii",   11, "ascii"],
    [ 33, "forwarder id",                              "n",   "LL ascii",   11, "ascii"],
    [ 34, "primary account number, extended",          "ans", "LL ascii",   28, "ascii"],
    [ 35, "track 2",                                   "z",   "LL ascii",   37, "ascii"],
    [ 36, "track 3",                                   "z",   "LLL ascii", 104, "ascii"],
    [ 37, "retrieval reference",                       "an",  "fixed",      12, "ascii"],
    [ 38, "approval code",                             "an",  "fixed",       6, "ascii"],
    [ 39, "response code",                             "an",  "fixed",       2, "ascii"],
    [ 40, "service restriction code",                  "an",  "fixed",       3, "ascii"],
    [ 41, "terminal",                                  "ans", "fixed",       8, "ascii"],
    [ 42, "merchant",                                  "ans", "fixed",      15, "ascii"],
    [ 43, "merchant name and place",                   "ans", "fixed",      40, "ascii"],
    [ 44, "additional response",                       "ans", "LL ascii",   25, "ascii"],
    [ 45, "track 1",                                   "ans", "LL ascii",   76, "ascii"],
    [ 46, "additional data, ISO",                      "ans", "LLL ascii", 999, "ascii"],
    [ 47, "additional data, national",                 "ans", "LLL ascii", 999, "ascii"],
    [ 48, "private data",                              "ans", "LLL ascii", 999, "ascii"],
    [ 49, "currency",                                  "n",   "fixed",       3, "ascii"],
    [ 50, "currency, settlement",                      "n",   "fixed",       3, "ascii"],
    [ 51, "currency, cardholder billing",              "n",   "fixed",       3, "ascii"],
    [ 52, "PIN block",                                 "b",   "fixed",       8, "hex"  ],
    [ 53, "security control",                          "n",   "fixed",      16, "ascii"],
    [ 54, "additional amounts",                        "ans", "LLL ascii", 120, "ascii"],
    [ 55, "chip data, BER-TLV",                        "b",   "LLL ascii", 255, "hex"  ],
    [ 56, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [ 57, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [ 58, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [ 59, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [ 60, "additional point of service",               "ans", "LLL ascii", 999, "ascii"],
    [ 61, "point of service data",                     "ans", "LLL ascii", 999, "ascii"],
    [ 62, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [ 63, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [ 64, "message authentication code",               "b",   "fixed",       8, "hex"  ],
    [ 66, "settlement code",                           "n",   "fixed",       1, "ascii"],
    [ 67, "extended payment code",                     "n",   "fixed",       2, "ascii"],
    [ 68, "receiver country",                          "n",   "fixed",       3, "ascii"],
    [ 69, "settlement institution country",            "n",   "fixed",       3, "ascii"],
    [ 70, "network management code",                   "n",   "fixed",       3, "ascii"],
    [ 71, "message number",                            "n",   "fixed",       4, "ascii"],
    [ 72, "last message number",                       "n",   "fixed",       4, "ascii"],
    [ 73, "date of action YYMMDD",                     "n",   "fixed",       6, "ascii"],
    [ 74, "number of credits",                         "n",   "fixed",      10, "ascii"],
    [ 75, "number of reversals of credits",            "n",   "fixed",      10, "ascii"],
    [ 76, "number of debits",                          "n",   "fixed",      10, "ascii"],
    [ 77, "number of reversals of debits",             "n",   "fixed",      10, "ascii"],
    [ 78, "number of transfers",                       "n",   "fixed",      10, "ascii"],
    [ 79, "number of reversals of transfers",          "n",   "fixed",      10, "ascii"],
    [ 80, "number of inquiries",                       "n",   "fixed",      10, "ascii"],
    [ 81, "number of authorisations",                  "n",   "fixed",      10, "ascii"],
    [ 82, "credits, processing fee",                   "n",   "fixed",      12, "ascii"],
    [ 83, "credits, transaction fee",                  "n",   "fixed",      12, "ascii"],
    [ 84, "debits, processing fee",                    "n",   "fixed",      12, "ascii"],
    [ 85, "debits, transaction fee",                   "n",   "fixed",      12, "ascii"],
    [ 86, "amount of credits",                         "n",   "fixed",      16, "ascii"],
    [ 87, "amount of reversals of credits",            "n",   "fixed",      16, "ascii"],
    [ 88, "amount of debits",                          "n",   "fixed",      16, "ascii"],
    [ 89, "amount of reversals of debits",             "n",   "fixed",      16, "ascii"],
    [ 90, "original data elements",                    "n",   "fixed",      42, "ascii"],
    [ 91, "file update code",                          "an",  "fixed",       1, "ascii"],
    [ 92, "file security code",                        "an",  "fixed",       2, "ascii"],
    [ 93, "response indicator",                        "an",  "fixed",       5, "ascii"],
    [ 94, "service indicator",                         "an",  "fixed",       7, "ascii"],
    [ 95, "replacement amounts",                       "an",  "fixed",      42, "ascii"],
    [ 96, "message security code",                     "b",   "fixed",       8, "hex"  ],
    [ 97, "net settlement: C or D, digits",            "an",  "fixed",      17, "ascii"],
    [ 98, "payee",                                     "ans", "fixed",      25, "ascii"],
    [ 99, "settlement institution id",                 "n",   "LL ascii",   11, "ascii"],
    [100, "receiver id",                               "n",   "LL ascii",   11, "ascii"],
    [101, "file name",                                 "ans", "LL ascii",   17, "ascii"],
    [102, "account 1",                                 "ans", "LL ascii",   28, "ascii"],
    [103, "account 2",                                 "ans", "LL ascii",   28, "ascii"],
    [104, "transaction description",                   "ans", "LLL ascii", 100, "ascii"],
    [105, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [106, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [107, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [108, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [109, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [110, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [111, "reserved, ISO",                             "ans", "LLL ascii", 999, "ascii"],
    [112, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [113, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [114, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [115, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [116, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [117, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [118, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [119, "reserved, national",                        "ans", "LLL ascii", 999, "ascii"],
    [120, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [121, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [122, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [123, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [124, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [125, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [126, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [127, "private use",                               "ans", "LLL ascii", 999, "ascii"],
    [128, "message authentication code",               "b",   "fixed",       8, "hex"  ],
  ],
};

/**
 * The same fields with packed digits and plain bytes. Hosts agree on the rows and differ in which
 * end of an odd number of digits is padded.
 */
export const iso87BinaryLeft: Specification = {
  mti: "bcd",
  bitmap: "binary",
  oddDigits: "left 0",
  shown: [60, 63],
  rows: replaceRows(iso87Ascii.rows.map(packRow), [
    // These values are a letter and packed digits, which are kept as bytes.
    [28, "transaction fee", "b", "fixed", 5, "binary"],
    [29, "settlement fee", "b", "fixed", 5, "binary"],
    [30, "processing fee", "b", "fixed", 5, "binary"],
    [31, "settlement processing fee", "b", "fixed", 5, "binary"],
    [97, "net settlement", "b", "fixed", 9, "binary"],
    [60, "additional point of service", "n", "LL bcd", 20, "bcd"],
    [126, "private use: 8-byte bitmap, then subfields", "b", "LL binary", 255, "binary"],
  ]),
};

export const iso87BinaryRight: Specification = { ...iso87BinaryLeft, oddDigits: "right F" };

export const pointOfService60: Positions = {
  field: 60,
  content: "n",
  fill: "0",
  rows: [
    [1, "terminal type", 1],
    [2, "terminal entry capability", 1],
    [3, "chip condition", 1],
    [4, "special condition", 1],
    [5, "reserved", 2],
    [6, "chip transaction", 1],
    [7, "chip authentication reliability", 1],
    [8, "electronic commerce indicator", 2],
  ],
};

/** The issuer's results. An answer may end after any of them. */
export const response44: Positions = {
  field: 44,
  content: "ans",
  fill: " ",
  rows: [
    [1, "source of the answer", 1],
    [2, "address verification result", 1],
    [3, "reserved", 1],
    [4, "product", 1],
    [5, "result of the card's own verification value", 1],
    [6, "diversion level", 2],
    [7, "diversion reason", 1],
    [8, "card authentication result", 1],
    [9, "reserved", 1],
    [10, "CVV2 result", 1],
    [11, "original response code", 2],
    [12, "check settlement", 1],
    [13, "CAVV result", 1],
    [14, "reason of the answer", 4],
  ],
};

export const payment62: Composite = {
  field: 62,
  oddDigits: "left 0",
  rows: [
    [1, "authorisation characteristics", "ans", "fixed", 1, "ascii"],
    [2, "network transaction id", "n", "fixed", 15, "bcd"],
    [3, "validation code", "ans", "fixed", 4, "ascii"],
    [4, "market", "ans", "fixed", 1, "ascii"],
    [5, "duration", "n", "fixed", 2, "bcd"],
    [6, "prestigious property", "ans", "fixed", 1, "ascii"],
    [7, "purchase id", "ans", "fixed", 26, "ascii"],
    [17, "interchange compliance", "ans", "fixed", 15, "ascii"],
    [20, "merchant verification value", "b", "fixed", 5, "binary"],
    [21, "risk score and reasons", "ans", "fixed", 4, "ascii"],
    [22, "risk conditions", "ans", "fixed", 6, "ascii"],
    [23, "product", "ans", "fixed", 2, "ascii"],
    [24, "program", "ans", "fixed", 6, "ascii"],
  ],
};

export const cardholder63: Positions = {
  field: 63,
  content: "ans",
  fill: " ",
  rows: [
    [1, "loyalty balance", 12],
    [2, "loyalty bonus", 12],
    [3, "loyalty program", 25],
    [4, "loyalty message", 60],
    [5, "explanation of a refusal", 120],
  ],
};

export const security126: Composite = {
  field: 126,
  oddDigits: "left 0",
  rows: [
    [9, "authentication value (CAVV)", "b", "fixed", 20, "binary"],
    [10, "CVV2: given, answer wanted, value", "an", "fixed", 6, "ascii"],
    [13, "point of service environment", "an", "fixed", 1, "ascii"],
    [15, "UCAF collection indicator", "an", "fixed", 1, "ascii"],
    [16, "UCAF", "ans", "LL binary", 32, "ascii"],
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
  const encodings = { n: "bcd", z: "bcd", an: "ascii", ans: "ascii", b: "binary" } as const;
  let packedPrefix = prefix;
  if (prefix === "LL ascii") packedPrefix = "LL bcd";
  if (prefix === "LLL ascii") packedPrefix = "LLL bcd";
  return [field, name, content, packedPrefix, lengthMax, encodings[content]];
}

function replaceRows(rows: readonly FieldRow[], others: readonly FieldRow[]): readonly FieldRow[] {
  return rows.map((row) => others.find(([field]) => field === row[0]) ?? row);
}
