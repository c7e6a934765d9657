/** Checks that the texts of all areas share one table, and that every German text is German. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { areas, english, german } from "./texts.ts";

/** Texts with gaps for codes instead of counts have tests of their own. */
const ofCodes = ["reasonOf", "refusalOf", "choiceOf", "message"];

type Leaf = { readonly path: string; readonly text: string };

/** Lists every text by its path. Texts with gaps are made for one item and for several. */
function textsIn(table: object, path = ""): readonly Leaf[] {
  return Object.entries(table).flatMap(([name, value]): readonly Leaf[] => {
    const at = path === "" ? name : `${path} / ${name}`;
    if (typeof value === "string") return [{ path: at, text: value }];
    if (typeof value !== "function") return textsIn(value, at);
    if (ofCodes.includes(name)) return [];
    return [1, 7].map((count) => ({
      path: `${at} (${count})`,
      text: String(value(count, count, count, count)),
    }));
  });
}

const inEnglish = textsIn(english);
const inGerman = textsIn(german);

test("no two areas of the portal have a text of the same name", () => {
  const names = areas.flatMap((area) => Object.keys(area));
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);

  assert.deepEqual(doubled, []);
});

test("the value that fills a gap of a text may contain a bar", () => {
  assert.equal(english.openOrder("a | b"), "Open order a | b");
  assert.equal(german.openOrder("a | b"), "Zahlung a | b öffnen");
});

test("no text is empty in either language, or has a gap that nothing fills", () => {
  const faults = [...inEnglish, ...inGerman].filter(
    ({ text }) => text.trim() === "" || /undefined|\[object|NaN/.test(text),
  );

  assert.deepEqual(faults, []);
});

test("German has a singular wherever English has one", () => {
  const unnumbered = (texts: readonly Leaf[]) =>
    new Map(texts.map(({ path, text }) => [path, text.replaceAll(/[17]/g, "#")]));
  const differs = (texts: ReadonlyMap<string, string>, path: string) =>
    texts.get(path) !== texts.get(path.replace("(1)", "(7)"));
  const [first, second] = [unnumbered(inEnglish), unnumbered(inGerman)];
  const counted = [...first.keys()].filter((path) => path.endsWith("(1)") && differs(first, path));

  const alike = counted.filter((path) => !differs(second, path));
  assert.ok(counted.length > 5);
  assert.deepEqual(alike, []);
});

/** The names of fields and protocols contain none of these words. */
const englishWord =
  /(^|[ (])(the|of|or|and|is|are|not|with|for|from|this|that|default|which|when)([ ,.:;)]|$)/i;

test("no German text has an English word in it", () => {
  const left = inGerman.filter(({ text }) => englishWord.test(text.replaceAll(/“[^”]*”/g, "")));
  assert.ok(inEnglish.filter(({ text }) => englishWord.test(text)).length > 100);
  assert.deepEqual(left, []);
});

test("a sentence of more than three words is never the same in both languages", () => {
  const known = new Map(inEnglish.map(({ path, text }) => [path, text]));

  const same = inGerman.filter(
    ({ path, text }) => known.get(path) === text && text.split(" ").length > 3,
  );
  assert.deepEqual(same, []);
});

// biome-ignore format: a table
const refusals = [
  ["wrong_credentials",  "The login or the password is wrong.",  "Benutzername oder Passwort ist falsch."],
  ["insufficient_funds", "Too little money.",                    "Deckung reicht nicht aus"],
  // The gateway's own sentence contains the name of the field.
  ["invalid_input",      "amount: takes a number",               "Eine Angabe ist ungültig. (amount: takes a number)"],
  ["brand_new",          "Something new.",                       "Something new."],
  ["constructor",        "Something new.",                       "Something new."],
] as const;

for (const [code, sentence, text] of refusals) {
  test(`the refusal ${code} reads “${text}” in German and stays the gateway's own in English`, () => {
    assert.equal(german.refusalOf(code, sentence), text);
    assert.equal(english.refusalOf(code, sentence), sentence);
  });
}

// biome-ignore format: a table
const choices = [
  ["only gate",                                                  "einziges Gate"],
  ["rank 2, because north was tried before and south does not take EUR", "Rang 2, denn north wurde schon versucht und south akzeptiert EUR nicht"],
  ["rank 1, though none was ready",                              "Rang 1, obwohl keines bereit war"],
  ["weight 3 of 4, because north does not take so much",         "Gewicht 3 von 4, denn north akzeptiert keinen so großen Betrag"],
] as const;

for (const [choice, text] of choices) {
  test(`why a gate was chosen, “${choice}”, reads “${text}”`, () => {
    assert.equal(german.choiceOf(choice), text);
    assert.equal(english.choiceOf(choice), choice);
  });
}

test("codes without a text of their own are shown as words", () => {
  assert.equal(english.reasonOf("authentication_3ds_failed"), "Authentication 3-D Secure failed");
  assert.equal(german.reasonOf("brand_new_code"), "Brand new code");
});
