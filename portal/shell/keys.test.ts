/** Tests which keys are shortcuts of the screen, and which belong to the focused element. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isElsewhere } from "./keys.ts";

/** `names` are those of the element and its ancestors. */
function elementIn(...names: readonly string[]) {
  return {
    closest(selector: string) {
      return selector.split(", ").some((each) => names.includes(each)) ? this : null;
    },
  };
}

const plain = {
  key: "j",
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  defaultPrevented: false,
  target: elementIn("tr"),
};

// biome-ignore format: a table
const pressed = [
  ["a key over a row is the screen's",               {},                                               false],
  ["a key without a target is the screen's",         { target: null },                                 false],
  ["a key over the whole page is the screen's",      { target: {} },                                   false],
  ["Ctrl is the browser's",                          { ctrlKey: true },                                true],
  ["Alt is the browser's",                           { altKey: true },                                 true],
  ["Command is the browser's",                       { metaKey: true },                                true],
  ["a key that was handled already does nothing more",  { defaultPrevented: true },                       true],
  ["a letter is written into a field",               { target: elementIn("input") },                   true],
  ["a letter is written into an area",               { target: elementIn("textarea") },                true],
  ["a letter chooses in a select",                   { target: elementIn("select") },                  true],
  ["a dialog over the screen takes all keys",        { target: elementIn("div", "[role=dialog]") },    true],
  ["a menu takes all keys",                          { target: elementIn("button", "[role=menu]") },   true],
  ["a letter over a link is the screen's",           { target: elementIn("a") },                       false],
  ["Enter over a link follows the link",             { key: "Enter", target: elementIn("a") },         true],
  ["Enter over a button presses it",                 { key: "Enter", target: elementIn("button") },    true],
  ["Enter over a summary opens it",                  { key: "Enter", target: elementIn("summary") },   true],
  ["Enter over a row is the screen's",               { key: "Enter" },                                 false],
] as const;

for (const [sentence, event, expected] of pressed) {
  test(sentence, () => {
    assert.equal(isElsewhere({ ...plain, ...event }), expected);
  });
}
