/** Replies in every shape that the wire may give them, and bytes that are none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Refused } from "./errors.ts";
import { readReply } from "./read-reply.ts";

test("pairs become fields, decoded", () => {
  const fields = read("type=status-response&name=J%C3%BCrgen+D%26o&html=a%0Ab");

  assert.deepEqual(fields, { type: "status-response", name: "Jürgen D&o", html: "a\nb" });
});

test("a line feed after every value is not part of it", () => {
  const fields = read("type=async-response\n&gw-order-id=77\n&x=%0A\n");

  assert.deepEqual(fields, { type: "async-response", "gw-order-id": "77", x: "\n" });
});

test("the operator's own word is read as gw, and gw is read as well", () => {
  const own = read("type=t&acme-order-id=77&acme-processing-date=d&acme-other=o", "acme");
  const neutral = read("type=t&gw-order-id=77", "acme");

  const expected = { type: "t", "gw-order-id": "77", "gw-processing-date": "d", "acme-other": "o" };
  assert.deepEqual(own, expected);
  assert.deepEqual(neutral, { type: "t", "gw-order-id": "77" });
});

test("a refusal has the type, number, word and serial number of the wire", () => {
  const refused = read(
    "type=validation-error&serial-number=s-1&error-message=INVALID_PARAMETER%3A+email&error-code=5",
  );

  assert.ok(refused instanceof Refused);
  const { type, code, word, serialNumber, httpStatus, message } = refused;
  assert.deepEqual(
    { type, code, word, serialNumber, httpStatus, message },
    {
      type: "validation-error",
      code: 5,
      word: "INVALID_PARAMETER",
      serialNumber: "s-1",
      httpStatus: 200,
      message: "INVALID_PARAMETER: email (5)",
    },
  );
});

// biome-ignore format: a table
const garbled: readonly (readonly [what: string, body: string])[] = [
  ["nothing",                      ""],
  ["a page of a proxy",            "<html><body>Bad Gateway</body></html>"],
  ["no type",                      "serial-number=s-1&status=approved"],
  ["a broken escape",              "type=async-response&gw-order-id=%4"],
  ["bytes that are not UTF-8",     "type=%ff"],
  ["a refusal without a number",   "type=error&error-message=INTERNAL_ERROR"],
  ["a number that is none",        "type=error&error-message=INTERNAL_ERROR&error-code=5e3"],
];

test("what is no reply is not taken for one", () => {
  for (const [what, body] of garbled) assert.equal(read(body), undefined, what);
});

test("digits that look like a card are hidden, should a refusal ever repeat them", () => {
  for (const digits of ["4000001000000018", "4000 0010 0000 0018", "4000-0010-0000-0018"]) {
    const message = encodeURIComponent(`INVALID_PARAMETER: ${digits} is bad`);
    const refused = read(`type=error&error-code=5&error-message=${message}`);

    assert.ok(refused instanceof Refused);
    assert.doesNotMatch(inspect(refused) + JSON.stringify(refused), /4000|0018/);
  }
});

function read(body: string, fieldWord = "gw") {
  return readReply({ httpStatus: 200, bytes: Buffer.from(body) }, fieldWord);
}
