/** A node puts the installation on hold, which stops most work, and an operator releases it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { isUnavailable } from "../server/faults.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import {
  findHold,
  identifyServer,
  noteReconciled,
  noteVerified,
  openHold,
  putOnHold,
  recognizeCopy,
  releaseHold,
} from "./installation-hold.ts";

let server: DatabaseForTests;

before(async () => {
  server = await startDatabase();
});
after(() => server.stop());
beforeEach(() => server.database.query("update installation_hold set since = null"));

const look = () => findHold(server.database.query);
const recognize = () => recognizeCopy(server.database, server.audit);
const pretend = (system: string, timeline: number) =>
  server.database.query("update installation_hold set system_id = $1, timeline = $2", [
    ...[system, timeline],
  ]);

test("the first node notes the server, and the next ones find the same", async () => {
  await server.database.query("update installation_hold set system_id = null, timeline = null");
  await recognize();
  await recognize();

  const { system, timeline } = await identifyServer(server.database.query);
  const [row] = await server.database.query("select system_id, timeline from installation_hold");
  assert.deepEqual(row, { system_id: system, timeline });
  assert.equal(await look(), undefined);
});

test("a standby that has taken over is not a copy, but another server is", async () => {
  const { system, timeline } = await identifyServer(server.database.query);

  await pretend(system, timeline - 1);
  await recognize();
  assert.equal(await look(), undefined);
  await pretend("1", timeline);
  await recognize();
  assert.equal((await look())?.why, "the database is on another server, as a copy");
  const since = (await look())?.since;
  await recognize();
  assert.equal((await look())?.since, since, "a later start began another hold");
  await releaseHold(server.database, server.audit, {});
  await recognize();
  assert.equal(await look(), undefined);
});

test("a node that looks while the hold is released does not begin another one", async () => {
  const { timeline } = await identifyServer(server.database.query);
  await pretend("1", timeline);
  await recognize();
  let released = 0;
  const query: typeof server.database.query = async (text, ...rest) => {
    const rows = await server.database.query(text, ...rest);
    if (released === 0) {
      released = 1;
      await releaseHold(server.database, server.audit, {});
    }
    return rows as never;
  };

  await recognizeCopy({ ...server.database, query }, server.audit);

  assert.equal(released, 1);
  assert.equal(await look(), undefined);
});

test("a release moves every number beyond those that the lost time may have used", async () => {
  const numbers = async () => {
    const rows = await server.database.query<{ name: string; last: string }>(
      "select sequencename as name, last_value as last from pg_sequences where last_value > 0",
    );
    return new Map(rows.map(({ name, last }) => [name, BigInt(last)]));
  };
  await server.database.query("select nextval('order_sequence'), nextval('merchant_ids')");
  const earlier = await numbers();

  await putOnHold(server.audit, "a test");
  await releaseHold(server.database, server.audit, {});

  const later = await numbers();
  const moved = (name: string) => (later.get(name) ?? 0n) - (earlier.get(name) ?? 0n);
  assert.ok(moved("order_sequence") >= 864_000_000n);
  assert.equal(moved("merchant_ids"), 1000n);
});

test("a new hold does not keep the proofs of the previous one", async () => {
  await putOnHold(server.audit, "a test");
  await noteVerified(server.database.query);
  await noteReconciled(server.database.query, "acme", "2030-01-31");
  await noteReconciled(server.database.query, "acme", "2030-01-31");
  assert.deepEqual((await look())?.reconciled, ["acme 2030-01-31"]);
  await putOnHold(server.audit, "again");
  assert.equal((await look())?.verifiedAt, undefined);
  assert.deepEqual((await look())?.reconciled, []);
  await releaseHold(server.database, server.audit, {});
});

test("a server that was restored under a running node is on hold before the node claims", async () => {
  const { system, timeline } = await identifyServer(server.database.query);
  await pretend(system, timeline);
  const hold = await openHold({
    freshMs: 0,
    database: server.database,
    audit: server.audit,
    onUnknown: assert.fail,
    onChange: () => undefined,
  });
  const work = hold.unless(async () => "worked", "skipped");

  assert.equal(await work(), "worked");
  await pretend("1", timeline);
  assert.equal(await work(), "skipped");
  assert.equal((await look())?.why, "the database is on another server, as a copy");
  await releaseHold(server.database, server.audit, {});
  assert.equal(await work(), "worked");
});

test("two releases at once move the numbers once", async () => {
  const { query } = server.database;
  const read = () => query<{ next: string }>("select next_id as next from order_numbers");
  const [before] = await read();

  await putOnHold(server.audit, "a test");
  const release = () => releaseHold(server.database, server.audit, {});
  await Promise.all([release(), release()]);

  const [later] = await read();
  assert.equal(Number(later?.next) - Number(before?.next), 10_000_000);
});

test("a node on hold refuses and skips work, and notices hold and release", async () => {
  const noticed: boolean[] = [];
  const hold = await openHold({
    freshMs: 0,
    database: server.database,
    audit: server.audit,
    onUnknown: assert.fail,
    onChange: (held) => noticed.push(held !== undefined),
  });
  const work = hold.unless(async () => "worked", "skipped");
  const call = hold.refusing(async () => "called");

  assert.deepEqual([await work(), await call()], ["worked", "called"]);
  await putOnHold(server.audit, "a test");
  assert.equal(await work(), "skipped");
  await assert.rejects(call(), isUnavailable);
  await releaseHold(server.database, server.audit, {});
  assert.deepEqual([await work(), await call()], ["worked", "called"]);
  assert.deepEqual(noticed, [true, false]);
});

test("the loops of a node share one look at the hold until a change is announced", async () => {
  const hold = await openHold({
    freshMs: 60_000,
    database: server.database,
    audit: server.audit,
    onUnknown: assert.fail,
    onChange: () => undefined,
  });
  const work = hold.unless(async () => "worked", "skipped");

  await putOnHold(server.audit, "a test");
  assert.equal(await work(), "worked");
  await hold.look();
  assert.equal(await work(), "skipped");
});
