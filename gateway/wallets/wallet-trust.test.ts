/** Keys and roots are read again. A failed read is repeated and leaves the known ones. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { writeRootKeys } from "@tollgate/protocols/walletb";
import { asMerchantId } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import {
  freshnessOf,
  openWalletKeys,
  openWalletRoots,
  type ReadKeys,
  rootSourcesOf,
  type WalletKeys,
} from "./wallet-trust.ts";

const hourMs = 3_600_000;
const merchant = asMerchantId("7");
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keyOf = (id: string) => ({
  id,
  merchantId: merchant,
  wallet: "walletb" as const,
  privateKey,
  certificate: undefined,
});
const found = (...ids: readonly string[]): ReadKeys => ({ keys: ids.map(keyOf), unreadable: [] });

/** The reads, in the order in which they began. */
let reads: PromiseWithResolvers<ReadKeys>[];
/** The ids of keys that could not be opened; undefined for a failed read. */
let warned: (string | undefined)[];
let timers: { readonly delayMs: number; readonly task: () => void }[];

const clock = {
  now: () => asInstant(0),
  after(delayMs: number, task: () => void) {
    const timer = { delayMs, task };
    timers.push(timer);
    return () => {
      timers = timers.filter((each) => each !== timer);
    };
  },
};

beforeEach(() => {
  reads = [];
  warned = [];
  timers = [];
});

async function open(first: ReadKeys): Promise<WalletKeys> {
  const opening = openWalletKeys({
    read() {
      const read = Promise.withResolvers<ReadKeys>();
      reads.push(read);
      return read.promise;
    },
    clock,
    onUnreadable: (id) => void warned.push(id),
    onError: () => void warned.push(undefined),
  });
  await answer(0, first);
  return opening;
}

/** Answers the read of this number, and lets everything that follows from it happen. */
async function answer(index: number, keys: ReadKeys | Error): Promise<void> {
  await setImmediate();
  if (keys instanceof Error) reads[index]?.reject(keys);
  else reads[index]?.resolve(keys);
  await setImmediate();
}

const idsOf = (keys: WalletKeys) => keys.keysOf(merchant, "walletb").map(({ id }) => id);

test("a list that was asked for earlier does not take the place of a later one", async () => {
  const keys = await open(found("1"));
  const older = keys.reload();
  await setImmediate();
  const newer = keys.reload();
  assert.equal(reads.length, 2, "the later one waits for the earlier one");
  await answer(1, found("1"));
  await answer(2, found("1", "2"));
  await Promise.all([older, newer]);

  assert.deepEqual(idsOf(keys), ["1", "2"]);
});

test("keys are found by merchant and wallet", async () => {
  const keys = await open(found("1"));

  assert.deepEqual(keys.keysOf(merchant, "walleta"), []);
  assert.deepEqual(keys.keysOf(asMerchantId("8"), "walletb"), []);
});

test("a reading that failed is tried again until it succeeds", async () => {
  const keys = await open(found("1"));
  void keys.reload();
  await answer(1, new Error("away"));
  assert.deepEqual([idsOf(keys), warned, timers.length], [["1"], [undefined], 1]);

  timers.pop()?.task();
  await answer(2, found("1", "2"));

  assert.deepEqual([idsOf(keys), timers.length], [["1", "2"], 0]);
});

test("a key that cannot be opened leaves the others, and stays what it was", async () => {
  const keys = await open({ ...found("1"), unreadable: [{ id: "2", cause: "broken" }] });
  assert.deepEqual([idsOf(keys), warned], [["1"], ["2"]]);

  timers.pop()?.task();
  await answer(1, found("1", "2"));
  void keys.reload();
  await answer(2, { ...found("1", "3"), unreadable: [{ id: "2", cause: "broken" }] });

  assert.deepEqual(idsOf(keys), ["1", "3", "2"]);
});

test("keys that were stopped are not tried again", async () => {
  const keys = await open(found("1"));
  void keys.reload();
  keys.stop();
  await answer(1, new Error("away"));

  assert.equal(timers.length, 0);
});

test("roots are fresh for as long as the publisher says, within sense", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [cacheControl: string, age: string, freshMs: number])[] = [
    ["public, max-age=7200", "",            2 * hourMs],
    ["max-age=7200",         "3600",        hourMs],
    ["max-age=7200",         "abc",         2 * hourMs],
    ["max-age=7200",         "3600, 10",    2 * hourMs],
    ["max-age=7200",         "1e9",         2 * hourMs],
    ["max-age=7200",         "9999999999",  300_000],
    ["max-age=7200",         "9".repeat(400), 2 * hourMs],
    [`max-age=${"9".repeat(400)}`, "10",    7 * 24 * hourMs],
    ["max-age=0",            "",            300_000],
    ["no-cache",             "abc",         hourMs],
    ["",                     "",            hourMs],
  ];
  for (const [cacheControl, age, freshMs] of rows) {
    const headers = new Headers({ "cache-control": cacheControl, age });
    assert.equal(freshnessOf(headers), freshMs, `${cacheControl} ${age}`);
  }
});

test("one wallet's roots that cannot be read do not have the other's read again", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-roots-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const walletb = join(folder, "keys.json");
  await writeFile(walletb, writeRootKeys([{ protocolVersion: "ECv1", key: publicKey }]));
  const faults: string[] = [];
  const roots = await openWalletRoots({
    sources: { walleta: join(folder, "none.pem"), walletb },
    clock,
    onError: (wallet) => void faults.push(wallet),
  });
  assert.deepEqual(faults, ["walleta"]);
  await writeFile(walletb, "broken");

  for (let minute = 1; minute < 60; minute += 1) await runNext(60_000);
  assert.deepEqual(new Set(faults), new Set(["walleta"]));
  await runNext(hourMs);
  assert.equal(faults.at(-1), "walletb", "after an hour it is");
  assert.equal(roots.walletb().length, 1, "and what was known stays");
  assert.deepEqual(
    timers.map(({ delayMs }) => delayMs),
    [60_000, 60_000],
  );
  roots.stop();
  assert.deepEqual(timers, []);

  /** Runs the timer of this delay, and waits for the one that the read sets. */
  async function runNext(delayMs: number): Promise<void> {
    const timer = timers.find((each) => each.delayMs === delayMs) ?? assert.fail("no timer");
    timers = timers.filter((each) => each !== timer);
    timer.task();
    while (timers.length < 2) await setImmediate();
  }
});

test("roots come from where the operator says, in staging from the sandbox otherwise", () => {
  const staging = { environment: "staging", dataDir: "/data" };
  const unset = { walletaRootsFile: "", walletbRootKeys: "" };
  const set = { walletaRootsFile: "a.pem", walletbRootKeys: "https://wallet.example/keys" };
  const own = { walleta: "a.pem", walletb: "https://wallet.example/keys" };

  assert.deepEqual(rootSourcesOf({ ...staging, ...unset }), {
    walleta: "/data/bank/wallets/walleta-root.pem",
    walletb: "/data/bank/wallets/walletb-root-keys.json",
  });
  assert.deepEqual(rootSourcesOf({ ...staging, ...set }), own);
  assert.deepEqual(rootSourcesOf({ ...staging, environment: "production", ...set }), own);
  assert.deepEqual(rootSourcesOf({ ...staging, environment: "production", ...unset }), {
    walleta: "",
    walletb: "",
  });
});
