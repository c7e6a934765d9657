/** Form values: what other senders make of base64, and the notes of the 3DS Method. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MessageFault, packForm, packMethodData, readMethodData, unpackForm } from "./index.ts";
import { makeCres, transaction } from "./samples.ts";

const address = "https://gateway.example/3ds-method";

test("what is packed has no padding, no sign that a form changes, and comes back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      const packed = packForm({ text });
      assert.match(packed, /^[A-Za-z0-9_-]+$/);
      assert.equal(unpackForm(packed), JSON.stringify({ text }));
      assert.equal(packForm(JSON.stringify({ text })), packed);
    }),
  );
});

test("both alphabets are read, padded or not, with spaces that were plus signs", () => {
  const json = JSON.stringify(makeCres("2.2.0", { note: "ÿÿ>>??~~ü" }));
  const standard = Buffer.from(json).toString("base64");
  assert.match(standard, /[+/]/);

  const forms = [
    standard,
    standard.replace(/=+$/, ""),
    standard.replaceAll("+", " "),
    standard.replace(/(.{76})/g, "$1\r\n"),
    packForm(json),
    `${packForm(json)}==`,
  ];
  for (const form of forms) assert.equal(unpackForm(form), json, form);
});

test("what is not base64 of UTF-8 is refused", () => {
  for (const form of ["", "=", "a", "abcde", "ab*d", "ab=c", "{}", "_w", "A".repeat(2_000_000)]) {
    const read = unpackForm(form);
    assert.ok(read instanceof MessageFault, form.slice(0, 20));
    assert.equal(read.code, "101");
  }
});

test("the notes of the 3DS Method go out with an address and come back without", () => {
  const sent = { threeDSServerTransID: transaction, threeDSMethodNotificationURL: address };

  assert.deepEqual(readMethodData(packMethodData(sent)), sent);
  assert.deepEqual(readMethodData(`${packForm({ threeDSServerTransID: transaction })}=`), {
    threeDSServerTransID: transaction,
  });
});

// biome-ignore format: a table
const refused: readonly (readonly [content: object, code: string, element: string | undefined])[] = [
  [[],                                                                                 "101", undefined],
  [{},                                                                                 "201", "threeDSServerTransID"],
  [{ threeDSServerTransID: null },                                                     "201", "threeDSServerTransID"],
  [{ threeDSServerTransID: "1" },                                                      "203", "threeDSServerTransID"],
  [{ threeDSServerTransID: transaction, threeDSMethodNotificationURL: "javascript:1" }, "203", "threeDSMethodNotificationURL"],
  [{ threeDSServerTransID: transaction, threeDSMethodNotificationURL: "http://127.0.0.1" }, "203", "threeDSMethodNotificationURL"],
];

test("notes that fit no transaction are refused", () => {
  for (const [content, code, element] of refused) {
    const read = readMethodData(packForm(content));
    assert.ok(read instanceof MessageFault);
    assert.deepEqual([read.code, read.elements[0]], [code, element]);
  }
  const staging = {
    threeDSServerTransID: transaction,
    threeDSMethodNotificationURL: "http://127.0.0.1",
  };
  assert.deepEqual(readMethodData(packMethodData(staging), { allowHttp: true }), staging);
});
