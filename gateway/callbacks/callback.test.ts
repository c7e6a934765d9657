/** The decision about a callback after each kind of response. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { settings } from "../config/settings.ts";
import { asMerchantId, asOrderId, asSerialNumber } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { callbackLeaseMs, type DeliveryAttempt, decide, readRetryAfter } from "./callback.ts";

const now = asInstant(1_794_708_246_000);
const dayMs = 86_400_000;
const retry = { gapsMs: [60_000, 120_000], random: () => 0.5 };
const callback = {
  merchantId: asMerchantId("7"),
  orderId: asOrderId("42000001"),
  sequence: 1,
  tries: 0,
  serialNumber: asSerialNumber("0195933a-7c48-7000-8000-000000000001"),
  url: "https://shop.example/told",
  receiver: "shop.example",
  begunAt: now,
  leaseUntil: now,
};

function attempt(status: number | undefined, retryAfterMs?: number): DeliveryAttempt {
  return {
    at: now,
    method: "GET",
    url: callback.url,
    body: "",
    durationMs: 3,
    answer: "",
    status,
    failure: undefined,
    retryAfterMs,
  };
}

function again(dueAt: number) {
  return { dueAt, isCounted: true };
}

test("any 2xx is delivered, 410 stops, and all else is tried again", () => {
  for (const status of [200, 201, 204, 299]) {
    assert.deepEqual(decide(callback, attempt(status), now, retry), { ended: "delivered" });
  }
  assert.deepEqual(decide(callback, attempt(410), now, retry), { ended: "stopped" });
  for (const status of [undefined, 0, 199, 300, 301, 304, 400, 404, 429, 500, 502, 504]) {
    const decision = decide(callback, attempt(status), now, retry);
    assert.deepEqual(decision, again(now + 60_000), String(status));
  }
});

test("each gap is that of the table, and after the last it is given up", () => {
  const decision = (tries: number) => decide({ ...callback, tries }, attempt(500), now, retry);

  assert.deepEqual(decision(1), again(now + 120_000));
  assert.deepEqual(decision(2), { ended: "given_up" });
  assert.deepEqual(decision(9), { ended: "given_up" });
});

test("gaps are a tenth shorter or longer, by chance", () => {
  const decision = (random: number) =>
    decide(callback, attempt(500), now, { ...retry, random: () => random });

  assert.deepEqual(decision(0), again(now + 54_000));
  assert.deepEqual(decision(0.999_999_999_9), again(now + 60_000 + 5_999.999_998_8));
});

test("a receiver's wish makes a gap longer, never shorter, and up to a day", () => {
  const decision = (wishMs: number) => decide(callback, attempt(503, wishMs), now, retry);

  assert.deepEqual(decision(1_000), again(now + 60_000));
  assert.deepEqual(decision(600_000), again(now + 600_000));
  assert.deepEqual(decision(99 * dayMs), again(now + dayMs));
});

test("however often a receiver wishes for more time, it ends when the table would have", () => {
  const gapsMs = settings.callbackRetryGapsMs.production;
  let [at, tries]: readonly [number, number] = [now, 0];
  for (;;) {
    const decision = decide({ ...callback, tries }, attempt(503, dayMs), asInstant(at), {
      gapsMs,
      random: () => 0.999,
    });
    if ("ended" in decision) break;
    [at, tries] = [decision.dueAt, tries + 1];
  }

  assert.ok(tries >= 14 && at - now <= 17 * dayMs, `${tries} tries in ${(at - now) / dayMs} days`);
});

test("the wish is in seconds or a date", () => {
  assert.equal(readRetryAfter("120", now), 120_000);
  assert.equal(
    readRetryAfter("Sun, 15 Nov 2026 02:05:06 GMT", asInstant(1_794_708_246_000)),
    60_000,
  );
  for (const header of [undefined, "", "0", "soon", "-5", "Sun, 15 Nov 2020 00:00:00 GMT"]) {
    assert.equal(readRetryAfter(header, now), undefined, String(header));
  }
});

test("the usual table is thirty tries within two weeks", () => {
  const gapsMs = settings.callbackRetryGapsMs.production;

  const sumMs = gapsMs.reduce((sum, gapMs) => sum + gapMs, 0);
  assert.equal(gapsMs.length, 29);
  assert.ok(sumMs > 13 * dayMs && sumMs <= 14 * dayMs);
});

test("a lease outlasts several attempts that hang", () => {
  assert.equal(callbackLeaseMs(15_000), 60_000);
});
