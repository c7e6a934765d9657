/** From a command's description to its form, and back to a request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { configurationEnglish } from "../language/configuration.ts";
import {
  type Command,
  fieldsOf,
  initialOf,
  labelOf,
  requestOf,
  rowsOf,
  secretsIn,
  showValue,
  splitFields,
  subjectOf,
  type Values,
} from "./request.ts";

const option = (name: string, value: string, more: object = {}) => ({
  ...{ name, does: "", isRequired: false, isRepeated: false, choices: [], value, ...more },
});
const command: Command = {
  ...{ name: "gate set", does: "", isChange: true },
  words: [
    { name: "name", isRequired: true, isList: false, choices: [] },
    { name: "others", isRequired: false, isList: true, choices: [] },
  ],
  options: [
    option("max", "minor"),
    option("window", "duration", { preset: "15m" }),
    ...[option("partial-capture", ""), option("no-partial-capture", "")],
    ...[option("enable", ""), option("disable", "")],
    option("turn-off", ""),
    option("gate", "name", { isRepeated: true }),
  ],
};

function send(known: Values, written: Values) {
  const fields = fieldsOf(command, 1);
  const initial = initialOf(fields, known);
  const values = { ...initial, ...written };
  return requestOf(command, fields, { words: ["acme"], initial, values, input: "" });
}

test("a switch and its opposite are one field, and words of the screen are none", () => {
  const names = fieldsOf(command, 1).map(({ name, opposite }) => [name, opposite]);

  assert.deepEqual(names, [
    ["others", undefined],
    ["max", undefined],
    ["window", undefined],
    ["partial-capture", "no-partial-capture"],
    ["enable", "disable"],
    ["turn-off", undefined],
    ["gate", undefined],
  ]);
});

test("nothing is sent that was not changed", () => {
  const known = { max: "100", "partial-capture": "true", enable: "false" };

  assert.deepEqual(send(known, {}), { name: "gate set", words: ["acme"], options: [] });
});

test("what is emptied is removed by its word, and switches are given by name", () => {
  const known = { max: "100", "partial-capture": "true", enable: "false" };
  const written = { max: " ", "partial-capture": "off", enable: "on", "turn-off": "on" };

  assert.deepEqual(send(known, written).options, [
    { name: "max", value: "none" },
    { name: "no-partial-capture" },
    { name: "enable" },
    { name: "turn-off" },
  ]);
});

test("lists are sent one by one", () => {
  const { words, options } = send({}, { others: "one\n two", gate: "a:1:1\nb:2:1" });

  assert.deepEqual(words, ["acme", "one", "two"]);
  assert.deepEqual(options, [
    { name: "gate", value: "a:1:1" },
    { name: "gate", value: "b:2:1" },
  ]);
});

test("a moment, a choice and a text are shown as the user reads them", () => {
  const show = { choices: { on: "On", always: "Always" }, showTime: (at: number) => `at ${at}` };

  assert.equal(showValue("expiresAt", "1893456000000", show), "at 1893456000000");
  assert.equal(showValue("expiresAt", "never", show), "never");
  assert.equal(showValue("3ds", "always", show), "Always");
  assert.equal(showValue("enabled", "on", show), "On");
  // A text of the user's own that happens to be a choice elsewhere.
  assert.equal(showValue("descriptor", "always", show), "always");
});

// biome-ignore format: a table
const labelled = [
  ["max", "Largest amount"], ["partial-capture", "Partial captures"], ["new-option", "New option"], ["madeByWhom", "Made by whom"], ["IP", "Ip"],
] as const;

for (const [name, label] of labelled) {
  test(`the field ${name} is labelled “${label}”`, () => {
    assert.equal(labelOf(name, configurationEnglish.fields), label);
  });
}

test("the subject of a change begins with the word that the user knows", () => {
  const labels = configurationEnglish.fields;

  assert.equal(subjectOf("endpoint 12", labels), "Endpoint 12");
  assert.equal(subjectOf("toString 12", labels), "toString 12");
  assert.equal(subjectOf("the whole gateway", labels), "the whole gateway");
});

test("what is shown once is found in a result, and nothing else of it", () => {
  assert.deepEqual(secretsIn({ login: "acme", controlKey: "AB-12", id: 3 }), [
    ["controlKey", "AB-12"],
  ]);
  assert.deepEqual(secretsIn({ rows: [] }), []);
});

test("a form with many fields shows first what must be given or is set, a short one shows all", () => {
  const many = Array.from({ length: 10 }, (_, at) =>
    option(`o${at}`, "text", { isRequired: at === 7 }),
  );
  const fields = fieldsOf({ ...command, words: [], options: many }, 0);
  const namesOf = (isSet: boolean) =>
    splitFields(fields, { o2: "x" }, isSet)[0].map(({ name }) => name);

  assert.deepEqual(namesOf(true), ["o2", "o7"]);
  // A value that the command would take anyway is not set yet.
  assert.deepEqual(namesOf(false), ["o7"]);
  assert.equal(splitFields(fields.slice(0, 9), {}, false)[0].length, 9);
});

test("a secret or a file is sent beside the command only where it takes one", () => {
  const written = { words: [], initial: {}, values: {}, input: "a file" };

  assert.equal(requestOf({ ...command, input: "file" }, [], written).input, "a file");
  assert.equal("input" in requestOf(command, [], written), false);
});

test("a command that shows one thing has one row, and every value is a text", () => {
  assert.deepEqual(rowsOf({ name: "north", up: 2, since: null }), [
    { name: "north", up: "2", since: "" },
  ]);
  assert.deepEqual(rowsOf({ rows: [{ isOn: true }, { isOn: false }] }), [
    { isOn: "true" },
    { isOn: "false" },
  ]);
});
