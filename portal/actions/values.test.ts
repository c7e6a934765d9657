/** Tests the values of a form, from the description of an action to the request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import {
  type Field,
  initialOf,
  labelOf,
  printGates,
  readGates,
  rowsOf,
  secretsIn,
  showValue,
  splitFields,
  subjectOf,
  type Texts,
  valuesOf,
  withCurrency,
} from "./values.ts";

const field = (name: string, kind: Field["kind"] = "text", more: Partial<Field> = {}): Field => ({
  name,
  kind,
  label: name,
  help: "",
  isRequired: false,
  isList: false,
  choices: [],
  ...more,
});
const fields = [
  field("max", "amount"),
  field("window", "duration", { preset: "15m" }),
  field("partial-capture", "toggle"),
  field("turn-off", "flag"),
  field("gates", "text", { isList: true }),
  field("expires", "moment"),
  field("note", "file"),
  field("login", "text", { isRequired: true }),
];

function send(known: Texts, written: Texts) {
  const initial = initialOf(fields, known);
  return valuesOf(fields, initial, { ...initial, ...written });
}

test("only changed values and required values are sent", () => {
  const known = { max: "100", "partial-capture": "true", login: "acme" };

  assert.deepEqual(send(known, {}), { login: "acme" });
});

test("an emptied setting is sent as `none`, and a switch as true or false", () => {
  const known = { max: "100", "partial-capture": "true" };

  assert.deepEqual(send(known, { max: " ", "partial-capture": "off", "turn-off": "on" }), {
    max: "none",
    "partial-capture": false,
    "turn-off": true,
  });
});

test("each line of a list is sent as an element, and a file unchanged", () => {
  const note = " a line\n";

  assert.deepEqual(send({}, { gates: "a:1:1\n b:2:1\n", note }), {
    gates: ["a:1:1", "b:2:1"],
    note,
  });
});

test("a local time is sent in UTC, and a duration unchanged", () => {
  const sent = send({}, { expires: "2030-01-31T09:30" });

  const at = new Date(2030, 0, 31, 9, 30).toISOString().slice(0, 19);
  assert.deepEqual(sent, { expires: `${at}Z` });
  assert.deepEqual(send({}, { expires: "30d" }), { expires: "30d" });
});

test("a required currency becomes that of the chosen endpoint", () => {
  const euro = { currency: "EUR" };
  const required = [field("currency", "currency", { isRequired: true })];

  assert.deepEqual(withCurrency({ currency: "USD" }, required, euro), euro);
  assert.deepEqual(withCurrency({}, [field("currency", "currency")], euro), {});
  assert.deepEqual(withCurrency({}, required, undefined), {});
});

test("times and choices are shown in the user's language, and texts unchanged", () => {
  const show = { choices: { on: "On", always: "Always" }, showTime: (at: number) => `at ${at}` };

  assert.equal(showValue("expiresAt", "1893456000000", show), "at 1893456000000");
  assert.equal(showValue("expiresAt", "never", show), "never");
  assert.equal(showValue("3ds", "always", show), "Always");
  assert.equal(showValue("enabled", "on", show), "On");
  // This setting is free text that happens to equal a choice of another setting.
  assert.equal(showValue("descriptor", "always", show), "always");
});

// biome-ignore format: a table
const labelled = [
  ["max", "Largest amount"], ["partial-capture", "Partial captures"], ["returnUrl", "Return address"], ["new-option", "New option"], ["madeByWhom", "Made by whom"], ["IP", "Ip"],
] as const;

for (const [name, label] of labelled) {
  test(`the field ${name} is labelled “${label}”`, () => {
    assert.equal(labelOf(name, english.fields), label);
  });
}

test("the subject of a change begins with a word in the user's language", () => {
  const labels = english.fields;

  assert.equal(subjectOf("endpoint 12", labels), "Endpoint 12");
  assert.equal(subjectOf("toString 12", labels), "toString 12");
  assert.equal(subjectOf("the whole gateway", labels), "the whole gateway");
});

test("only secrets are shown as values that the user has to copy", () => {
  assert.deepEqual(secretsIn({ login: "acme", controlKey: "AB-12", id: 3 }), [
    ["controlKey", "AB-12"],
  ]);
  assert.deepEqual(secretsIn({ rows: [] }), []);
});

test("a long form shows required and set fields first, and a short form shows all fields", () => {
  const many = Array.from({ length: 10 }, (_, at) =>
    field(`o${at}`, "text", { isRequired: at === 7 }),
  );
  const namesOf = (known: Texts) => splitFields(many, known)[0].map(({ name }) => name);

  assert.deepEqual(namesOf({ o2: "x" }), ["o2", "o7"]);
  // The default of a setting does not count as set.
  assert.deepEqual(namesOf({}), ["o7"]);
  assert.equal(splitFields(many.slice(0, 9), {})[0].length, 9);
});

test("a result without rows is one row, and every value is a text", () => {
  assert.deepEqual(rowsOf({ name: "north", up: 2, since: null }), [
    { name: "north", up: "2", since: "" },
  ]);
  assert.deepEqual(rowsOf({ rows: [{ isOn: true }, { isOn: false }] }), [
    { isOn: "true" },
    { isOn: "false" },
  ]);
});

test("gates are written as the command reads them, and a missing rank is 1", () => {
  const places = readGates("north:2:3\nsouth\n");

  assert.deepEqual(places, [
    { name: "north", rank: "2", weight: "3" },
    { name: "south", rank: "1", weight: "1" },
  ]);
  assert.equal(printGates(places), "north:2:3\nsouth:1:1");
  assert.deepEqual(readGates(""), []);
});
