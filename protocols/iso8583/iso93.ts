/**
 * ISO 8583:1993 as text. The fields that decide about money kept their places. Dates, point of
 * service, function and reason codes, action codes and original data have other ones.
 */
import assert from "node:assert/strict";
import type { Specification } from "./specification.ts";

/**
 * The layout. Bytes and bitmaps are upper-case hex, and a length before bytes counts hex
 * characters.
 */
// biome-ignore format: a table
export const iso93Ascii: Specification = {
  mti:       "ascii",
  bitmap:    "hex",
  oddDigits: "none",
  shown:     [31, 62, 63, 66, 72, 95, 99],
  rows: [
    [  2, "primary account number",                      "n",   "LL ascii",   19, "ascii"],
    [  3, "processing code",                             "n",   "fixed",       6, "ascii"],
    [  4, "amount, minor units of 49",                   "n",   "fixed",      12, "ascii"],
    [  5, "amount, reconciliation",                      "n",   "fixed",      12, "ascii"],
    [  6, "amount, cardholder billing",                  "n",   "fixed",      12, "ascii"],
    [  7, "transmission date and time MMDDhhmmss GMT",   "n",   "fixed",      10, "ascii"],
    [  8, "fee, cardholder billing",                     "n",   "fixed",       8, "ascii"],
    [  9, "conversion rate, reconciliation",             "n",   "fixed",       8, "ascii"],
    [ 10, "conversion rate, cardholder billing",         "n",   "fixed",       8, "ascii"],
    [ 11, "system trace audit number",                   "n",   "fixed",       6, "ascii"],
    [ 12, "local date and time YYMMDDhhmmss",            "n",   "fixed",      12, "ascii"],
    [ 13, "effective date YYMM",                         "n",   "fixed",       4, "ascii"],
    [ 14, "expiry YYMM",                                 "n",   "fixed",       4, "ascii"],
    [ 15, "settlement date YYMMDD",                      "n",   "fixed",       6, "ascii"],
    [ 16, "conversion date MMDD",                        "n",   "fixed",       4, "ascii"],
    [ 17, "capture date MMDD",                           "n",   "fixed",       4, "ascii"],
    [ 18, "merchant type",                               "n",   "fixed",       4, "ascii"],
    [ 19, "acquirer country",                            "n",   "fixed",       3, "ascii"],
    [ 20, "card's country",                              "n",   "fixed",       3, "ascii"],
    [ 21, "forwarder country",                           "n",   "fixed",       3, "ascii"],
    [ 22, "point of service data code",                  "an",  "fixed",      12, "ascii"],
    [ 23, "card sequence number",                        "n",   "fixed",       3, "ascii"],
    [ 24, "function code",                               "n",   "fixed",       3, "ascii"],
    [ 25, "message reason code",                         "n",   "fixed",       4, "ascii"],
    [ 26, "merchant category",                           "n",   "fixed",       4, "ascii"],
    [ 27, "approval code length",                        "n",   "fixed",       1, "ascii"],
    [ 28, "reconciliation date YYMMDD",                  "n",   "fixed",       6, "ascii"],
    [ 29, "reconciliation indicator",                    "n",   "fixed",       3, "ascii"],
    [ 30, "original amounts",                            "n",   "fixed",      24, "ascii"],
    [ 31, "acquirer reference data",                     "ans", "LL ascii",   99, "ascii"],
    [ 32, "acquirer id",                                 "n",   "LL ascii",   11, "ascii"],
    [ 33, "forwarder id",                                "n",   "LL ascii",   11, "ascii"],
    [ 34, "extended account number",                     "ans", "LL ascii",   28, "ascii"],
    [ 35, "track 2",                                     "ans", "LL ascii",   37, "ascii"],
    [ 36, "track 3",                                     "ans", "LLL ascii", 104, "ascii"],
    [ 37, "retrieval reference",                         "an",  "fixed",      12, "ascii"],
    [ 38, "approval code",                               "an",  "fixed",       6, "ascii"],
    [ 39, "action code",                                 "n",   "fixed",       3, "ascii"],
    [ 40, "service code",                                "n",   "fixed",       3, "ascii"],
    [ 41, "terminal",                                    "ans", "fixed",       8, "ascii"],
    [ 42, "merchant",                                    "ans", "fixed",      15, "ascii"],
    [ 43, "merchant name and place",                     "ans", "LL ascii",   99, "ascii"],
    [ 44, "additional response",                         "ans", "LL ascii",   99, "ascii"],
    [ 45, "track 1",                                     "ans", "LL ascii",   76, "ascii"],
    [ 46, "fees",                                        "ans", "LLL ascii", 204, "ascii"],
    [ 47, "additional data, national",                   "ans", "LLL ascii", 999, "ascii"],
    [ 48, "additional data, private",                    "ans", "LLL ascii", 999, "ascii"],
    [ 49, "currency",                                    "an",  "fixed",       3, "ascii"],
    [ 50, "currency, reconciliation",                    "an",  "fixed",       3, "ascii"],
    [ 51, "currency, cardholder billing",                "an",  "fixed",       3, "ascii"],
    [ 52, "PIN block",                                   "b",   "fixed",       8, "hex"  ],
    [ 53, "security control",                            "b",   "LL ascii",   48, "hex"  ],
    [ 54, "additional amounts",                          "ans", "LLL ascii", 120, "ascii"],
    [ 55, "chip data, BER-TLV",                          "b",   "LLL ascii", 255, "hex"  ],
    [ 56, "original data elements",                      "n",   "LL ascii",   35, "ascii"],
    [ 57, "authorisation life cycle",                    "n",   "fixed",       3, "ascii"],
    [ 58, "authorising agent id",                        "n",   "LL ascii",   11, "ascii"],
    [ 59, "transport data, echoed",                      "ans", "LLL ascii", 999, "ascii"],
    [ 60, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [ 61, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [ 62, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [ 63, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [ 64, "message authentication code",                 "b",   "fixed",       8, "hex"  ],
    [ 66, "original fees",                               "ans", "LLL ascii", 204, "ascii"],
    [ 67, "extended payment data",                       "n",   "fixed",       2, "ascii"],
    [ 68, "receiver country",                            "n",   "fixed",       3, "ascii"],
    [ 69, "settlement country",                          "n",   "fixed",       3, "ascii"],
    [ 70, "authorising agent country",                   "n",   "fixed",       3, "ascii"],
    [ 71, "message number",                              "n",   "fixed",       8, "ascii"],
    [ 72, "data record",                                 "ans", "LLL ascii", 999, "ascii"],
    [ 73, "action date YYMMDD",                          "n",   "fixed",       6, "ascii"],
    [ 74, "credits, count",                              "n",   "fixed",      10, "ascii"],
    [ 75, "credits, reversal count",                     "n",   "fixed",      10, "ascii"],
    [ 76, "debits, count",                               "n",   "fixed",      10, "ascii"],
    [ 77, "debits, reversal count",                      "n",   "fixed",      10, "ascii"],
    [ 78, "transfers, count",                            "n",   "fixed",      10, "ascii"],
    [ 79, "transfers, reversal count",                   "n",   "fixed",      10, "ascii"],
    [ 80, "inquiries, count",                            "n",   "fixed",      10, "ascii"],
    [ 81, "authorisations, count",                       "n",   "fixed",      10, "ascii"],
    [ 82, "inquiries, reversal count",                   "n",   "fixed",      10, "ascii"],
    [ 83, "payments, count",                             "n",   "fixed",      10, "ascii"],
    [ 84, "payments, reversal count",                    "n",   "fixed",      10, "ascii"],
    [ 85, "fee collections, count",                      "n",   "fixed",      10, "ascii"],
    [ 86, "credits, amount",                             "n",   "fixed",      16, "ascii"],
    [ 87, "credits, reversal amount",                    "n",   "fixed",      16, "ascii"],
    [ 88, "debits, amount",                              "n",   "fixed",      16, "ascii"],
    [ 89, "debits, reversal amount",                     "n",   "fixed",      16, "ascii"],
    [ 90, "authorisations, reversal count",              "n",   "fixed",      10, "ascii"],
    [ 91, "destination country",                         "n",   "fixed",       3, "ascii"],
    [ 92, "originator country",                          "n",   "fixed",       3, "ascii"],
    [ 93, "destination id",                              "n",   "LL ascii",   11, "ascii"],
    [ 94, "originator id",                               "n",   "LL ascii",   11, "ascii"],
    [ 95, "issuer reference data",                       "ans", "LL ascii",   99, "ascii"],
    [ 96, "key management data",                         "b",   "LLL ascii", 499, "hex"  ],
    [ 97, "net amount, C or D first",                    "an",  "fixed",      17, "ascii"],
    [ 98, "payee",                                       "ans", "fixed",      25, "ascii"],
    [ 99, "settlement institution id",                   "ans", "LL ascii",   11, "ascii"],
    [100, "receiver id",                                 "n",   "LL ascii",   11, "ascii"],
    [101, "file name",                                   "ans", "LL ascii",   17, "ascii"],
    [102, "account 1",                                   "ans", "LL ascii",   28, "ascii"],
    [103, "account 2",                                   "ans", "LL ascii",   28, "ascii"],
    [104, "transaction description",                     "ans", "LLL ascii", 100, "ascii"],
    [105, "credits, chargeback amount",                  "n",   "fixed",      16, "ascii"],
    [106, "debits, chargeback amount",                   "n",   "fixed",      16, "ascii"],
    [107, "credits, chargeback count",                   "n",   "fixed",      10, "ascii"],
    [108, "debits, chargeback count",                    "n",   "fixed",      10, "ascii"],
    [109, "credits, fee amounts",                        "ans", "LL ascii",   84, "ascii"],
    [110, "debits, fee amounts",                         "ans", "LL ascii",   84, "ascii"],
    [111, "reserved",                                    "ans", "LLL ascii", 999, "ascii"],
    [112, "reserved",                                    "ans", "LLL ascii", 999, "ascii"],
    [113, "reserved",                                    "ans", "LLL ascii", 999, "ascii"],
    [114, "reserved",                                    "ans", "LLL ascii", 999, "ascii"],
    [115, "reserved",                                    "ans", "LLL ascii", 999, "ascii"],
    [116, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [117, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [118, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [119, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [120, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [121, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [122, "national use",                                "ans", "LLL ascii", 999, "ascii"],
    [123, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [124, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [125, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [126, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [127, "private use",                                 "ans", "LLL ascii", 999, "ascii"],
    [128, "message authentication code",                 "b",   "fixed",       8, "hex"  ],
  ],
};

/** Field 56, which names another message by its fields 11, 12 and 32. */
type OriginalData93 = {
  readonly mti: string;
  readonly stan: string;
  /** The time as YYMMDDhhmmss in the terminal's time zone. */
  readonly localTime: string;
  readonly acquirerId: string;
};

export function writeOriginalData93({ mti, stan, localTime, acquirerId }: OriginalData93): string {
  const widths = [mti.length, stan.length, localTime.length];
  assert.deepEqual(widths, [4, 6, 12], "a part of the original data has the wrong width");
  const text = mti + stan + localTime + String(acquirerId.length).padStart(2, "0") + acquirerId;
  assert.match(text, /^[0-9]{24,35}$/, "the original data are not digits, or too many");
  return text;
}
