/**
 * The catalogue of log events agrees with the code, because operators' alerts depend on these
 * names.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { events } from "../gateway/observability/events.ts";
import { isSource, isTest, readRepository } from "./repository.ts";

const catalogue = "gateway/observability/events.ts";
const gateway = readRepository().filter(
  (file) => isSource(file) && !isTest(file) && file.path.startsWith("gateway/"),
);
const subjects = [...new Set(Object.keys(events).map((name) => name.split(".")[0]))].join("|");
const names = new RegExp(`"((?:${subjects})\\.[a-z_]+)"`, "g");

const used = new Set(
  gateway
    .filter(({ path }) => path !== catalogue)
    .flatMap(({ text }) => [...text.matchAll(names)].map(([, name = ""]) => name)),
);

test("every event that the gateway logs is in the catalogue", () => {
  const unknown = [...used].filter((name) => !(name in events));

  assert.deepEqual(unknown, []);
});

test("every event of the catalogue is logged somewhere", () => {
  const unused = Object.keys(events).filter((name) => !used.has(name));

  assert.deepEqual(unused, []);
});
