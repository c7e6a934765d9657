/** Checks that an order's history and the audit are printed without JSON and in lines that fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leavesOf, printHistory, printMoment } from "./moments.ts";

const at = "2030-01-31 09:30:00.000";

test("an event has a line for each fact, with amounts and times as people read them", () => {
  const answer = { responseCode: "00", approvedAmount: ["1015", "USD"], processedAt: 5 };
  const messages = [{ type: "0200" }];
  const history = [
    { version: 2, at, node: "north", kind: "received", detail: {} },
    { version: 3, at, node: "north", kind: "authorized", detail: { answer, messages } },
  ];

  assert.deepEqual(printHistory(history, (instant) => `moment ${instant}`).split("\n"), [
    `2  ${at}  north  received`,
    `3  ${at}  north  authorized`,
    "    answer.responseCode: 00",
    "    answer.approvedAmount: 10.15 USD",
    "    answer.processedAt: moment 5",
  ]);
});

test("lists are printed by their values, and lists of objects by their length", () => {
  const findings = [{ kind: "velocity", facts: { count: 5 } }, { kind: "amount" }];

  assert.deepEqual(leavesOf({ findings, gates: ["north:1:1", "south:2:1"], none: [], no: null }), [
    ["findings.1.kind", "velocity"],
    ["findings.1.facts.count", "5"],
    ["findings.2.kind", "amount"],
    ["gates", "north:1:1, south:2:1"],
  ]);
});

test("control characters neither begin a line nor control the terminal", () => {
  assert.equal(printMoment("a\nb", ["why: \u001b[2Jx"]), "a b\n    why:  [2Jx");
});
