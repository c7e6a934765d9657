/** Time limits, answers and losses of waiting requests, and the memory of answered ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startsAt, TestClock } from "../../values/testing.ts";
import { asInstant } from "../../values/time.ts";
import { keyOf, takeAnswer } from "./link.ts";
import { PendingAnswers, Recent } from "./pending-answers.ts";

const answer = { mti: "0210", fields: {} };

test("each request runs out at its own time, with one timer for each limit", async () => {
  const clock = new TestClock();
  const waiting = new PendingAnswers(clock);
  const first = waiting.add("first", 30_000);
  clock.move(1_000);
  const second = waiting.add("second", 30_000);
  const quick = waiting.add("quick", 5_000);
  assert.deepEqual(clock.pendingMs, [5_000, 29_000]);

  clock.move(5_000);
  assert.equal(await quick, "timeout");
  assert.deepEqual(clock.pendingMs, [24_000]);

  clock.move(24_000);
  assert.equal(await first, "timeout");
  assert.equal(waiting.find("second"), second);
  assert.deepEqual(clock.pendingMs, [1_000]);

  clock.move(1_000);
  assert.equal(await second, "timeout");
  assert.deepEqual(clock.pendingMs, []);
});

test("a request ends in time when the clock is set back", async () => {
  const tasks: (() => void)[] = [];
  let now = startsAt;
  const after = (_delayMs: number, task: () => void) => {
    tasks.push(task);
    return () => {};
  };
  const asked = new PendingAnswers({ now: () => now, after }).add("one", 30_000);

  now = asInstant(startsAt - 3_600_000);
  tasks.pop()?.();

  assert.equal(await asked, "timeout");
});

test("an answer goes to the request that it answers, once", async () => {
  const waiting = new PendingAnswers(new TestClock());
  const asked = waiting.add("one", 1_000);

  assert.equal(waiting.answer("two", answer), false);
  assert.equal(waiting.answer("one", answer), true);
  assert.equal(waiting.answer("one", answer), false);
  assert.equal(await asked, answer);
});

test("a lost link ends all, and leaves no timer behind", async () => {
  const clock = new TestClock();
  const waiting = new PendingAnswers(clock);
  const asked = [waiting.add("one", 1_000), waiting.add("two", 2_000)];
  const empty = waiting.whenEmpty();

  waiting.loseAll();

  assert.deepEqual(await Promise.all(asked), ["link_lost", "link_lost"]);
  assert.deepEqual(clock.pendingMs, []);
  await empty;
});

test("what is remembered is bounded, and the newest is kept", () => {
  const recent = new Recent<number>(10);
  for (let count = 0; count < 1_000; count += 1) recent.remember(`key ${count}`, count);

  const kept = Array.from({ length: 1_000 }, (_, count) => recent.find(`key ${count}`));

  assert.deepEqual(kept.slice(-10), [990, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
  assert.ok(kept.filter((value) => value !== undefined).length <= 20);
});

test("an answer that another process received before the request was sent is not taken", async () => {
  const clock = new TestClock();
  const conversation = { waiting: new Map(), answered: new Recent<string>(1) };
  const pending = new PendingAnswers(clock, conversation.waiting);
  const message = { mti: "0430", fields: { 11: "000001", 37: "000000000A01", 39: "25" } };
  const sentAt = clock.now();
  const answer = pending.add(keyOf(message.mti, message), 30_000);

  assert.equal(takeAnswer(conversation, message, sentAt - 2_001), false);
  assert.equal(takeAnswer(conversation, message, sentAt - 2_000), true);
  assert.equal(await answer, message);
});
