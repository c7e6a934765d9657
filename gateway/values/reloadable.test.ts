/** A value that is read again is always the newest one, and a failed read changes nothing. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { openReloadable } from "./reloadable.ts";

/** The reads that have begun, in their order, with the value that each received. */
let reads: (PromiseWithResolvers<string> & { readonly present: string | undefined })[];
let errors: unknown[];

beforeEach(() => {
  reads = [];
  errors = [];
});

async function open(first: string) {
  const opening = openReloadable<string>({
    read(present) {
      const read = Promise.withResolvers<string>();
      reads.push({ ...read, present });
      return read.promise;
    },
    onError: (error) => errors.push(error),
  });
  reads[0]?.resolve(first);
  return opening;
}

test("an older read does not replace a newer one", async () => {
  const live = await open("first");
  const older = live.reload();
  await turn();
  const newer = live.reload();
  await turn();
  assert.equal(reads.length, 2);

  reads[1]?.resolve("older");
  await older;
  assert.equal(live.current(), "older");
  await turn();
  reads[2]?.resolve("newer");
  await newer;

  assert.equal(live.current(), "newer");
  assert.deepEqual(
    reads.map(({ present }) => present),
    [undefined, "first", "older"],
  );
});

test("calls that wait for the same read share it", async () => {
  const live = await open("first");
  const under = live.reload();
  await turn();
  const waiting = [live.reload(), live.reload(), live.reload()];
  reads[1]?.resolve("second");
  await under;
  await turn();
  reads[2]?.resolve("third");
  await Promise.all(waiting);

  assert.deepEqual([live.current(), reads.length], ["third", 3]);
});

test("a failed read is reported, keeps the present value and does not end reloading", async () => {
  const live = await open("first");
  const failing = live.reload();
  await turn();
  reads[1]?.reject(new Error("away"));
  await failing;
  assert.deepEqual([live.current(), String(errors)], ["first", "Error: away"]);

  const again = live.reload();
  await turn();
  reads[2]?.resolve("second");
  await again;

  assert.deepEqual([live.current(), errors.length], ["second", 1]);
});

test("without a first value there is nothing to keep", async () => {
  await assert.rejects(
    openReloadable({ read: () => Promise.reject(new Error("away")), onError: () => undefined }),
    /away/,
  );
});

/** Everything that only waits for promises has run by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
