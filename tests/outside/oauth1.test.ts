/**
 * A request that other programs signed, sent to its v4 route: accepted once and paid, and refused
 * if it is changed, sent to another address, signed by another key, repeated or late.
 */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { giveKey } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

type Signed = {
  readonly id: string;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
};
const file = join(import.meta.dirname, "../../protocols/oauth1/vectors/rsa-sha256.json");
const vector: {
  readonly consumerKey: string;
  readonly nowMs: number;
  readonly publicKeyPem: string;
  readonly good: Signed;
  readonly refused: readonly Signed[];
} = JSON.parse(readFileSync(file, "utf8"));

const tooLateMs = 3_600_000;

test("a request that another program signed is accepted once, and no variant of it", async (t) => {
  const world = await startWorld(t, { GW_BASE_URL: "https://gateway.example" });
  await addEndpoints(world);
  const publicKey = createPublicKey(vector.publicKeyPem);
  await giveKey(world, vector.consumerKey, { publicKey, privateKey: publicKey });
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

/** Adds the merchant and the endpoints that the requests name. */
async function addEndpoints(world: World): Promise<void> {
  const { set } = await world.stranger(vector.consumerKey);
  const { database } = world.installation;
  for (const id of ["123", "124"]) {
    await database.query(
      `insert into endpoints (id, merchant_id, name, currency, settings)
       select $1, merchant_id, 'signed', currency,
         (settings::jsonb || '{"optionalFields": ["phone"]}')::json
       from endpoints where id = $2`,
      [id, set.endpoints["eur"]],
    );
    await database.query(
      `insert into endpoint_gates select $1, gate_id, rank, weight
       from endpoint_gates where endpoint_id = $2`,
      [id, set.endpoints["eur"]],
    );
  }
}

function send({ gateway }: World, { request }: Signed): Promise<Response> {
  const { pathname } = new URL(request.url);
  const { headers, body } = request;
  return fetch(`http://127.0.0.1:${gateway.port}${pathname}`, { method: "POST", headers, body });
}
