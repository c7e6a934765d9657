/** How long a stage may last, and when an unanswered reversal is repeated. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { later } from "../values/time.ts";
import { claimableAfterMs, stageLimitMs } from "./deadlines.ts";
import { deadlines, draft, events, inStage, meet, start } from "./testing.ts";

test("a deadline is set when a stage is entered, and a final stage has none", () => {
  const at = later(start, 50);

  const authorizing = meet(draft, events.received, at);
  const reversing = meet(authorizing, events.outcome_unknown, later(at, 10));
  const ended = meet(reversing, events.reversed, later(at, 20));

  assert.equal(authorizing.deadlineAt, later(at, 6_000));
  assert.equal(reversing.deadlineAt, later(at, 10 + 7_000));
  assert.equal(ended.deadlineAt, undefined);
});

test("it is kept while events lead back to the same stage", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);

  const unanswered = meet(reversing, events.reversal_unanswered, later(start, 100));
  const claimed = meet(unanswered, events.claimed, later(start, 200));
  const noted = meet(claimed, events.noted, later(start, 300));
  const late = meet(noted, events.approved_late, later(start, 400));

  assert.equal(late.deadlineAt, reversing.deadlineAt);
});

test("it begins again when it has passed and the order is still there", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);
  const at = later(start, 7_000);

  const alarmed = meet(reversing, events.expired, at);

  assert.equal(alarmed.owed?.effect, "alert_operator");
  assert.equal(alarmed.deadlineAt, later(at, 7_000));
});

test("every stage has the limit of its setting, and final stages none", () => {
  for (const stage of ["filtering", "awaiting_challenge", "reversing"] as const) {
    assert.equal(stageLimitMs(deadlines, stage), deadlines.stageMs[stage]);
  }
  for (const stage of ["approved", "declined", "filtered", "error"] as const) {
    assert.equal(stageLimitMs(deadlines, stage), undefined);
  }
});

// biome-ignore format: a table
const gaps: readonly (readonly [tries: number, gapMs: number])[] = [
  [0, 45_000],
  [1,  2_000],
  [2,  5_000],
  [3, 10_000],
  [4, 10_000],
  [99, 10_000],
];

test("an unanswered reversal waits by the table of gaps, and the last gap is repeated", () => {
  for (const [tries, gapMs] of gaps) assert.equal(claimableAfterMs(deadlines, tries), gapMs);
  assert.equal(claimableAfterMs({ ...deadlines, repeatGapsMs: [] }, 3), deadlines.leaseMs);
});

test("the order itself rests for the gap after each unanswered try", () => {
  let order = meet(inStage("authorizing"), events.outcome_unknown);
  assert.deepEqual(order.owed, { effect: "reverse", claimableAt: later(start, 45_000) });

  for (const gapMs of [2_000, 5_000, 10_000, 10_000]) {
    order = meet(order, events.reversal_unanswered);
    const claimableAt = later(start, gapMs);
    assert.deepEqual(order.owed, { effect: "reverse", claimableAt, resting: true });
  }
});

test("after a late approval the gaps begin from the first", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);
  const tired = meet(meet(reversing, events.reversal_unanswered), events.reversal_unanswered);

  const late = meet(tired, events.approved_late);
  assert.equal(late.transaction.tries, 0);
  assert.deepEqual(late.owed, { effect: "reverse", claimableAt: later(start, 45_000) });

  const unanswered = meet(late, events.reversal_unanswered);
  const claimableAt = later(start, 2_000);
  assert.deepEqual(unanswered.owed, { effect: "reverse", claimableAt, resting: true });
});
