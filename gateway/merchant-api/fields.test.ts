/** Every kind of field with valid and invalid values. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  amount,
  choice,
  clientOrderId,
  conditional,
  country,
  currency,
  digits,
  email,
  Fault,
  type Field,
  freeText,
  ipAddress,
  line,
  message,
  optional,
  orderId,
  pattern,
  phone,
  url,
  uuid,
} from "./fields.ts";

type Case = {
  readonly name: string;
  readonly field: Field<unknown>;
  readonly type: string;
  readonly good: readonly string[];
  readonly bad: readonly string[];
};

const a = (count: number) => "a".repeat(count);

// biome-ignore format: a table
const cases: readonly Case[] = [
  { name: "line",      field: line(5, ""),            type: "5/String",
    good: ["a", "abcde", "ä€😀xy", "a b", "\u200b"],
    bad:  ["abcdef", "a\tb", "a\nb", "a\u0000b", "a\u007f", "a\u0085b"] },
  { name: "free text", field: freeText(65_536, ""),   type: "64k/String",
    good: ["a", "a\tb\r\nc", a(65_536), "😀".repeat(65_536)],
    bad:  [a(65_537), "a\u0000b", "a\u000bb", "a\u001b[0m", "a\u009f"] },
  { name: "digits",    field: digits(3, 4, ""),       type: "3-4/Numeric",
    good: ["123", "0000"],
    bad:  ["12", "12345", "12a", "1.2", "-12", "١٢٣", "123\n", " 123"] },
  { name: "digits, one size", field: digits(4, 4, ""), type: "4/Numeric",
    good: ["1234"],
    bad:  ["123", "12345"] },
  { name: "choice",    field: choice(["true", "false"], ""), type: "5/String",
    good: ["true", "false"],
    bad:  ["TRUE", "1", "yes", "truefalse", "toString"] },
  { name: "amount",    field: amount(""),             type: "10/Numeric",
    good: ["0", "10.42", "1234567890", "1234567.89", "00.1", "0.000", "12.3400", "1234567.8900"],
    bad:  [".5", "5.", "1e3", "+1", "-1", "1,5", "1 000", "12345678901", "1234567.8901", "0.00000000000", "٥", "NaN", "1.2.3", "1\n"] },
  { name: "currency",  field: currency(""),           type: "3/String",
    good: ["USD", "JPY", "KWD"],
    bad:  ["usd", "US", "ZZZ", "840", "USDX"] },
  { name: "email",     field: email(50, ""),          type: "50/String",
    good: ["jane@example.com", "j.d+tag@mail.example.co.uk", "o'neil@x-y.example", `${a(38)}@example.com`, "jane@exämple.com"],
    bad:  ["jane", "jane@", "@example.com", "jane@example", "jane@-x.com", "jane@x-.com", "a@b@c.com", "ja ne@x.com", "jane@x..com", "jane@.com", "<jane@x.com>", "jane@x.com.", "ｊane@x.com", "jane@x.com\n", `${a(39)}@example.com`] },
  { name: "IP address", field: ipAddress(""),         type: "45/String",
    good: ["203.0.113.7", "::1", "2001:db8::7", "::ffff:203.0.113.7"],
    bad:  ["203.0.113", "203.0.113.256", "203.0.113.07", "fe80::1%eth0", "1.2.3.4:80", "localhost", "2001:db8::7::1"] },
  { name: "country",   field: country(""),            type: "2/String",
    good: ["US", "DE"],
    bad:  ["us", "USA", "ZZ"] },
  { name: "phone",     field: phone(""),              type: "15/String",
    good: ["+1 555 0100", "(030) 123-45", "5550100", "555/0100", "call me", "№ 7*#"],
    bad:  ["+1 555 0100 ext 7", "1234567890123456", "555\u00000100"] },
  { name: "URL",       field: url(""),                type: "1024/String",
    good: ["https://shop.example/return?x=1#y", "http://127.0.0.1:8080/", "HTTPS://SHOP.EXAMPLE", `https://x.example/${a(1006)}`],
    bad:  ["/return", "shop.example", "ftp://shop.example", "javascript:alert(1)", "https:shop.example", "https:///x", "http://", "https://a b.example", "https://x.example\\@evil.example", "https://x.example:99999/", `https://x.example/${a(1007)}`] },
  { name: "order id",  field: orderId(""),            type: "20/Numeric",
    good: ["1", "9223372036854775807"],
    bad:  ["0", "01", "abc", "9223372036854775808", "-1", "1.0"] },
  { name: "serial number", field: uuid(""),           type: "36/String",
    good: ["0195933a-7c48-7000-8000-000000000001"],
    bad:  ["0195933a7c4870008000000000000001", "s-1"] },
  { name: "pattern",   field: pattern("2 or 4/Numeric", /^(20)?\d{2}$/, ""), type: "2 or 4/Numeric",
    good: ["30", "2030"],
    bad:  ["3", "1930", "203"] },
];

for (const { name, field, type, good, bad } of cases) {
  test(`${name}: good values are read and bad ones are not`, () => {
    assert.equal(field.type, type);
    for (const text of good) assert.ok(!(field.read(text) instanceof Fault), JSON.stringify(text));
    for (const text of bad) assert.ok(field.read(text) instanceof Fault, JSON.stringify(text));
  });

  test(`${name}: a fault never repeats the value`, () => {
    for (const text of bad) {
      const fault = field.read(text);
      assert.ok(fault instanceof Fault);
      if (text.length > 5) assert.ok(!fault.sentence.includes(text), fault.sentence);
    }
  });
}

test("values are given as they stand, except for two that have a form of their own", () => {
  assert.equal(amount("").read("010.50"), "010.50");
  assert.deepEqual(currency("").read("JPY"), { code: "JPY", numeric: "392", exponent: 0 });
  const upper = "0195933A-7C48-7000-8000-00000000ABCD";
  assert.equal(uuid("").read(upper), upper.toLowerCase());
});

test("a card number in a text is masked", () => {
  const card = "4111 1111 1111 1111";

  for (const field of [line(50, ""), freeText(50, "")]) {
    assert.equal(field.read(`card ${card}`), "card **** **** **** 1111");
  }
  assert.equal(email(50, "").read("4111111111111111@x.example"), "************1111@x.example");
  assert.equal(phone("").read("378282246310005"), "***********0005");
  assert.equal(phone("").read("+4915123456788"), "+4915123456788");
  assert.equal(message(50, "").read(card), card);
});

test("ids and URLs are taken as they are, also if their digits could be a card number", () => {
  // These values pass the Luhn check without being card numbers: a time stamp, ids of databases,
  // and a UUID.
  const uuid = "c2a3ba47-6011-4000-9900-139424000000";
  for (const digits of ["20261116030512129", "1845123456789012344", "4111111111111111", uuid]) {
    const link = `https://shop.example/told/${digits}?order=${digits}`;
    assert.equal(clientOrderId("").read(digits), digits);
    assert.equal(url("").read(link), link);
  }
});

test("a field is mandatory unless it says otherwise", () => {
  const plain = line(5, "what it is");

  assert.equal(plain.necessity, "mandatory");
  assert.equal(optional(plain).necessity, "optional");
  assert.equal(conditional(plain).necessity, "conditional");
  assert.equal(optional(plain).documentation, "what it is");
});
