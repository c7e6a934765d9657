/**
 * The canary: after payments with known card numbers and verification values, also of registered
 * cards, neither is found in any table, in any file of the data folder (write-ahead log and bank
 * included, so in no backup of it either), in any log line or in any reply.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readEverything } from "../support/expect.ts";
import { about, rebillFields, saleFields } from "../support/merchant.ts";
import { post, signedSale, signedStatus } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

// Approved whatever the CVV is, so that it can be registered.
const registered = "4000004000000210";
const cards = [
  ...["4000004000000129", "4000004000000020", "5200000000000015", "4539578763621486"],
  registered,
];
// Digits that the database's own files may hold by themselves: checked before they are used.
const verificationValues = ["7391", "8264", "9157", "6483"];

test("no card number and no CVV is anywhere after payments of every kind", async (t) => {
  const world = await startWorld(t, { GW_DATABASE_URL: "" });
  const before = await readEverything(world);
  const [cvv2] = verificationValues.filter((each) => !before.text.includes(each));
  assert.ok(cvv2 !== undefined, "every CVV is in the empty database by chance");

  const replies = await payWith(world, cvv2);
  await world.pass(30_000);
  await world.installation.database.query("checkpoint");
  const after = await readEverything(world);

  const everything = `${after.text}\n${world.logged.join("")}\n${replies.join("\n")}`;
  for (const card of cards) {
    assert.equal(everything.split(card).length - 1, 0, `${card.slice(0, 6)} was found`);
  }
  const standing = new RegExp(`(?<![0-9A-Za-z])${cvv2}(?![0-9A-Za-z])`, "g");
  assert.deepEqual(everything.match(standing), null, "the CVV was found");
  assert.ok(
    after.tables.includes("411111") || after.tables.includes("400000"),
    "orders were dumped",
  );
});

async function payWith(world: World, cvv2: string): Promise<readonly string[]> {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const replies: string[] = [];
  for (const credit_card_number of cards) {
    const fields = saleFields({ credit_card_number, cvv2 });
    const body = signedSale(world, endpoint, fields);
    replies.push((await post(world, `/gw/api/v2/sale/${endpoint}`, body)).text);
    // The same again, wrongly: refusals must not repeat what was sent either.
    const broken = signedSale(world, endpoint, { ...fields, expire_month: "13" });
    replies.push((await post(world, `/gw/api/v2/sale/${endpoint}`, broken)).text);
    const asked = signedStatus(world, { client_orderid: fields.client_orderid });
    replies.push((await post(world, `/gw/api/v2/status/${endpoint}`, asked)).text);
  }
  await world.bank.waitForMessage({ mti: "0200" });
  for (const reply of await payAgain(world, cvv2)) replies.push(JSON.stringify(reply));
  replies.push(JSON.stringify(world.bank.messages()));
  return replies;
}

/** Registration, card information, recurrent payments, captures and returns. */
async function payAgain(world: World, cvv2: string): Promise<readonly object[]> {
  const merchant = world.merchant();
  const { sync } = merchant.endpoint("plain");
  const first = await sync.sale(saleFields({ credit_card_number: registered, cvv2 }));
  const references = await merchant.register(first);
  const cardrefid = references["card-ref-id"] ?? "";
  const told = await merchant.cardInfo(cardrefid);
  const paid = await sync.makeRebill(rebillFields({ cardrefid, cvv2, enumerate_amounts: "5.00" }));
  const held = await sync.makeRebillPreauth(rebillFields({ cardrefid, cvv2 }));
  const taken = await sync.capture(about(held, {}));
  const returned = await sync.return(about(paid, {}));
  assert.deepEqual([paid.status, taken.status], ["approved", "approved"]);
  return [first, references, told, paid, held, taken, returned];
}
