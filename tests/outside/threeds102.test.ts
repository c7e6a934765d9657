/**
 * PARes messages that another program signed, uploaded to real payments that wait for one. Each
 * names a purchase, so the waiting order gets its identifiers; the roots are the published ones. A
 * genuine answer decides, any other ends the payment, and none is valid for another order.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import {
  beginPares,
  proofAtHost,
  standingOf,
  startPatientWorld,
  statusOf,
} from "../support/threeds.ts";
import type { World } from "../support/world.ts";

type Published = {
  readonly id: string;
  readonly expected: "accept" | "refuse";
  readonly values?: { readonly status: string; readonly eci?: string; readonly cavv?: string };
  readonly order: {
    readonly xid: string;
    readonly date: string;
    readonly acqBIN: string;
    readonly merID: string;
    readonly currency: string;
  };
  readonly paRes: string;
};

const folder = join(import.meta.dirname, "../../protocols/threeds102/vectors");
const file = readFileSync(join(folder, "pares.json"), "utf8");
const { cases, nowMs }: { readonly cases: readonly Published[]; readonly nowMs: number } =
  JSON.parse(file);

type Purchase = {
  readonly through: string;
  readonly card: string;
  readonly fields: Readonly<Record<string, string>>;
};

/** Orders by the currency of the purchase. */
// biome-ignore format: a table
const purchases: Readonly<Record<string, Purchase>> = {
  "978": { through: "eur", card: "4000003000000014", fields: { amount: "10.42", currency: "EUR" } },
  "392": { through: "jpy", card: "4000003000000022", fields: { amount: "1500", currency: "JPY" } },
};

test("published PARes messages decide payments that wait for one", async (t) => {
  const world = await startPatientWorld(t);
  await world.installation.database.query(
    "update directory_servers set settings = (settings::jsonb || $1::jsonb)::json",
    [JSON.stringify({ paresRootsFile: join(folder, "trusted-root.pem") })],
  );
  for (const name of ["eur", "jpy"]) {
    await world.changeEndpoint(name, { threeDSecure: "when_possible" });
  }

  for (const { id, expected, values, order, paRes } of cases) {
    await t.test(`${id}: ${expected}`, async () => {
      world.clock.advance(nowMs - world.clock.now());
      const { card, ...purchase } = purchases[order.currency] ?? assert.fail();
      const pending = await beginPares(world, card, purchase);
      await giveIdentifiers(world, pending.order["gw-order-id"], order);

      const md = pending.status["tds-pareq-form-md"] ?? "";
      await pending.merchant.uploadPares(pending.order, { paRes, md });
      await world.settle();

      const status = await statusOf(pending);
      const isAuthenticated = expected === "accept" && values?.status === "Y";
      if (isAuthenticated) {
        const authenticated = ["sale_approved", undefined, "AUTHENTICATED", values?.eci];
        assert.deepEqual(standingOf(status), authenticated);
        assert.equal((await proofAtHost(world, status))?.value, values?.cavv);
      } else {
        assert.equal(status["order-stage"], "sale_declined");
        assert.equal(status["verified-3d-status"], "NOT_AUTHENTICATED");
        assert.equal(status["error-code"] === "2014", expected === "refuse");
        assert.equal(await proofAtHost(world, status), undefined);
      }
    });
  }

  await t.test("a genuine message with another value decides nothing", async () => {
    const { order, paRes, values } = cases[0] ?? assert.fail();
    const cavv = values?.cavv ?? assert.fail();
    const xml = inflateSync(Buffer.from(paRes, "base64")).toString();
    const changed = xml.replace(cavv, Buffer.alloc(20, 7).toString("base64"));
    assert.notEqual(changed, xml);
    world.clock.advance(nowMs - world.clock.now());
    const { card, ...purchase } = purchases[order.currency] ?? assert.fail();
    const pending = await beginPares(world, card, purchase);
    await giveIdentifiers(world, pending.order["gw-order-id"], order);

    const sent = {
      paRes: deflateSync(changed).toString("base64"),
      md: pending.status["tds-pareq-form-md"] ?? "",
    };
    await pending.merchant.uploadPares(pending.order, sent);
    await world.settle();

    const refused = ["sale_declined", "2014", "NOT_AUTHENTICATED", undefined];
    assert.deepEqual(standingOf(await statusOf(pending)), refused);
  });

  await t.test("a genuine message is valid for no other order", async () => {
    const [genuine] = cases;
    const { card, ...purchase } = purchases["978"] ?? assert.fail();
    const pending = await beginPares(world, card, purchase);
    const md = pending.status["tds-pareq-form-md"] ?? "";

    await pending.merchant.uploadPares(pending.order, { paRes: genuine?.paRes ?? "", md });
    await world.settle();

    const refused = ["sale_declined", "2014", "NOT_AUTHENTICATED", undefined];
    assert.deepEqual(standingOf(await statusOf(pending)), refused);
  });
});

async function giveIdentifiers(
  { installation }: World,
  id: string,
  { xid, date, acqBIN, merID }: Published["order"],
): Promise<void> {
  const request = { date, acquirerBin: acqBIN, merchantCode: merID };
  const changed = await installation.database.query(
    `update orders set progress = jsonb_set(
       jsonb_set(progress::jsonb, '{transaction,threeds,transactionId}', to_jsonb($2::text)),
       '{transaction,threeds,payerRequest}',
       progress::jsonb #> '{transaction,threeds,payerRequest}' || $3::jsonb
     ) where id = $1 returning id`,
    [id, xid, JSON.stringify(request)],
  );
  assert.equal(changed.length, 1);
}
