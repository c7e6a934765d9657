/** Every card of the sandbox has an issuer, as every real card has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeIssuerTable } from "../issuers/issuers.ts";
import { sandboxRanges } from "./sandbox-ranges.ts";

// biome-ignore format: a table
const cards: readonly string[] = [
  "4000001000000018", "4000002000000016", "4000002100000015", "4000002200000014", "4000002300000013",
  "4000003000000014", "4000004000000012", "5200000000000015", "2223000000000015", "340000000000017",
  "6011000000000012", "3530000000000011", "6200000000000013", "36000000000016",   "6767000000000018",
  "2200000000000012",
];

test("every range of the sandbox's cards has an issuer with all that can be told", () => {
  const table = makeIssuerTable(sandboxRanges);

  for (const card of cards) {
    const issuer = table.find(card.slice(0, 11));

    assert.equal(Object.values(issuer ?? {}).filter((text) => text !== "").length, 6, card);
    assert.match(issuer?.country ?? "", /^[A-Z]{3}$/);
  }
  assert.equal(sandboxRanges.length, cards.length);
});
