/** Screening at the merchant interface: what rules count and block, and who sees it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();

const declinedCard = "4000004000000020";
const hour = 3_600_000;
let payers = 0;

/** Makes a payer with an email and an address of its own. */
function payer(fields: SaleFields = {}): SaleFields {
  payers += 1;
  return { email: `payer${payers}@example.com`, ipaddress: `198.51.100.${payers}`, ...fields };
}

type Sent = Awaited<ReturnType<typeof merchant.sale>>;

async function codeOf(order: Sent, through = "plain"): Promise<string> {
  await world.settle();
  const status = await merchant.status(order, through);
  return status["error-code"] ?? status.status ?? "";
}

/** Pays one after the other. */
async function pay(...sales: readonly SaleFields[]): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const fields of sales) codes.push(await codeOf(await merchant.sale(fields)));
  return codes;
}

const otherPhone = { customer_browser_user_agent: "Other phone" };
const five = { per: "email", count: "5", window: "1h" };

test("five of twenty simultaneous sales at two nodes pass a limit of five", async () => {
  await world.screenBy({ kind: "velocity", parameters: five, endpoint: "plain" });
  const other = await world.otherNode("other");
  const senders = [merchant, world.merchantAt(other)];
  const jane = payer();

  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, at) => senders[at % 2]?.sale(jane) ?? assert.fail()),
  );
  await other.settle();
  const codes = await Promise.all(sent.map((order) => codeOf(order)));

  assert.equal(codes.filter((code) => code === "approved").length, 5);
  assert.equal(codes.filter((code) => code === "1010").length, 15);
  assert.equal(received(world, "0200"), 5);
});

test("a repeated request is not counted, even at the same time", async () => {
  await world.screenBy({ kind: "velocity", parameters: five, endpoint: "plain" });
  const jane = payer();
  const orders = ["a", "b", "c", "d", "e"].map((id) => ({ ...jane, client_orderid: `r-${id}` }));

  const sent = await Promise.all(
    [...orders, ...orders, ...orders].map((each) => merchant.sale(each)),
  );
  const codes = await Promise.all(sent.map((order) => codeOf(order)));
  const again = await pay(...orders);
  const sixth = await pay(jane);

  assert.deepEqual(new Set([...codes, ...again]), new Set(["approved"]));
  assert.equal(new Set(sent.map((order) => order["gw-order-id"])).size, 5);
  assert.deepEqual(sixth, ["1010"]);
});

test("the window slides, and other payers, endpoints and currencies have their own", async () => {
  const two = { per: "email", count: "2", window: "1h" };
  await world.screenBy(
    { kind: "velocity", parameters: two, endpoint: "plain" },
    { kind: "velocity", parameters: { per: "card", sum: "50.00", currency: "EUR", window: "1h" } },
  );
  const jane = payer();

  assert.deepEqual(await pay(jane), ["approved"]);
  await world.pass(hour / 2);
  assert.deepEqual(await pay(jane, jane, payer()), ["approved", "1010", "approved"]);
  const elsewhere = await merchant.sale({ ...jane, currency: "EUR" }, "eur");
  assert.equal(await codeOf(elsewhere, "eur"), "approved");
  // The third was filtered, and counts as attempted.
  await world.pass(hour / 2);
  assert.deepEqual(await pay({ ...jane, email: ` ${jane["email"]}` }), ["1010"]);
  assert.deepEqual(await pay({ ...jane, email: jane["email"]?.toUpperCase() }), ["1010"]);
  await world.pass(hour);
  assert.deepEqual(await pay(jane), ["approved"]);
});

test("only approved payments count where the rule says so", async () => {
  const two = { per: "email", count: "2", window: "1h", of: "approved" };
  await world.screenBy({ kind: "velocity", parameters: two, endpoint: "plain" });
  const jane = payer();
  const poor = { ...jane, credit_card_number: declinedCard };

  assert.deepEqual(await pay(poor, poor, poor, jane), ["116", "116", "116", "approved"]);
  assert.deepEqual(await pay(poor, jane, jane), ["116", "approved", "1010"]);
  // Open orders may still be approved, so two of ten simultaneous ones pass.
  const joe = payer();
  const sent = await Promise.all(Array.from({ length: 10 }, () => merchant.sale(joe)));
  const codes = await Promise.all(sent.map((order) => codeOf(order)));
  assert.equal(codes.filter((code) => code === "approved").length, 2);
});

test("sums, devices, different cards and declines in a row fire their rules", async () => {
  const window = "1h";
  await world.screenBy(
    { kind: "velocity", parameters: { per: "purpose", sum: "25", currency: "USD", window } },
    { kind: "cards", parameters: { per: "ip", count: "2", window } },
    { kind: "declines", parameters: { per: "email", count: "3", window } },
    { kind: "velocity", parameters: { per: "device", count: "1", window } },
  );
  const player = () => payer({ purpose: "player 7" });
  assert.deepEqual(await pay(player(), player(), player()), ["approved", "approved", "1010"]);

  const phone = { customer_browser_user_agent: "Phone", customer_browser_screen_width: "390" };
  const atHome = { ...phone, ipaddress: "2001:db8::1" };
  const household = [atHome, { ...atHome, ipaddress: "2001:db8::2" }, { ...atHome, ...otherPhone }];
  assert.deepEqual(await pay(...household), ["approved", "1010", "approved"]);

  const tester = payer();
  const cards = ["4000004000000202", "4111111111111111", "4000001000000018"];
  const tried = cards.map((credit_card_number) => ({ ...tester, credit_card_number }));
  assert.deepEqual(await pay(...tried, tried[0] ?? {}), ["approved", "approved", "1011", "1011"]);

  const unlucky = payer();
  const declined = { ...unlucky, credit_card_number: declinedCard };
  assert.deepEqual(await pay(declined, declined, unlucky), ["116", "116", "approved"]);
  assert.deepEqual(await pay(declined, declined, declined), ["116", "116", "116"]);
  assert.deepEqual(await pay(unlucky), ["1012"]);
  await world.pass(hour);
  assert.deepEqual(await pay(unlucky), ["approved"]);
});

test("the same card pays the same amount once within minutes, unless it was declined", async () => {
  await world.screenBy({ kind: "duplicate", parameters: { window: "10m", at: "merchant" } });
  const poor = { ...payer(), credit_card_number: declinedCard };
  const card = { credit_card_number: "4000004000000210" };

  assert.deepEqual(await pay(poor, poor), ["116", "116"]);
  assert.deepEqual(await pay({ ...payer(), ...card }, { ...payer(), ...card }), [
    "approved",
    "1013",
  ]);
  assert.deepEqual(await pay({ ...payer(), ...card, amount: "10.16" }), ["approved"]);
  await world.pass(hour / 6);
  assert.deepEqual(await pay({ ...payer(), ...card }), ["approved"]);
});
