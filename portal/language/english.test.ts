/** The texts of all areas are one table. */
import assert from "node:assert/strict";
import test from "node:test";
import { areas } from "./english.ts";

test("no two areas of the portal have a text of the same name", () => {
  const names = areas.flatMap((area) => Object.keys(area));
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);

  assert.deepEqual(doubled, []);
});
