/** Prepared statements answer what the driver's own queries do, also after failures. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "./database.ts";
import { judge } from "./faults.ts";
import { startDatabase } from "./testing/database-for-tests.ts";

const { database, url, stop } = await startDatabase();
const short = openDatabase(url, {
  ...{ poolSize: 1, connectTimeoutMs: 5000, onLost: () => undefined },
  statementTimeoutMs: 300,
});
after(async () => {
  await short.close();
  await stop();
});

const every = `select $1::int as number, $1::bigint as big, $2::text as text, $1::int = 1 as is_one,
  '\\x6f6b'::bytea as bytes, '{"a":[1]}'::jsonb as document, $3::text as nothing
  from generate_series(1, 2)`;

test("values of every type are read as the driver reads them, at each use", async () => {
  const values = ["1", 'a "quoted" ü', null];
  const usual = await short.query(every, values);

  for (const _use of [1, 2, 3]) assert.deepEqual(await short.query(every, values, "every"), usual);
  assert.equal(usual.length, 2);
});

test("the same statement may have values that are not texts", async () => {
  const usual = await short.query(every, ["1", "", null], "mixed");

  assert.deepEqual(await short.query(every, [1, "", null], "mixed"), usual);
  assert.deepEqual(await short.query(every, ["1", "", null], "mixed"), usual);
  assert.deepEqual(await short.query(every, [1, "", null], "mixed, at first"), usual);
  assert.deepEqual(await short.query(every, ["1", "", null], "mixed, at first"), usual);
});

test("a name that another statement has is refused", async () => {
  assert.deepEqual(await short.query("select $1 as a", ["1"], "taken"), [{ a: "1" }]);
  await assert.rejects(short.query("select $1 as b", ["1"], "taken"), /Two statements/);
});

test("a statement without columns answers no rows", async () => {
  const text = "delete from due where order_id = $1::bigint";

  assert.deepEqual(await short.query(text, ["1"], "without_columns"), []);
  assert.deepEqual(await short.query(text, ["1"], "without_columns"), []);
});

test("a failure has the server's code, and the statement is prepared anew afterwards", async () => {
  const divide = (by: string) => short.query("select 1 / $1::int as result", [by], "divide");

  assert.deepEqual(await divide("1"), [{ result: 1 }]);
  await assert.rejects(divide("0"), { code: "22012" });
  assert.deepEqual(await divide("1"), [{ result: 1 }]);
});

test("a statement that waits too long is given up with its connection", async () => {
  const pid = () => short.query("select pg_backend_pid() as pid", [], "own_pid");
  const before = await pid();

  const error = await database.transaction(async (query) => {
    await query("lock table orders in exclusive mode");
    return short.query("delete from orders", [], "delete_all").catch((caught) => caught);
  });

  assert.equal(judge(error), "retry");
  assert.notDeepEqual(await pid(), before);
});
