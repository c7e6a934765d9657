/** Approvals that nobody gives up waiting for, with time moved instead of waited for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Line } from "./desk.ts";
import { ascii } from "./dialects/ascii.ts";
import { LateAnswers } from "./late-answers.ts";

const line: Line = {
  dialect: ascii,
  signedOn: true,
  isOpen: () => true,
  answer: () => {},
  answerGarbage: () => {},
  close: () => {},
};

test("without a reversal the approval comes after two minutes, once", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = new LateAnswers();
  let approvals = 0;
  late.hold("R1", line, () => {
    approvals += 1;
  });

  t.mock.timers.tick(119_999);
  assert.equal(approvals, 0);
  t.mock.timers.tick(1);
  assert.equal(approvals, 1);

  late.release("R1", line);
  assert.equal(approvals, 1);
});

test("a bank that stops forgets what it held back", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = new LateAnswers();
  late.hold("R1", line, () => assert.fail("approved after the end"));

  late.close();

  t.mock.timers.tick(120_000);
  late.release("R1", line);
});
