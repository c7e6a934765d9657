/** Approvals that are sent late. The test moves the time instead of waiting. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DelayedApprovals, type GatewayConnection } from "./answers.ts";
import { ascii } from "./dialects.ts";

const connection: GatewayConnection = {
  dialect: ascii,
  signedOn: true,
  isOpen: () => true,
  answer: () => {},
  answerGarbage: () => {},
  close: () => {},
};

test("without a reversal the approval comes after two minutes, once", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const delayed = new DelayedApprovals();
  let approvals = 0;
  delayed.add("R1", connection, () => {
    approvals += 1;
  });

  t.mock.timers.tick(119_999);
  assert.equal(approvals, 0);
  t.mock.timers.tick(1);
  assert.equal(approvals, 1);

  delayed.release("R1", connection);
  assert.equal(approvals, 1);
});

test("a stopping host drops delayed approvals", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const delayed = new DelayedApprovals();
  delayed.add("R1", connection, () => assert.fail("approved after the end"));

  delayed.close();

  t.mock.timers.tick(120_000);
  delayed.release("R1", connection);
});
