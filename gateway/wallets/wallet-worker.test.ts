/** Every request to the thread that decrypts tokens ends, even if the thread is lost. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { Failure } from "../values/failure.ts";
import { TestClock } from "../values/testing.ts";
import { startWalletWorker, type WalletWorker } from "./payment-data.ts";

const trust = {
  now: 0,
  roots: [],
  merchantKeys: [],
  signingWindowMs: 1,
  allowSandboxSigner: true,
};
const fault = { reason: "wrong_fields", field: undefined };

let lost: string[];
let clock: TestClock;
let walletWorker: WalletWorker;

beforeEach(() => {
  clock = new TestClock();
  lost = [];
  walletWorker = startWalletWorker({
    clock,
    observe: () => undefined,
    onLost: (cause) => void lost.push(cause),
  });
});

afterEach(() => walletWorker.stop());

const ask = () => walletWorker.walleta("{}", trust);

test("beyond some hundred that wait, the next is told to come again", async () => {
  const all = await Promise.all(Array.from({ length: 300 }, ask));

  const refused = all.filter((each) => each instanceof Failure);
  assert.equal(refused.length, 300 - 256);
  assertUnavailable(refused[0], /too many/);
  assert.deepEqual(all[255], fault);
  assert.deepEqual(await ask(), fault, "afterwards there is room again");
});

test("a thread that ends leaves nobody waiting, and the next token starts another", async () => {
  const first = ask();
  const thread = await threadOf(first);
  await thread.terminate();

  assertUnavailable(await first, /lost/);
  assert.equal(lost.length, 1);
  assert.deepEqual(await ask(), fault);
});

test("a thread that answers nobody within five seconds is replaced", async () => {
  const [first, second] = [ask(), ask()];
  const thread = await threadOf(first);
  const ended = once(thread, "exit");
  clock.move(4_999);
  assert.deepEqual(lost, []);
  clock.move(1);

  assertUnavailable(await first, /too long/);
  assertUnavailable(await second, /hangs/);
  await ended;
  assert.deepEqual(lost, ["it hangs"]);
  assert.deepEqual(await ask(), fault);
});

test("a thread that is only slow is left alone", async () => {
  assert.deepEqual(await ask(), fault);
  const slow = ask();
  clock.move(3_000);
  const second = ask();
  assert.deepEqual(await slow, fault);
  clock.move(5_000);
  await second;

  assert.deepEqual(lost, []);
  assert.deepEqual(await ask(), fault);
});

test("whoever waits when the gateway stops is told so", async () => {
  const open = ask();
  await walletWorker.stop();

  assertUnavailable(await open, /stops/);
  assert.deepEqual(lost, [], "it was told to end");
});

function assertUnavailable(answer: unknown, cause: RegExp): void {
  assert.ok(answer instanceof Failure, JSON.stringify(answer));
  assert.equal(answer.code, "storage_unavailable");
  assert.match(answer.cause, cause);
}

/** The thread that a request has started. */
async function threadOf(_asked: Promise<unknown>): Promise<Worker> {
  const [worker] = await once(process, "worker");
  return worker;
}
