/** A secret never prints itself by accident. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { format, inspect } from "node:util";
import { Secret } from "./secret.ts";

const secret = new Secret("hunter2");

// biome-ignore format: a table
const prints: readonly (readonly [how: string, print: string])[] = [
  ["template",         `${secret}`],
  ["concatenation",    `key=${String(secret)}`],
  ["JSON",             JSON.stringify({ secret, list: [secret] })],
  ["inspect",          inspect(secret)],
  ["inspect, hidden",  inspect({ secret }, { showHidden: true, depth: 9 })],
  ["format",           format("%s %o %O %j", secret, secret, secret, secret)],
  ["spread",           inspect({ ...secret })],
  ["entries",          JSON.stringify(Object.entries(secret))],
  ["error",            inspect(new Error("broken", { cause: { secret } }))],
  ["clone",            inspect(structuredClone({ ...secret }))],
];

test("no print of a secret shows it", () => {
  for (const [how, print] of prints) assert.ok(!print.includes("hunter2"), how);
});

test("it says that there is something to hide", () => {
  assert.equal(`${secret}`, "[secret]");
  assert.equal(JSON.stringify([secret]), '["[secret]"]');
  assert.equal(inspect([secret]), "[ [secret] ]");
});
