/**
 * The binary layout of ISO 8583:1987, twice: banks agree on the rows and differ in which end of an
 * odd number of BCD digits is padded. Field 126 alone has a binary length.
 */
import type { Row, Specification } from "../specification.ts";

// biome-ignore format: a table
const rows: readonly Row[] = [
  [  2, "primary account number",                     "n",   "LL bcd",     19, "bcd"   ],
  [  3, "processing code",                            "n",   "fixed",       6, "bcd"   ],
  [  4, "amount, minor units of 49",                  "n",   "fixed",      12, "bcd"   ],
  [  7, "transmission date and time MMDDhhmmss GMT",  "n",   "fixed",      10, "bcd"   ],
  [ 11, "system trace audit number",                  "n",   "fixed",       6, "bcd"   ],
  [ 12, "local time hhmmss",                          "n",   "fixed",       6, "bcd"   ],
  [ 13, "local date MMDD",                            "n",   "fixed",       4, "bcd"   ],
  [ 14, "expiry YYMM",                                "n",   "fixed",       4, "bcd"   ],
  [ 15, "settlement date MMDD",                       "n",   "fixed",       4, "bcd"   ],
  [ 17, "capture date MMDD",                          "n",   "fixed",       4, "bcd"   ],
  [ 18, "merchant category",                          "n",   "fixed",       4, "bcd"   ],
  [ 19, "acquirer country",                           "n",   "fixed",       3, "bcd"   ],
  [ 22, "entry mode",                                 "n",   "fixed",       3, "bcd"   ],
  [ 23, "card sequence number",                       "n",   "fixed",       3, "bcd"   ],
  [ 25, "condition code",                             "n",   "fixed",       2, "bcd"   ],
  [ 32, "acquirer id",                                "n",   "LL bcd",     11, "bcd"   ],
  [ 33, "forwarder id",                               "n",   "LL bcd",     11, "bcd"   ],

  [ 37, "retrieval reference",                        "an",  "fixed",      12, "ascii" ],
  [ 38, "approval code",                              "an",  "fixed",       6, "ascii" ],
  [ 39, "response code",                              "an",  "fixed",       2, "ascii" ],
  [ 41, "terminal",                                   "ans", "fixed",       8, "ascii" ],
  [ 42, "merchant",                                   "ans", "fixed",      15, "ascii" ],
  [ 43, "merchant name and place",                    "ans", "fixed",      40, "ascii" ],
  [ 44, "additional response",                        "ans", "LL bcd",     25, "ascii" ],
  [ 48, "private data",                               "ans", "LLL bcd",   999, "ascii" ],
  [ 49, "currency",                                   "n",   "fixed",       3, "bcd"   ],

  [ 52, "PIN block",                                  "b",   "fixed",       8, "binary"],
  [ 53, "security control",                           "n",   "fixed",      16, "bcd"   ],
  [ 54, "additional amounts",                         "ans", "LLL bcd",   120, "ascii" ],
  [ 55, "chip data, BER-TLV",                         "b",   "LLL bcd",   255, "binary"],
  [ 60, "additional point of service",                "n",   "LL bcd",     20, "bcd"   ],
  [ 61, "point of service data",                      "ans", "LLL bcd",   999, "ascii" ],
  [ 62, "private use",                                "ans", "LLL bcd",   999, "ascii" ],
  [ 63, "private use",                                "ans", "LLL bcd",   999, "ascii" ],
  [ 64, "message authentication code",                "b",   "fixed",       8, "binary"],

  [ 70, "network management code",                    "n",   "fixed",       3, "bcd"   ],
  [ 90, "original data elements",                     "n",   "fixed",      42, "bcd"   ],
  [ 95, "replacement amounts",                        "an",  "fixed",      42, "ascii" ],
  [126, "private use: 8-byte bitmap, then subfields", "b",   "LL binary", 255, "binary"],
  [128, "message authentication code",                "b",   "fixed",       8, "binary"],
];

export const iso87BinaryLeft: Specification = {
  mti: "bcd",
  bitmap: "binary",
  oddDigits: "left 0",
  rows,
};

export const iso87BinaryRight: Specification = { ...iso87BinaryLeft, oddDigits: "right F" };
