/** Keys that are read again: the newest list stands, and what failed is tried again. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { beforeEach, test } from "node:test";
import { asMerchantId } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { type LiveKeys, openLiveKeys, type ReadKeys } from "./live-keys.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keyOf = (id: string) => ({
  ...{ id, merchantId: asMerchantId("7"), wallet: "walletb" as const, privateKey },
  ...{ certificate: undefined, createdAt: asInstant(0) },
});
const found = (...ids: readonly string[]): ReadKeys => ({ keys: ids.map(keyOf), unreadable: [] });

/** What is being read, in the order in which it was asked for. */
let readings: PromiseWithResolvers<ReadKeys>[];
let warned: (string | undefined)[];
let timers: (() => void)[];

beforeEach(() => {
  readings = [];
  warned = [];
  timers = [];
});

async function open(first: ReadKeys): Promise<LiveKeys> {
  const opening = openLiveKeys({
    read() {
      const reading = Promise.withResolvers<ReadKeys>();
      readings.push(reading);
      return reading.promise;
    },
    clock: {
      now: () => asInstant(0),
      after(_, task) {
        timers.push(task);
        return () => {
          timers = timers.filter((each) => each !== task);
        };
      },
    },
    warn: (_, id) => void warned.push(id),
  });
  readings[0]?.resolve(first);
  return opening;
}

const idsOf = (live: LiveKeys) => live.current().map(({ id }) => id);

test("a list that was asked for earlier does not take the place of a later one", async () => {
  const live = await open(found("1"));
  const [older, newer] = [live.reload(), live.reload()];
  readings[2]?.resolve(found("1", "2"));
  await newer;
  readings[1]?.resolve(found("1"));
  await older;

  assert.deepEqual(idsOf(live), ["1", "2"]);
});

test("a reading that failed is tried again until it succeeds", async () => {
  const live = await open(found("1"));
  const failing = live.reload();
  readings[1]?.reject(new Error("away"));
  await failing;
  assert.deepEqual([idsOf(live), warned, timers.length], [["1"], [undefined], 1]);

  timers.pop()?.();
  readings[2]?.resolve(found("1", "2"));
  await readings[2]?.promise;

  assert.deepEqual([idsOf(live), timers.length], [["1", "2"], 0]);
});

test("a key that cannot be opened leaves the others, and stays what it was", async () => {
  const live = await open({ ...found("1"), unreadable: [{ id: "2", cause: "broken" }] });
  assert.deepEqual([idsOf(live), warned], [["1"], ["2"]]);

  timers.pop()?.();
  readings[1]?.resolve(found("1", "2"));
  await readings[1]?.promise;
  const again = live.reload();
  readings[2]?.resolve({ ...found("1", "3"), unreadable: [{ id: "2", cause: "broken" }] });
  await again;

  assert.deepEqual(idsOf(live), ["1", "3", "2"]);
});
