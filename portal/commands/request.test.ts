/** From a command's description to its form, and back to a request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Command, fieldsOf, initialOf, requestOf, type Values } from "./request.ts";

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
