/**
 * The binary layout of ISO 8583:1987 with the private fields that hosts close to the card networks
 * give it: 60 by places, 62 and 126 as bitmaps with sub-fields, and words for the cardholder in 63.
 */
import type { Positions } from "../positions.ts";
import type { Composite, Row, Specification } from "../specification.ts";
import { iso87BinaryLeft } from "./iso87-binary.ts";

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

// biome-ignore format: a table
const row62: Row =
    [ 62, "payment: 8-byte bitmap, then subfields", "b", "LL binary", 255, "binary"];

export const iso87Bitmapped: Specification = {
  ...iso87BinaryLeft,
  rows: iso87BinaryLeft.rows.map((row) => (row[0] === 62 ? row62 : row)),
  composites: [payment62, security126],
};
