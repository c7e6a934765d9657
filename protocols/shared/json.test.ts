/** Faults that JSON.parse accepts are found and named. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeBase64, findJsonFault, parseJson } from "./json.ts";

// biome-ignore format: a table
const duplicates: readonly (readonly [text: string, path: string])[] = [
  ['{"a":1,"a":2}',                             "a"],
  ['{"a":1,"\\u0061":2}',                       "a"],
  ['{"a":{"b":[{"c":1},{"c":1,"c":2}]}}',       "a.b.c"],
  ['{"x":[1],"a":{"b":"{\\"c\\":","b":null}}',  "a.b"],
  ['{"__proto__":1,"__proto__":2}',             "__proto__"],
  ['[{"a" \n:1,"a"\t:2}]',                      "a"],
];

test("a duplicate member is found, with the names around it", () => {
  for (const [text, path] of duplicates) {
    assert.deepEqual(findJsonFault(text, 8), {
      reason: "duplicate_member",
      path: path.split("."),
    });
  }
});

test("the same name in two objects, or inside a string, is no duplicate", () => {
  for (const text of ['[{"a":1},{"a":1}]', '{"a":{"a":1}}', '{"a":"\\"a\\":","b":"{\\"a\\":1}"}']) {
    assert.equal(findJsonFault(text, 8), undefined, text);
  }
});

test("nesting is counted in objects and arrays", () => {
  assert.equal(findJsonFault("[[[1]]]", 3), undefined);
  assert.deepEqual(findJsonFault('[[{"a":[]}]]', 3), { reason: "too_deep" });
  assert.deepEqual(findJsonFault("[".repeat(30_000) + "]".repeat(30_000), 8), {
    reason: "too_deep",
  });
});

test("JSON that a serialiser wrote has no fault, and any other text is not JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.equal(JSON.stringify(parseJson(text)), text);
      assert.equal(findJsonFault(text, 1000), undefined);
    }),
  );
  for (const text of ["", "{", "nothing", "{'a':1}", '{"a":1,}', "\ufeff{}"]) {
    assert.equal(parseJson(text), undefined, text);
  }
});

test("base64 is read in its canonical form only", () => {
  assert.deepEqual(decodeBase64("AAE="), Buffer.of(0, 1));
  for (const value of ["", "AAF=", "AAE", "AAE=\n", "AA-_", 1, null, undefined]) {
    assert.equal(decodeBase64(value), undefined);
  }
});
