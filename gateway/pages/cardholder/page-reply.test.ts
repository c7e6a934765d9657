/** A page is in the reader's language if there is a table for it, and in English otherwise. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseLanguage } from "./page-reply.ts";

// biome-ignore format: a table
const headers: readonly (readonly [header: string | undefined, language: string])[] = [
  [undefined,                  "en"],
  ["",                         "en"],
  ["fr-CA, fr;q=0.9",          "en"],
  ["de",                       "de"],
  ["de-AT,de;q=0.9,en;q=0.8",  "de"],
  ["fr;q=0.9, de-CH;q=0.2",    "de"],
  ["en;q=0.5, DE;q=0.9",       "de"],
  ["en, de",                   "en"],
  ["de;q=0, en",               "en"],
  ["de;q=0",                   "en"],
  ["*",                        "en"],
  ["*, de;q=0.1",              "en"],
  ["de, *;q=0.5",              "de"],
  ["en;q=0, *",                "de"],
  [";;,,q=,de;q=x",            "en"],
  ["de;q=-1",                  "en"],
  [`${"fr,".repeat(500)}de`,   "en"],
];

test("the reader's wishes choose the language", () => {
  for (const [header, language] of headers) {
    assert.equal(chooseLanguage(header).language, language, String(header));
  }
});

test("every sentence of another language is its own, and tells the same", () => {
  const [english, german] = [chooseLanguage("en").texts, chooseLanguage("de").texts];
  const facts = { amount: "A-1", merchant: "M-1", returned: "R-1", left: "L-1" };

  assert.equal(german.continue, "Weiter");
  assert.equal(german.money("10.15 EUR"), "10,15 EUR");
  for (const state of ["charged", "held", "verified", "returned", "returned_in_part"] as const) {
    const [one, other] = [english.receiptStates[state](facts), german.receiptStates[state](facts)];
    assert.notEqual(one, other);
    assert.deepEqual(one.match(/[A-Z]-1/g)?.sort(), other.match(/[A-Z]-1/g)?.sort());
  }
});
