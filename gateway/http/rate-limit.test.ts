/** Token buckets: bursts, refills, releases, and clients that are forgotten. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant } from "../values/time.ts";
import { makeRateLimit, type RateLimitOptions } from "./bounds.ts";

test("a client may send a second's worth at once, then waits for its share", () => {
  const { limit, move } = open({ perSecond: 3 });

  assert.deepEqual(takeAll("a", 5), [0, 0, 0, 1, 1]);
  assert.equal(limit.take("b"), 0);
  move(1000 / 3 + 1);
  assert.deepEqual(takeAll("a", 2), [0, 1]);
  move(60_000);
  assert.deepEqual(takeAll("a", 4), [0, 0, 0, 1]);

  function takeAll(client: string, count: number) {
    return Array.from({ length: count }, () => limit.take(client));
  }
});

test("less than one request per second is a wait of several seconds", () => {
  const { limit, move } = open({ perSecond: 0.1, burst: 1 });

  assert.deepEqual([limit.take("a"), limit.take("a")], [0, 10]);
  move(5000);
  assert.equal(limit.take("a"), 5);
});

test("a released token was never taken", () => {
  const { limit, move } = open({ perSecond: 2, burst: 60 });

  for (let find = 0; find < 200; find += 1) {
    assert.equal(limit.take("a"), 0);
    limit.release("a");
  }
  const misses = Array.from({ length: 62 }, () => limit.take("a"));
  move(500);
  const later = [limit.take("a"), limit.take("a"), limit.take("b")];

  assert.deepEqual(misses.slice(58), [0, 0, 1, 1]);
  assert.deepEqual(later, [0, 1, 0]);
});

test("zero is no limit", () => {
  const { limit } = open({ perSecond: 0 });

  limit.release("a");
  for (let count = 0; count < 1000; count += 1) assert.equal(limit.take("a"), 0);
});

test("of too many clients, the one that has been idle longest is forgotten", () => {
  const { limit } = open({ perSecond: 1 });

  limit.take("idle");
  limit.take("busy");
  for (let client = 0; client < 9_998; client += 1) limit.take(`other-${client}`);
  limit.take("busy");
  limit.take("one more");

  assert.equal(limit.take("busy"), 1);
  assert.equal(limit.take("idle"), 0);
});

function open(options: RateLimitOptions) {
  let nowMs = 0;
  const limit = makeRateLimit<string>(options, { now: () => asInstant(nowMs) });
  const move = (durationMs: number) => {
    nowMs += durationMs;
  };
  return { limit, move };
}
