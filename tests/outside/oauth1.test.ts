/**
 * Requests that other programs signed: accepted once and paid, and refused if they are changed,
 * sent to another address, signed by another key, repeated or late.
 */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runGwWith } from "../support/programs.ts";
import { giveKey } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

type Signed = {
  readonly id: string;
  readonly request: {
    readonly method?: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
};
const vector: {
  readonly consumerKey: string;
  readonly nowMs: number;
  readonly publicKeyPem: string;
  readonly good: Signed;
  readonly refused: readonly Signed[];
} = readVector("rsa-sha256.json");
const libraries: {
  readonly controlKey: string;
  readonly nowMs: number;
  readonly good: readonly Signed[];
  readonly refused: readonly Signed[];
} = readVector("libraries.json");

const tooLateMs = 3_600_000;

test("a request that another program signed is accepted once, and no variant of it", async (t) => {
  const world = await startWorld(t, { GW_BASE_URL: "https://gateway.example" });
  await addEndpoints(world);
  const setClock = (nowMs: number) => world.clock.advance(nowMs - world.clock.now());

  setClock(vector.nowMs + tooLateMs);
  assert.equal((await send(world, vector.good)).status, 403, "an hour later");
  setClock(vector.nowMs);
  for (const signed of vector.refused) {
    assert.equal((await send(world, signed)).status, 403, signed.id);
  }
  const accepted = await send(world, vector.good);
  const again = await send(world, vector.good);
  await world.settle();

  assert.equal(accepted.status, 200);
  const reply = new URLSearchParams(await accepted.text());
  assert.equal(reply.get("type")?.trim(), "async-response");
  assert.equal(again.status, 403, "the same nonce");
  const [order, ...others] = await world.installation.database.query<{ stage: string }>(
    "select stage from public.orders where client_orderid = 'invoice-2026-000451'",
  );
  assert.deepEqual([order?.stage, others.length], ["approved", 0]);
});

test("payouts and reports that published libraries signed are taken, however they encode", async (t) => {
  const world = await startWorld(t, { GW_BASE_URL: "https://gateway.example" });
  await addEndpoints(world);
  world.clock.advance(libraries.nowMs - world.clock.now());

  for (const signed of libraries.refused) {
    assert.equal((await send(world, signed)).status, 403, signed.id);
  }
  const begun = new Set<string>();
  for (const signed of libraries.good) {
    const answer = await send(world, signed);
    const text = await answer.text();
    assert.equal(answer.status, 200, signed.id);
    if (signed.id.endsWith("report")) assert.match(text, /^gw-order-id,/, signed.id);
    else begun.add(/&gw-order-id=(\d+)/.exec(text)?.[1] ?? assert.fail(`${signed.id}: ${text}`));
  }
  await world.settle();

  assert.equal(libraries.good.length, 13);
  assert.equal(begun.size, 8);
  const orders = await world.installation.database.query<{ stage: string; text: string }>(
    "select distinct stage, facts->'purchase'->>'description' as text from public.orders",
  );
  const text = "Gewinn für Zoë: 100% & mehr + a=b ~ * ' ( ) ! 中文 😀";
  assert.deepEqual(orders, [{ stage: "approved", text }]);
});

function readVector<T>(name: string): T {
  const file = join(import.meta.dirname, "../../protocols/oauth1/vectors", name);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Adds the merchant, its keys and the endpoints that the requests name. */
async function addEndpoints(world: World): Promise<void> {
  const { set } = await world.stranger(vector.consumerKey);
  const { database } = world.installation;
  for (const id of ["123", "124"]) {
    await database.query(
      `insert into endpoints (id, merchant_id, name, currency, settings)
       select $1, merchant_id, 'signed', currency,
         (settings::jsonb || '{"optionalFields": ["phone"], "payouts": true}')::json
       from endpoints where id = $2`,
      [id, set.endpoints["eur"]],
    );
    await database.query(
      `insert into endpoint_gates select $1, gate_id, rank, weight
       from endpoint_gates where endpoint_id = $2`,
      [id, set.endpoints["eur"]],
    );
  }
  const words = ["merchant", "control-key", "set", vector.consumerKey];
  const { code, complaint } = await runGwWith(libraries.controlKey, world, ...words);
  assert.equal(code, 0, complaint);
  const publicKey = createPublicKey(vector.publicKeyPem);
  await giveKey(world, vector.consumerKey, { publicKey, privateKey: publicKey });
}

function send({ gateway }: World, { request }: Signed): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method = "POST", headers, body } = request;
  const address = `http://127.0.0.1:${gateway.port}${pathname}${search}`;
  return fetch(address, { method, headers, ...(method === "POST" && { body }) });
}
