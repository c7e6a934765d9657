/**
 * The plans of callback statements, made with statistics of a quiet day while thousands of
 * callbacks are open. Each statement uses the key, and none reads all open callbacks.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { asInstant } from "../../values/time.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeOwed } from "../testing/stored-rows.ts";
import {
  claimStatement,
  deferStatement,
  dueStatement,
  recordStatement,
  releaseStatement,
  waitStatement,
} from "./callbacks.ts";

const { database, stop } = await startDatabase();
after(stop);
const now = asInstant(1_800_000_000_000);
const { owe } = makeOwed(database, now);
const url = "https://shop.example/told";
const quiet = Array.from({ length: 20_000 }, () => url);
const busy = Array.from({ length: 4_000 }, () => url);

await owe("7", quiet);
await database.query("update callbacks set ended = 'delivered', ended_at = now(), due_at = null");
await database.query("vacuum analyze callbacks");
await owe("8", busy);

// biome-ignore format: a table
const scans: readonly (readonly [name: string, statement: string, byDue: number])[] = [
  // The search for due callbacks uses the index of due times. For each callback it checks by the
  // primary key whether an earlier callback of the order is open.
  ["the look for due ones", dueStatement,      1],
  ["deferring",             deferStatement,    0],
  ["claiming",              claimStatement,    0],
  ["releasing",             releaseStatement,  0],
  ["waiting",               waitStatement,     0],
  ["recording",             recordStatement,   0],
];

for (const [name, statement, byDue] of scans) {
  test(`${name} goes by the key`, async () => {
    const rows = await database.hot<{ "QUERY PLAN": string }>(
      `explain (generic_plan) ${statement}`,
    );
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    const found = [...plan.matchAll(/Scan(?: Backward)? using callbacks_(\w+) on/g)];
    const used = found.map(([, index]) => index);
    assert.ok(used.length > 0, plan);
    assert.equal(used.filter((index) => index === "due").length, byDue, plan);
    assert.doesNotMatch(plan, /Seq Scan on callbacks/, plan);
    // A scan of the whole index has no condition after its name.
    const conditions = plan.match(/using callbacks_pkey on .*\n\s+Index Cond:/g) ?? [];
    assert.equal(conditions.length, used.filter((index) => index === "pkey").length, plan);
  });
}
