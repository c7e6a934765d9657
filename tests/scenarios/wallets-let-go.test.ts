/** Payment data of refused requests: free for another order, unless one has paid with it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../support/expect.ts";
import { waitingLocks } from "../support/locks.ts";
import { chargesAt } from "../support/threeds.ts";
import { until } from "../support/until.ts";
import {
  assertWalletRefused,
  mintB,
  paid,
  pay,
  startWalletWorld,
  walletFields,
} from "../support/wallets.ts";
import type { World } from "../support/world.ts";

/** The host books it and never answers. */
const unanswered = { credit_card_number: "4000004000000129" };

test("a refused request frees nothing that the same request has paid with since", async (t) => {
  const world = await startWalletWorld(t);
  const release = await stallLettingGo(world);
  const inDoubt = await world.merchant().sale(unanswered);
  await until("the host has it", () => chargesAt(world) > 0 || undefined);
  const token = await mintB(world);
  const fields = { client_orderid: inDoubt["merchant-order-id"] };
  const send = () => pay(world, "walletb_encrypted", token, { fields });

  const refused = assertRefused(send(), 7);
  await until("it is letting go", async () => {
    const stalled = `select ${waitingLocks} and locktype = 'advisory'`;
    return (await world.installation.database.query(stalled)).length > 0 || undefined;
  });
  // The order that was in the way ends unpaid, so that the same request is taken now.
  await world.pass(30_000);
  const order = await send();
  await world.settle();
  await release();
  await refused;
  const another = await paid(world, "walletb_encrypted", token);

  assert.equal((await world.merchant().status(order)).status, "approved");
  assertWalletRefused(another, 3005, "another order with the token");
  assert.equal(chargesAt(world), 2);
});

test("ten refused requests at the same moment let go of the token together", async (t) => {
  const world = await startWalletWorld(t);
  const taken = await world.merchant().sale();
  const token = await mintB(world);
  const fields = { client_orderid: taken["merchant-order-id"] };
  const request = { ...walletFields("walletb_encrypted", token), ...fields };

  const all = Array.from({ length: 10 }, () => assertRefused(world.merchant().sale(request), 7));
  await Promise.all(all);

  assert.equal((await paid(world, "walletb_encrypted", token)).status, "approved");
  assertWalletRefused(await paid(world, "walletb_encrypted", token), 3005, "a second time");
});

test("a request is refused as it would be when its token cannot be let go of", async (t) => {
  const world = await startWalletWorld(t);
  const taken = await world.merchant().sale();
  const { query } = world.installation.database;
  await query(`create function lose() returns trigger language plpgsql as
    $$ begin ${whenLettingGo} raise 'gone' using errcode = '08006'; end if; return null; end $$`);
  await query(before("lose"));
  const fields = { client_orderid: taken["merchant-order-id"] };

  await assertRefused(pay(world, "walletb_encrypted", await mintB(world), { fields }), 7);
  assert.ok(world.logged.some((line) => line.includes("wallet.token_release_failed")));
});

/** Whoever takes payment data inserts; whoever only changes or deletes it lets go. */
const whenLettingGo = "if current_query() not like '%insert into%' then";
const before = (work: string) => `create trigger ${work} before update or delete
  on wallet_messages for each statement execute function ${work}()`;

/** From now on nobody lets go of payment data before the test does. */
async function stallLettingGo({ installation }: World): Promise<() => Promise<void>> {
  const { query } = installation.database;
  await query(`create function stall() returns trigger language plpgsql as
    $$ begin ${whenLettingGo} perform pg_advisory_xact_lock(12, 12); end if; return null; end $$`);
  await query(before("stall"));
  const holder = await installation.database.connect();
  await holder.query("select pg_advisory_lock(12, 12)");
  return () => holder.end();
}
