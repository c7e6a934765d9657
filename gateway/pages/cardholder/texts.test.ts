/** The pages speak the reader's language where there is a table for it, and English where not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { speak } from "./texts.ts";

const { texts } = speak(undefined);
const known = new Map([
  ["en", texts],
  ["de", { ...texts, continue: "Weiter" }],
]);

// biome-ignore format: a table
const headers: readonly (readonly [header: string | undefined, language: string])[] = [
  [undefined,                  "en"],
  ["",                         "en"],
  ["fr-CA, fr;q=0.9",          "en"],
  ["de",                       "de"],
  ["de-AT,de;q=0.9,en;q=0.8",  "de"],
  ["en;q=0.5, DE;q=0.9",       "de"],
  ["en, de",                   "en"],
  ["de;q=0, en",               "en"],
  ["*",                        "en"],
  [";;,,q=,de;q=x",            "en"],
];

test("the reader's wishes choose the language", () => {
  for (const [header, language] of headers) {
    assert.equal(speak(header, known).language, language, String(header));
  }
  assert.equal(speak("de", known).texts.continue, "Weiter");
});
