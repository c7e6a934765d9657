/** A rehearsal refuses a database of production, and production refuses a rehearsal's. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startDatabase } from "../testing/database-for-tests.ts";
import { markRehearsal, refuseDatabase } from "./rehearsal.ts";

test("a rehearsal marks its database once, which production refuses from then on", async (t) => {
  const { server, refuse } = await open(t);

  const before = [await refuse(true), await refuse(false)];
  await markRehearsal(server.audit);
  await markRehearsal(server.audit);
  await server.database.query("select nextval('order_sequence')");

  assert.deepEqual(before, [undefined, undefined]);
  assert.equal(await refuse(true), undefined);
  assert.match((await refuse(false)) ?? "", /^This database was used for a rehearsal: .* a new/);
  const entries = "select from audit where action = 'rehearsal'";
  assert.equal((await server.database.query(entries)).length, 1);
});

const uses = [
  "select nextval('order_sequence')",
  "insert into gates (id, name, kind, settings) values (1, 'a', 'sandbox', '{}')",
];

for (const use of uses) {
  test(`a database of production is not for a rehearsal: ${use}`, async (t) => {
    const { server, refuse } = await open(t);

    await server.database.query(use);

    assert.match((await refuse(true)) ?? "", /^GW_REHEARSAL is on, and this database already has/);
    assert.equal(await refuse(false), undefined);
  });
}

async function open(t: TestContext) {
  const server = await startDatabase();
  t.after(() => server.stop());
  const refuse = async (rehearsal: boolean) =>
    (await refuseDatabase(server.database.query, { rehearsal }))?.sentence;
  return { server, refuse };
}
