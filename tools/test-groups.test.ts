/** Which files a run of the tests contains. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, groups, isWanted, long } from "./test-groups.ts";

const filesOfRun = (...wanted: readonly string[]) =>
  groups.flatMap((group) => filesOf(group).filter((file) => isWanted(file, group, wanted)));

test("npm test leaves out slow groups and long files, which the long run contains", () => {
  const [short, longer] = [filesOfRun(), filesOfRun(long)].map((files) => new Set(files));

  for (const file of [
    "tests/load/callbacks.test.ts",
    "tests/budget/cost-of-a-sale.test.ts",
    "tests/browser/shop.long.test.ts",
  ]) {
    assert.ok(!short?.has(file), `npm test runs ${file}`);
    assert.ok(longer?.has(file), `npm test -- long does not run ${file}`);
  }
});

test("every test file belongs to npm test or to the long run", () => {
  const either = new Set([...filesOfRun(), ...filesOfRun(long)]);
  const all = groups.flatMap(filesOf);

  assert.deepEqual(
    all.filter((file) => !either.has(file)),
    [],
  );
});

test("the long run repeats files whose support has a long form, and no others", () => {
  const files = new Set(filesOfRun(long));

  assert.ok(files.has("tests/simulator/simulator.test.ts"));
  assert.ok(files.has("tests/browser/pages.test.ts"), "both sizes of a window are long");
  assert.ok(!files.has("tests/contract/forms.test.ts"));
});

test("a folder or a file can be chosen by its name", () => {
  assert.deepEqual(filesOfRun("tests/budget"), ["tests/budget/cost-of-a-sale.test.ts"]);
  assert.deepEqual(filesOfRun("tools/lanes.test.ts"), ["tools/lanes.test.ts"]);
  assert.deepEqual(filesOfRun("tools/lanes"), []);
});
