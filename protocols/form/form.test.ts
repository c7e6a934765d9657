/** Malformed input is bytes here, because a string cannot represent most of it. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { FormFault, type FormPair, parseForm, writeForm } from "./form.ts";

// biome-ignore format: a table
const wellFormed: readonly (readonly [body: string, pairs: readonly FormPair[]])[] = [
  ["",                          []],
  ["a=1",                       [["a", "1"]]],
  ["a=1&b=2&a=3",               [["a", "1"], ["b", "2"], ["a", "3"]]],
  ["a=1&&b=2&",                 [["a", "1"], ["b", "2"]]],
  ["&",                         []],
  ["a",                         [["a", ""]]],
  ["a=",                        [["a", ""]]],
  ["=1",                        [["", "1"]]],
  ["=",                         [["", ""]]],
  ["a=b=c",                     [["a", "b=c"]]],
  ["a&b=c",                     [["a", ""], ["b", "c"]]],
  ["a=x+y%20z",                 [["a", "x y z"]]],
  ["a=%2B%26%3D%25",            [["a", "+&=%"]]],
  ["%61+b=1",                   [["a b", "1"]]],
  ["a= 1 &b=\t2\n",             [["a", " 1 "], ["b", "\t2\n"]]],
  ["a=%00%0A%7f",               [["a", "\0\n\x7f"]]],
  ["a=%c3%A9",                  [["a", "é"]]],
  ["a=é€😀",                    [["a", "é€😀"]]],
  ["a=%F0%9F%98%80",            [["a", "😀"]]],
  ["a=%EF%BB%BFb",              [["a", "\ufeffb"]]],
  ["\ufeffa=b",                 [["\ufeffa", "b"]]],
  ["__proto__=1&constructor=2", [["__proto__", "1"], ["constructor", "2"]]],
];

test("well-formed pairs are read in order, with repetitions and without trimming", () => {
  for (const [body, pairs] of wellFormed) {
    assert.deepEqual(parseForm(Buffer.from(body)), { pairs }, body);
  }
});

test("a character may be sent half plain and half escaped", () => {
  assert.deepEqual(parseForm(Buffer.from("a=\xc3%A9", "latin1")), { pairs: [["a", "é"]] });
});

// biome-ignore format: a table
const malformed: readonly (readonly [body: string, reason: FormFault["reason"], at: number])[] = [
  ["a=%",               "malformed_percent", 2],
  ["a=%4",              "malformed_percent", 2],
  ["a=%zz",             "malformed_percent", 2],
  ["a=%4z",             "malformed_percent", 2],
  ["a=%z4",             "malformed_percent", 2],
  ["a=%%41",            "malformed_percent", 2],
  ["a=%4&1=b",          "malformed_percent", 2],
  ["%4=1",              "malformed_percent", 0],
  ["ok=1&b=x%41%4",     "malformed_percent", 11],
  ["a=%u00e9",          "malformed_percent", 2],
  ["a=\xe9",            "not_utf8",          2],
  ["ok=1&b=x%E9",       "not_utf8",          7],
  ["%FF=1",             "not_utf8",          0],
  ["a=%C3",             "not_utf8",          2],
  ["a=%C3&b=%A9",       "not_utf8",          2],
  ["a=%C0%AF",          "not_utf8",          2],
  ["a=\xe0\x80\xaf",    "not_utf8",          2],
  ["a=%ED%A0%80",       "not_utf8",          2],
  ["a=%F4%90%80%80",    "not_utf8",          2],
  ["a=%F0%9F%98",       "not_utf8",          2],
  ["a=\x80",            "not_utf8",          2],
];

test("malformed escapes and bytes that are not UTF-8 are refused where they stand", () => {
  for (const [body, reason, at] of malformed) {
    const fault = parseForm(Buffer.from(body, "latin1"));
    assert.deepEqual(fault, new FormFault(reason, at), body);
  }
});

test("a body that is part of a larger buffer is read alone", () => {
  const larger = new Uint8Array(Buffer.from("x=0&a=1&y=2"));

  assert.deepEqual(parseForm(larger.subarray(4, 7)), { pairs: [["a", "1"]] });
});

test("any written form is read back", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
      assert.deepEqual(parseForm(Buffer.from(writeForm(pairs))), { pairs });
    }),
  );
});

test("random bytes are read or refused, and never throw", () => {
  const byte = fc.oneof(
    fc.nat(255),
    fc.constantFrom(...Buffer.from("%%%&=+aF0\xc3\xa9", "latin1")),
  );
  fc.assert(
    fc.property(fc.array(byte), (bytes) => {
      const form = parseForm(Uint8Array.from(bytes));
      if (form instanceof FormFault) assert.ok(form.at >= 0 && form.at < bytes.length);
      else for (const [name, value] of form.pairs) assert.ok((name + value).isWellFormed());
    }),
    { numRuns: 2000 },
  );
});

test("plain bodies are read as Node reads them", () => {
  const part = fc.string({ unit: "grapheme" }).map(encodeURIComponent);
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part)), (pairs) => {
      const body = pairs.map(([name, value]) => `${name}=${value}`).join("&");

      const form = parseForm(Buffer.from(body));

      assert.deepEqual(form, { pairs: [...new URLSearchParams(body)] });
    }),
  );
});

// biome-ignore format: a table
const written: readonly (readonly [value: string, escaped: string])[] = [
  ["",                     ""],
  ["AZaz09-_.~*",          "AZaz09-_.~*"],
  ["a b",                  "a+b"],
  ["+&=%",                 "%2B%26%3D%25"],
  ["!'()",                 "%21%27%28%29"],
  ["\0\r\n\x7f",           "%00%0D%0A%7F"],
  ["é€",                   "%C3%A9%E2%82%AC"],
  ["😀",                   "%F0%9F%98%80"],
  ["\ufeff",               "%EF%BB%BF"],
  ["\ud800",               "%EF%BF%BD"],
];

test("everything but letters, digits and five marks is escaped", () => {
  for (const [value, escaped] of written) {
    assert.equal(writeForm([["name", value]]), `name=${escaped}`);
    assert.equal(writeForm([[value, "value"]]), `${escaped}=value`);
  }
});

test("pairs are joined in the order given, repetitions included", () => {
  assert.equal(writeForm([]), "");
  assert.equal(writeForm(new Map([["b", "1"]])), "b=1");
  assert.equal(
    writeForm([
      ["b", "1"],
      ["a", "2"],
      ["b", ""],
    ]),
    "b=1&a=2&b=",
  );
});

test("with line feeds, every value including the last one ends its line", () => {
  const pairs: readonly FormPair[] = [
    ["type", "async-response"],
    ["serial-number", ""],
  ];

  assert.equal(writeForm(pairs, { lineFeeds: true }), "type=async-response\n&serial-number=\n");
  assert.equal(writeForm([], { lineFeeds: true }), "");
});
