/**
 * The ASCII layout of ISO 8583:1987, readable as text throughout: bytes and bitmaps are upper-case
 * hex, and the length before field 55 counts the hex characters, not the bytes.
 */
import type { Specification } from "../specification.ts";

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
