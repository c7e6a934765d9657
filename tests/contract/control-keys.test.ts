/** The overlap of a merchant's two control keys in requests and callbacks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { assertRefused } from "../support/expect.ts";
import { about, makeMerchant, rebillFields } from "../support/merchant.ts";
import { readGw, runGw } from "../support/programs.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { formOf, post, sha1 } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

const wrongControl = 2;

test("both keys sign every kind of request until the old one is dropped, and the gateway signs with the new one", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const cardrefid = await world.registerCard();
  const { login, controlKey: old } = world.set;

  const renewed = await readGw(world, "merchant", "control-key", "renew", login);
  const { controlKey } = renewed as { readonly controlKey: string };
  const [before, after] = [merchantWith(world, old), merchantWith(world, controlKey)];
  await until("the new key counts", () => after.cardInfo(cardrefid).catch(() => undefined));
  for (const merchant of [before, after]) {
    const sale = await merchant.sale({ server_callback_url: shop.url });
    await world.settle();
    await merchant.return(sale, { amount: "1.00" });
    await merchant.rebill({ cardrefid });
    await merchant.group().status(about(sale, {}));
  }
  await world.settle();
  // Deployed clients omit the endpoint's id in a rebill's checksum.
  const short = await post(world, `/gw/api/v2/make-rebill/${plain(world)}`, shortRebill());

  assert.match(short.text, /^type=async-response&/);
  for (const { fields } of shop.heard) {
    const { status, orderid, client_orderid, control } = fields;
    assert.equal(control, sha1(`${status}${orderid}${client_orderid}${controlKey}`));
  }
  assert.equal(shop.heard.length, 2);
  const dropped = await runGw(world, "merchant", "control-key", "drop", login);
  assert.match(dropped.printed, /last used +\d{4}-\d\d-\d\d /);
  await until("the old key is refused", () =>
    before.cardInfo(cardrefid).then(
      () => undefined,
      () => true as const,
    ),
  );
  await assertRefused(before.sale(), wrongControl);
  await assertRefused(before.rebill({ cardrefid }), wrongControl);
  await after.sale();
  await world.settle();

  function shortRebill(): string {
    const { client_orderid, ...others } = rebillFields({ cardrefid });
    const text = `${login}${client_orderid}${cardrefid}1015USD${old}`;
    return formOf({ ...others, client_orderid, login, control: sha1(text) });
  }
});

function merchantWith(world: World, controlKey: string) {
  const set = { ...world.set, controlKey };
  return makeMerchant({ set, baseUrl: () => world.gateway.url, makeClient });
}

function plain({ set }: World): string {
  return set.endpoints["plain"] ?? "";
}
