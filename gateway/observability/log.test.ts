/**
 * The last protection: no line of the log shows a card number, wherever it came from. The file also
 * tests how repeated failures are logged.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CardNumber } from "../values/card-number.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { Secret } from "../values/secret.ts";
import { makeLog, makeReportFailures } from "./log.ts";

// biome-ignore format: a table
const masked: readonly (readonly [text: string, shown: string])[] = [
  ["card 4000001000000018 was read",          "card ************0018 was read"],
  ["credit_card_number=4000001000000018&a=b", "credit_card_number=************0018&a=b"],
  ["x4000001000000018y",                      "x************0018y"],
  ["card-4000001000000018-b",                 "card-************0018-b"],
  // These numbers are split or not plain digits. Stored texts mask them too.
  ["4000 0010 0000 0018",                     "**** **** **** 0018"],
  ["4000.0010.0000.0018",                     "****.****.****.0018"],
  ["4000 - 0010 - 0000 - 0018",               "**** - **** - **** - 0018"],
  ["４０００００１０００００００１８",              "************００１８"],
];

// biome-ignore format: a table
const untouched: readonly string[] = [
  "order 590230620000846198 is approved",
  "card 4000001000000019 has a wrong check digit",
  "reference 00000000RT01, trace 004212",
  "at 1794708246789",
  "serial 0195933a-7c48-7000-8000-000000000001",
  "203.0.113.7, 2001:db8:7:7::1",
  "",
];

test("the log masks card numbers as stored texts are masked, in values and in names", () => {
  const lines: string[] = [];
  const log = makeLog("debug", { write: (line) => lines.push(line) });

  for (const [text, shown] of [...masked, ...untouched.map((each) => [each, each] as const)]) {
    assert.equal(maskCardNumbers(text), shown);
    log("request.answered", { detail: text, nested: { list: [text], [text]: 1 }, took: 0.4111 });
    const { detail, nested } = JSON.parse(lines.at(-1) ?? "");
    assert.deepEqual([detail, nested], [shown, { list: [shown], [shown]: 1 }]);
  }
});

test("a line is one JSON object, with secrets hidden and cards masked", () => {
  const lines: string[] = [];
  const log = makeLog("debug", { write: (line) => lines.push(line) });

  log("request.answered", {
    card: new CardNumber("4000001000000018"),
    key: new Secret("hunter2"),
    body: "cardNumber=4000001000000018",
    nested: { list: ["4000001000000018", 4000001000000018, -4000001000000018] },
    detail: "4000001000000018 was sent",
  });

  const [line = ""] = lines;
  assert.doesNotMatch(line, /4000001|hunter2/);
  const { event, card, key, nested, detail } = JSON.parse(line);
  assert.deepEqual([event, card, key], ["request.answered", "400000****0018", "[secret]"]);
  assert.equal(detail, "************0018 was sent");
  const all = "************0018";
  assert.deepEqual(nested.list, [all, all, `-${all}`]);
});

test("a card number is masked in lists, names, bytes and causes of errors", () => {
  const lines: string[] = [];
  const log = makeLog("info", { write: (line) => lines.push(line) });
  const digits = "4000001000000018";
  const groups = ["4000", "0010", "0000", "0018"];
  const cause = new AggregateError([new Error(`sent ${digits}`)], `card ${digits}`);
  const sent = [4000, "0010", 0, "0000018"];
  const err = Object.assign(new Error("refused", { cause }), { sent });

  log("request.failed", { groups, nested: { deep: [{ each: [[...digits]] }] }, other: [1, 2] });
  log("request.failed", { bytes: Buffer.from(digits), more: [new Uint8Array(16).fill(52)] });
  log("request.failed", { [`x-${digits}`]: 1, url: `/?pan=${groups.join("%20")}` });
  log("request.failed", { err });

  const [lists = "", bytes = "", names = "", error = ""] = lines;
  const parsed = JSON.parse(lists);
  assert.equal(parsed.groups, '["****","****","****","0018"]');
  assert.deepEqual([typeof parsed.nested, parsed.other], ["string", [1, 2]]);
  assert.deepEqual(JSON.parse(bytes).bytes, "[16 bytes]");
  assert.deepEqual(JSON.parse(bytes).more, ["[16 bytes]"]);
  assert.equal(JSON.parse(names)["x-************0018"], 1);
  assert.equal(JSON.parse(names).url, "/?pan=****%20****%20****%200018");
  assert.match(error, /card \*{12}0018/);
  for (const line of lines) {
    assert.doesNotMatch(line, /4000.{0,5}0010|52,48,48|"4","0","0"/);
    JSON.parse(line);
  }
});

test("an error is logged with its stack, and a card in its message is masked", () => {
  const lines: string[] = [];
  const log = makeLog("info", { write: (line) => lines.push(line) });

  log("request.failed", { err: new Error("cannot send 4000001000000018") });

  assert.match(lines[0] ?? "", /cannot send \*{12}0018/);
  assert.match(lines[0] ?? "", /log\.test\.ts/);
  assert.doesNotMatch(lines[0] ?? "", /4000001/);
});

test("an error is logged with its message and code, also when a part of it is unprintable", () => {
  const lines: string[] = [];
  const log = makeLog("info", { write: (line) => lines.push(line) });
  const certificate: { issuerCertificate?: unknown } = {};
  certificate.issuerCertificate = certificate;
  const code = "ERR_TLS_CERT_ALTNAME_INVALID";

  log("request.failed", { err: Object.assign(new Error("refused"), { code, cert: certificate }) });

  const { message, stack, ...parts } = JSON.parse(lines[0] ?? "").err;
  assert.match(stack, /^Error: refused\n.*log\.test\.ts/s);
  assert.deepEqual([message, parts], ["refused", { type: "Error", code, cert: "[unprintable]" }]);
});

test("the gateway's own ids stay readable, also when they pass for card numbers", () => {
  const lines: string[] = [];
  const log = makeLog("info", { write: (line) => lines.push(line) });

  log("request.answered", { order: "4000001000000018", other: "4000001000000018" });

  const { order, other } = JSON.parse(lines[0] ?? "");
  assert.deepEqual([order, other], ["4000001000000018", "************0018"]);
});

test("values that JSON cannot print, or that are absent, leave a line that can be read", () => {
  const lines: string[] = [];
  const log = makeLog("info", { write: (line) => lines.push(line) });
  const circle: { self?: unknown } = {};
  circle.self = circle;

  log("request.answered", { circle, minor: 1042n, absent: undefined, share: Number.NaN });

  const { time, ...line } = JSON.parse(lines[0] ?? "");
  assert.match(time, /^\d{4}-\d\d-\d\dT/);
  const facts = { circle: "[unprintable]", minor: "1042", share: null };
  assert.deepEqual(line, { level: 30, ...facts, event: "request.answered" });
});

test("what is below the level is not written", () => {
  const lines: string[] = [];
  const log = makeLog("warn", { write: (line) => lines.push(line) });

  log("callback.delivered", {});
  log("order.finished", {});
  log("order.in_doubt", {});
  log("order.doubt_alarm", {});

  assert.deepEqual(
    lines.map((line) => JSON.parse(line).level),
    [40, 50],
  );
});

test("a job that goes on failing is logged once in ten seconds, with what was left out", () => {
  const lines: { readonly event: string; readonly unreported?: number }[] = [];
  const log = makeLog("info", { write: (line) => void lines.push(JSON.parse(line)) });
  let now = 0;
  const report = makeReportFailures(log, "order.claim_failed", () => now);

  for (now = 0; now <= 22_000; now += 1_000) report(new Error("the database is unreachable"));
  now = 60_000;
  report(new Error("it is unreachable again"));

  assert.deepEqual(
    lines.map(({ event, unreported }) => [event, unreported]),
    [
      ["order.claim_failed", undefined],
      ["order.claim_failed", 9],
      ["order.claim_failed", 9],
      ["order.claim_failed", 2],
    ],
  );
});
