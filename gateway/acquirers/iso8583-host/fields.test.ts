/** Published values of each network, and the fields that each dialect makes of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DecodeFault,
  readComposite,
  readSubelements,
  security126,
} from "@tollgate/protocols/iso8583";
import { dialects } from "./connector.ts";
import { makeMessages } from "./messages.ts";
import { makeAttempt, settings } from "./testing/attempts.ts";

const cards = {
  visa: "4000002000000016",
  mastercard: "5200000000000015",
  mastercard2: "2223000000000015",
  maestro: "6767000000000018",
  amex: "340000000000017",
  discover: "6011000000000012",
  jcb: "3530000000000011",
  unionpay: "6200000000000013",
  diners: "36000000000016",
  mir: "2200000000000012",
};
const aav = "kJMZRiDunhPsBwAU0hu9rrx0eWN6";
const walletAMastercard = "AMwBRjPWDnAgAA7Rls7mAoABFA==";
const cavv = "AAABBJg0VhI0VniQEjRWAAAAAAA=";
const cavvBytes = "0000010498345612345678901234560000000000";

// biome-ignore format: a table
const placed: readonly (readonly [card: keyof typeof cards, eci: string, value: string | undefined, indicator: string, security: object])[] = [
  ["visa",        "05", cavv,              "05", { 9: cavvBytes }],
  ["visa",        "07", undefined,         "07", {}],
  ["mastercard",  "02", aav,               "05", { 15: "2", 16: aav }],
  ["mastercard",  "01", aav,               "06", { 15: "1", 16: aav }],
  ["mastercard",  "00", undefined,         "07", { 15: "0" }],
  ["mastercard",  "N2", aav,               "05", { 15: "2", 16: aav }],
  ["mastercard",  "N0", undefined,         "07", { 15: "0" }],
  ["mastercard",  "04", aav,               "07", { 15: "4", 16: aav }],
  ["mastercard",  "02", walletAMastercard, "05", { 15: "2", 16: walletAMastercard }],
  ["mastercard",  "02", cavv,              "05", { 15: "2", 16: cavv }],
  ["mastercard2", "02", aav,               "05", { 15: "2", 16: aav }],
  ["maestro",     "02", aav,               "05", { 15: "2", 16: aav }],
  ["amex",        "05", cavv,              "05", { 9: cavvBytes }],
  ["discover",    "06", cavv,              "06", { 9: cavvBytes }],
  ["jcb",         "05", cavv,              "05", { 9: cavvBytes }],
  ["unionpay",    "05", cavv,              "05", { 9: cavvBytes }],
  ["diners",      "05", cavv,              "05", { 9: cavvBytes }],
  ["mir",         "02", cavv,              "05", { 9: cavvBytes }],
  ["mir",         "01", cavv,              "06", { 9: cavvBytes }],
];

test("iso87_binary has Mastercard's values in 126.15 and 126.16, all others in 126.9", () => {
  const { makeCharge } = makeMessages(dialects.iso87_binary, settings);
  for (const [card, eci, value, indicator, security] of placed) {
    const request = makeAttempt({ card: cards[card], eci, ...(value && { cavv: value }) });
    const { fields } = makeCharge({ ...request, cvv: undefined });

    assert.equal(fields[60], `00000000${indicator}`, `${card} ${eci}`);
    const read = fields[126] === undefined ? {} : readComposite(security126, fields[126]);
    assert.deepEqual(read, security, `${card} ${eci}`);
  }
});

test("the sandbox dialect has every network's ECI and value in 48.42 and 48.43", () => {
  const { makeCharge } = makeMessages(dialects.sandbox, settings);
  for (const [card, eci, value] of placed) {
    const request = makeAttempt({ card: cards[card], eci, ...(value && { cavv: value }) });
    const read = readSubelements(makeCharge({ ...request, cvv: undefined }).fields[48] ?? "");

    assert.ok(!(read instanceof DecodeFault), card);
    assert.deepEqual([read.elements.get("42"), read.elements.get("43")], [eci, value], card);
  }
});

const long = "A".repeat(36);

// biome-ignore format: a table
const fitting: readonly (readonly [card: keyof typeof cards, value: string, sandbox: boolean, binary: boolean])[] = [
  ["visa",       cavv,              true,  true],
  ["visa",       aav,               true,  false],
  ["visa",       walletAMastercard, true,  false],
  ["visa",       `${cavv}AAAA`,     true,  false],
  ["mastercard", aav,               true,  true],
  ["mastercard", walletAMastercard, true,  true],
  ["mastercard", cavv,              true,  true],
  ["mastercard", "AAAA",            true,  true],
  ["amex",       aav,               true,  false],
  ["visa",       long,              false, false],
  ["mastercard", long,              false, false],
  ["mastercard", "two words",       false, false],
  ["mastercard", "é",               false, false],
  ["visa",       "",                false, false],
  ["mastercard", "",                false, false],
];

test("a dialect says which values it cannot carry", () => {
  for (const [card, value, sandbox, binary] of fitting) {
    const { network } = makeAttempt({ card: cards[card] }).card.number;
    const can = [dialects.sandbox, dialects.iso87_binary].map(({ hasPlaceFor }) =>
      hasPlaceFor(value, network),
    );
    assert.deepEqual(can, [sandbox, binary], `${card} ${value}`);
  }
});
