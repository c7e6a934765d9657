/** How many reports are open at a time, and that each of them ends however its reader ends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asMerchantId, type MerchantId } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { makeOpenReport } from "./open-report.ts";

/** Opens reports of one line, and tells which merchants hold a lock. */
function startReports() {
  const locked = new Set<MerchantId>();
  const events: string[] = [];
  const open = makeOpenReport({
    async *stream() {
      yield "head";
      yield "line";
    },
    async takeReport(merchant) {
      if (locked.has(merchant)) return undefined;
      locked.add(merchant);
      return async () => void locked.delete(merchant);
    },
    log: (event) => void events.push(event),
  });
  const [from, until] = [asInstant(0), asInstant(1)];
  const openOf = (id: number) => open({ merchantId: asMerchantId(String(id)), from, until });
  return { locked, events, openOf };
}

async function readWhole(parts: AsyncGenerator<string> | Failure): Promise<string> {
  assert.ok(!(parts instanceof Failure));
  return (await Array.fromAsync(parts)).join();
}

test("four reports are sent at a time, and one of each merchant", async () => {
  const { locked, events, openOf } = startReports();
  const opened = await Promise.all([1, 2, 3].map(openOf));

  const again = await openOf(1);
  opened.push(await openOf(4));
  const fifth = await openOf(5);

  assert.ok(again instanceof Failure && fifth instanceof Failure);
  for (const parts of opened) assert.equal(await readWhole(parts), "head,line");
  assert.equal(locked.size, 0);
  assert.equal(await readWhole(await openOf(5)), "head,line");
  assert.deepEqual(new Set(events), new Set(["report.sent"]));
});

test("a report that is returned unread leaves neither a lock nor a place", async () => {
  const { locked, events, openOf } = startReports();

  for (let count = 0; count < 5; count += 1) {
    const parts = await openOf(1);
    assert.ok(!(parts instanceof Failure));
    await parts.return(undefined);
  }

  assert.equal(locked.size, 0);
  assert.deepEqual(new Set(events), new Set(["report.broken_off"]));
});
