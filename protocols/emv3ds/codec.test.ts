/** Reading and writing complete texts: envelopes, extensions, hostile JSON, and random damage. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  decodeFormValue,
  decodeMethodData,
  type Emv3dsMessage,
  type Expectation,
  encodeFormValue,
  MessageFault,
  messageTypes,
  readMessage,
  textOf,
  writeMessage,
} from "./index.ts";
import { type Changes, makeAreq, makeAres, makeCres, transaction } from "./testing.ts";

const cres = JSON.stringify(makeCres("2.2.0"));
const anything: Expectation = { types: messageTypes };

// biome-ignore format: a table
const envelopes: readonly (readonly [text: string, code: string, element: string | undefined])[] = [
  ["",                                                        "101", undefined],
  ["null",                                                    "101", undefined],
  ["[]",                                                      "101", undefined],
  ["{",                                                       "101", undefined],
  [`${cres}x`,                                                "101", undefined],
  [`\ufeff${cres}`,                                           "101", undefined],
  ['{"a":01}',                                                "101", undefined],
  ['{"a":"\\x"}',                                             "101", undefined],
  ['{"a":"\n"}',                                              "101", undefined],
  ['{"a":1,}',                                                "101", undefined],
  ["{'a':1}",                                                 "101", undefined],
  ["{}",                                                      "101", "messageType"],
  ['{"messageType":"XReq","messageVersion":"2.1.0"}',         "101", "messageType"],
  ['{"messageType":"toString","messageVersion":"2.1.0"}',     "101", "messageType"],
  ['{"messageType":"CRes"}',                                  "201", "messageVersion"],
  ['{"messageType":"CRes","messageVersion":null}',            "201", "messageVersion"],
  ['{"messageType":"CRes","messageVersion":2.1}',             "203", "messageVersion"],
  ['{"messageType":"CRes","messageVersion":"2.0.0"}',         "102", "messageVersion"],
  ['{"messageType":"CRes","messageType":"CRes"}',             "204", "messageType"],
  ['{"a":{"b":1,"c":2,"b":3}}',                               "204", "a.b"],
  ['{"a":[{"b":1},{"b":1,"\\u0062":1}]}',                     "204", "a.b"],
  ['{"__proto__":1,"__proto__":1}',                           "204", "unnamed"],
];

test("an unknown message is refused before its table is used", () => {
  for (const [text, code, element] of envelopes) {
    const fault = refuse(text);
    assert.deepEqual([fault.code, fault.elements[0]], [code, element], text);
  }
});

test("a message for another receiver, or of a version that is off, is refused", () => {
  const wrongReceiver = refuse(cres, { types: ["ARes", "Erro"] });
  const wrongVersion = refuse(cres, { types: ["CRes"], supported: ["2.1.0", "2.3.1"] });

  assert.equal(wrongReceiver.code, "101");
  assert.deepEqual([wrongVersion.code, wrongVersion.detail], ["102", "2.1.0,2.3.1"]);
  assert.equal(wrongVersion.received.messageType, "CRes");
  assert.equal(wrongVersion.received.threeDSServerTransID, transaction);
});

test("a text that a database cannot store is refused in any element", () => {
  for (const bad of ["\u00002", "2\ud800", "\udc002"]) {
    const { eci, authenticationValue } = { eci: bad, authenticationValue: `AAAB${bad}` };
    for (const changes of [{ eci }, { authenticationValue }, { acsReferenceNumber: bad }]) {
      const text = JSON.stringify(makeAres("2.3.1", changes));
      const read = readMessage(text, anything);
      assert.ok(read instanceof MessageFault, JSON.stringify(changes));
      assert.deepEqual([read.code, read.detail], ["203", Object.keys(changes)[0]]);
    }
  }
});

test("an indicator has two characters that a host's message can have", () => {
  for (const eci of ["0\n", "\u001b[", "\u00e95", "\ud83d\ude00", "5", "055"]) {
    const read = readMessage(JSON.stringify(makeAres("2.2.0", { eci })), anything);
    assert.ok(read instanceof MessageFault, JSON.stringify(eci));
    assert.deepEqual([read.code, read.detail], ["203", "eci"]);
  }
  for (const eci of ["05", "7A", "5 "]) {
    const read = readMessage(JSON.stringify(makeAres("2.2.0", { eci })), anything);
    assert.ok(!(read instanceof MessageFault), eci);
  }
});

test("nesting and length have limits", () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const wide = `{"a":${"[".repeat(100_000)}`;
  const long = JSON.stringify(makeCres("2.2.0", { note: "x".repeat(600_000) }));

  assert.equal(refuse(deep).code, "101");
  assert.equal(refuse(wide).code, "101");
  assert.equal(refuse(long, { types: ["CRes"] }).code, "101");
  const padded = makeAreq("2.2.0", { merchantName: "x".repeat(400_000) });
  assert.deepEqual(refuse(JSON.stringify(padded)).elements, ["merchantName"]);
});

test("names with a meaning in JavaScript have none in a message", () => {
  const text = cres.replace("{", '{"__proto__":{"transStatus":"N"},"constructor":1,"toString":2,');
  const missing = cres.replace('"transStatus"', '"__proto__":{"transStatus":"Y"},"other"');

  const message = accept(text);

  assert.equal(Object.getPrototypeOf(message), Object.prototype);
  assert.equal(Object.hasOwn(message, "__proto__"), false);
  assert.equal(textOf(message, "transStatus"), "Y");
  assert.equal(textOf(makeCres("2.2.0"), "toString"), undefined);
  assert.deepEqual(refuse(missing).elements, ["transStatus"]);
});

// biome-ignore format: a table
const extensions: readonly (readonly [extension: unknown, code: string | undefined, element: string])[] = [
  [[extension({})],                                      undefined, ""],
  [[extension({ criticalityIndicator: true })],          "202",     "messageExtension"],
  [[extension({ id: "known", criticalityIndicator: true })], undefined, ""],
  [[extension({ criticalityIndicator: "true" })],        "203",     "messageExtension.criticalityIndicator"],
  [[extension({ id: undefined })],                       "201",     "messageExtension.id"],
  [[extension({ name: "x".repeat(65) })],                "203",     "messageExtension.name"],
  [[extension({ data: { a: "x".repeat(8059) } })],       "203",     "messageExtension.data"],
  [new Array(16).fill(extension({})),                    "203",     "messageExtension"],
  [extension({}),                                        "203",     "messageExtension"],
  [[null],                                               "203",     "messageExtension"],
];

test("a critical extension must be known, and any other is accepted", () => {
  for (const [messageExtension, code, element] of extensions) {
    const text = JSON.stringify(makeAres("2.3.1", { messageExtension }));
    const read = readMessage(text, { types: ["ARes"], extensions: ["known"] });
    const outcome = read instanceof MessageFault ? [read.code, ...read.elements] : [undefined, ""];
    assert.deepEqual(outcome, [code, element], text.slice(0, 600));
  }
  const many = { messageExtension: new Array(11).fill(extension({})) };
  assert.equal(refuse(JSON.stringify(makeAres("2.2.0", many))).code, "203");
});

test("plain http is accepted only if the caller allows it", () => {
  const areq = makeAreq("2.2.0", { notificationURL: "http://127.0.0.1:8080/cres" });

  assert.deepEqual(refuse(JSON.stringify(areq)).elements, ["notificationURL"]);
  assert.deepEqual(accept(JSON.stringify(areq), { types: ["AReq"], allowHttp: true }), areq);
  assert.throws(() => writeMessage(areq), /AReq is wrong: 203 notificationURL/);
  assert.equal(writeMessage(areq, { allowHttp: true }), JSON.stringify(areq));
});

test("a written message is read back, without elements that have no value", () => {
  const text = writeMessage(makeAreq("2.3.1", { email: undefined }));

  assert.equal(text.includes("email"), false);
  assert.deepEqual(accept(text), makeAreq("2.3.1"));
  assert.throws(() => writeMessage(makeAreq("2.3.1", { email: "" })), /203 email/);
});

test("no fault ever shows a card number", () => {
  const numbers = ["4111111111111111", "41111111111111111111", "4111 1111 1111 1111"];
  for (const acctNumber of numbers) {
    const areq = makeAreq("2.2.0", { acctNumber, purchaseCurrency: acctNumber, mcc: undefined });
    const named = JSON.stringify({ [acctNumber]: 1 });
    for (const text of [JSON.stringify(areq), named.replace("}", `,${named.slice(1)}`)]) {
      assert.equal(JSON.stringify(refuse(text)).includes("4111"), false);
    }
  }
});

test("no damage to a good message makes the reader throw", () => {
  const index = JSON.parse(readFile("index.json")) as {
    messages: { file: string; verdict: string }[];
  };
  const good = index.messages.filter(({ verdict }) => verdict === "good");
  const texts = [...new Set(good.map(({ file }) => readFile(file)))].filter(
    (text) => text.length < 9000,
  );
  const request = makeAreq("2.2.0");
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.nat(),
      fc.nat(255),
      fc.nat(2),
      (text, at, byte, how) => {
        const bytes = [...Buffer.from(text)];
        bytes.splice(at % bytes.length, how === 0 ? 0 : 1, ...(how === 1 ? [] : [byte]));
        const damaged = Buffer.from(bytes).toString();
        for (const expectation of [anything, { ...anything, request }]) {
          const read = readMessage(damaged, expectation);
          assert.ok(read instanceof MessageFault || messageTypes.includes(read.messageType));
        }
      },
    ),
    { numRuns: 3000 },
  );
});

test("any value in any place is read or refused, and JSON is read as JavaScript reads it", () => {
  const elements = Object.keys(makeAreq("2.3.1"));
  fc.assert(
    fc.property(fc.constantFrom(...elements), fc.jsonValue(), (element, value) => {
      const text = JSON.stringify(makeAreq("2.3.1", { [element]: value, extra: value }));
      const read = readMessage(text, anything);
      if (read instanceof MessageFault) assert.ok(read.elements.length > 0);
      else
        assert.deepEqual(
          read,
          JSON.parse(text, (name, one) => (name === "__proto__" ? undefined : one)),
        );
    }),
    { numRuns: 1000 },
  );
});

const notificationUrl = "https://gateway.example/3ds-method";

test("a packed text has no padding and no character that a form changes, and is read back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
      const packed = encodeFormValue({ text });
      assert.match(packed, /^[A-Za-z0-9_-]+$/);
      assert.equal(decodeFormValue(packed), JSON.stringify({ text }));
      assert.equal(encodeFormValue(JSON.stringify({ text })), packed);
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
    encodeFormValue(json),
    `${encodeFormValue(json)}==`,
  ];
  for (const form of forms) assert.equal(decodeFormValue(form), json, form);
});

test("text that is not base64 of UTF-8 is refused", () => {
  for (const form of ["", "=", "a", "abcde", "ab*d", "ab=c", "{}", "_w", "A".repeat(2_000_000)]) {
    const read = decodeFormValue(form);
    assert.ok(read instanceof MessageFault, form.slice(0, 20));
    assert.equal(read.code, "101");
  }
});

test("the data of the 3DS Method is sent with a URL and returned without it", () => {
  const sent = { threeDSServerTransID: transaction, threeDSMethodNotificationURL: notificationUrl };

  assert.deepEqual(decodeMethodData(encodeFormValue(sent)), sent);
  assert.deepEqual(decodeMethodData(`${encodeFormValue({ threeDSServerTransID: transaction })}=`), {
    threeDSServerTransID: transaction,
  });
});

// biome-ignore format: a table
const refusedNotes: readonly (readonly [content: object, code: string, element: string | undefined])[] = [
  [[],                                                                                 "101", undefined],
  [{},                                                                                 "201", "threeDSServerTransID"],
  [{ threeDSServerTransID: null },                                                     "201", "threeDSServerTransID"],
  [{ threeDSServerTransID: "1" },                                                      "203", "threeDSServerTransID"],
  [{ threeDSServerTransID: transaction, threeDSMethodNotificationURL: "javascript:1" }, "203", "threeDSMethodNotificationURL"],
  [{ threeDSServerTransID: transaction, threeDSMethodNotificationURL: "http://127.0.0.1" }, "203", "threeDSMethodNotificationURL"],
];

test("method data that fits no transaction is refused", () => {
  for (const [content, code, element] of refusedNotes) {
    const read = decodeMethodData(encodeFormValue(content));
    assert.ok(read instanceof MessageFault);
    assert.deepEqual([read.code, read.elements[0]], [code, element]);
  }
  const staging = {
    threeDSServerTransID: transaction,
    threeDSMethodNotificationURL: "http://127.0.0.1",
  };
  assert.deepEqual(decodeMethodData(encodeFormValue(staging), { allowHttp: true }), staging);
});

function extension(changes: Changes): unknown {
  return {
    id: "unknown",
    name: "Unknown",
    criticalityIndicator: false,
    data: { a: 1 },
    ...changes,
  };
}

function accept(text: string, expectation: Expectation = anything): Emv3dsMessage {
  const read = readMessage(text, expectation);
  assert.ok(!(read instanceof MessageFault), JSON.stringify(read));
  return read;
}

function refuse(text: string, expectation: Expectation = anything): MessageFault {
  const read = readMessage(text, expectation);
  assert.ok(read instanceof MessageFault, text.slice(0, 200));
  return read;
}

function readFile(file: string): string {
  return readFileSync(join(import.meta.dirname, "vectors", file), "utf8");
}
