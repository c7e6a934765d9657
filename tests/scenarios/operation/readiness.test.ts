/**
 * The readiness that a load balancer reads. The check uses the queues of orders, so it fails when
 * they stall. A stalled queue is limited, so that the next request is refused at once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTrapProxy } from "../../support/bank/trap-proxy.ts";
import { atEnd } from "../../support/clean-up.ts";
import { startWorld, type World } from "../../support/world.ts";

type Readiness = { readonly status: string; readonly missing: Readonly<Record<string, string>> };

const noAnswer = "no answer within 0.2 s";

test("several stalled cells make the node unready, a single one does not, and queues are limited", async (t) => {
  const bounds = { GW_IN_FLIGHT_MAX: "3", GW_QUERIES_IN_FLIGHT_MAX: "2" };
  const world = await startWorld(t, bounds);
  const merchant = world.merchant();
  const paid = await merchant.sale();
  await world.settle();
  assert.deepEqual(await readinessOf(world), [200, { status: "ready", missing: {} }]);

  const { asked } = await world.whileOrdersWait(
    () => Promise.all([merchant.sale(), merchant.sale(), merchant.sale()]),
    async () => {
      const polls = [merchant.status(paid), merchant.status(paid)];
      await assert.rejects(merchant.sale(), { httpStatus: 503 });
      await assert.rejects(merchant.capture(paid), { httpStatus: 503 });
      await assert.rejects(merchant.status(paid), { httpStatus: 503 });
      const oneStalled = await readinessOf(world);
      const allStalled = await world.installation.database.transaction(async (query) => {
        await query("lock table public.orders in access exclusive mode");
        return readinessOf(world);
      });

      const missing = { "cell second": noAnswer };
      assert.deepEqual(oneStalled, [200, { status: "ready", missing }]);
      assert.equal(allStalled[0], 503);
      assert.deepEqual(allStalled[1].missing, { "cell main": noAnswer, ...missing });
      void Promise.all(polls);
    },
  );
  await asked;
  await world.settle();

  assert.deepEqual(await readinessOf(world), [200, { status: "ready", missing: {} }]);
  assert.equal((await merchant.status(paid)).status, "approved");
});

test("a read-only database server makes the node unready", async (t) => {
  const world = await startWorld(t);
  const { query } = world.installation.database;
  const name = new URL(world.installation.databaseUrl).pathname.slice(1);
  await query(`alter database "${name}" set default_transaction_read_only = on`);
  await query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);

  const [status, { missing }] = await readinessOf(world);
  await query("set default_transaction_read_only = off");
  await query(`alter database "${name}" reset default_transaction_read_only`);
  await query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);

  assert.equal(status, 503);
  // A probe may also meet a connection that has just ended.
  assert.deepEqual(Object.keys(missing).sort(), ["cell main", "cell second"]);
});

test("one dead gate is named and the node stays ready; without any gate it is not", async (t) => {
  const world = await startWorld(t);
  const line = await startTrapProxy({ host: "127.0.0.1", port: world.bank.hostPort });
  atEnd(t, () => line.close());
  await world.changeGate("sandbox", { port: line.port });

  line.shut();
  await world.linksDown("sandbox");
  const oneDead = await readinessOf(world);
  await world.stopHost();
  const [status, { missing }] = await readinessOf(world);
  line.reset();
  await world.startHost();

  const dead = { "gate sandbox": "not signed on" };
  assert.deepEqual(oneDead, [200, { status: "ready", missing: dead }]);
  assert.equal(status, 503);
  assert.equal(Object.keys(missing).length, 3);
});

async function readinessOf(world: World): Promise<readonly [number, Readiness]> {
  const answer = await fetch(`${world.gateway.url}/health/ready`);
  const { status, missing } = (await answer.json()) as Readiness;
  return [answer.status, { status, missing }];
}
