/**
 * The payment page: the merchant sends the purchase, and the cardholder the card. An order has at
 * most one charge in force, and the merchant gets its result once, even with several tabs, a silent
 * bank or an expired page.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { bookedFor, received } from "../../support/expect.ts";
import { formFields, look, openPage, pay } from "../../support/posted-page.ts";
import { readGw } from "../../support/programs.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const [ascii = assert.fail()] = dialects;
const merchant = world.merchant();
const answerTimeoutMs = 30_000;
const lifetimeMs = 1_800_000;
const longestGapMs = 300_000;
const noFunds = { "cc-csc": "116" };
const noAnswer = { "cc-csc": "217" };

type Opened = Awaited<ReturnType<typeof openPage>>;
const stageOf = async (page: Opened) => (await merchant.status(page))["order-stage"];

/** Returns the reference of the charge that was sent. */
async function sentFor(page: Opened): Promise<string> {
  const { "processor-rrn": reference = "" } = await merchant.status(page);
  await world.bank.waitForMessage({ mti: ascii.mti("0200"), reference });
  return reference;
}

async function emailOf(page: Opened): Promise<string | undefined> {
  const [row] = await world.installation.database.query<{ email: string }>(
    "select facts #>> '{purchase,customer,email}' as email from orders where id = $1",
    [page["gw-order-id"]],
  );
  return row?.email;
}

test("a card from the page pays like one that the merchant sends, with all follow-ups", async () => {
  const page = await openPage(merchant);
  const before = await merchant.status(page);
  const shown = await look(page);

  const posted = await pay(page);
  await world.settle();
  const paid = await merchant.status(page);
  const registered = await merchant.register(page);
  await merchant.return(page);
  await world.settle();

  assert.equal(page.type, "async-form-response");
  assert.match(page["redirect-url"], /^http:\/\/[^/]+\/pay\/\d{8,}\.[\w-]{24}$/);
  assert.deepEqual([before.status, before["order-stage"]], ["processing", "sale_processing"]);
  const cardFields = ["last-four-digits", "bin", "card-type", "name", "card-hash-id", "bank-name"];
  for (const name of cardFields) assert.equal(Object(before)[name], undefined, name);
  assert.deepEqual([shown.status, shown.takesCard], [200, true]);
  assert.equal(posted.status, 303);
  assert.equal(paid["order-stage"], "sale_approved");
  assert.equal(paid["last-four-digits"], "1111");
  assert.equal(paid["cardholder-name"], "JANE DOE");
  assert.ok(paid["receipt-id"]);
  assert.ok(registered["card-ref-id"] !== undefined);
  assert.equal(await stageOf(page), "reversal_approved");
  assert.deepEqual(bookedFor(world, paid), ["sale 1015", "reversal 1015"]);
});

test("a preauthorisation from the page is captured, and a verification registers its card", async () => {
  const plain = merchant.endpoint("plain");
  const { amount: _, currency: __, order_desc: ___, ...unpaid } = formFields();
  const hold = await plain.preauthForm(formFields());
  const check = await plain.accountVerificationForm(unpaid);
  for (const { "redirect-url": url = "" } of [hold, check]) await pay({ "redirect-url": url });
  await world.settle();
  await merchant.capture(hold, { amount: "4.00" });
  await world.settle();
  const [captured, verified] = [await merchant.status(hold), await merchant.status(check)];

  assert.deepEqual(
    [captured["order-stage"], captured["charged-amount"]],
    ["capture_approved", "4.00"],
  );
  assert.equal(verified["order-stage"], "av_approved");
  assert.ok(verified["card-ref-id"] !== undefined);
});

test("an identical request gets the same page, and a different one is refused", async () => {
  const fields = { client_orderid: `page-${process.pid}` };
  const page = await openPage(merchant, fields);
  const again = await openPage(merchant, fields);

  assert.equal(again["redirect-url"], page["redirect-url"]);
  assert.equal(again["gw-order-id"], page["gw-order-id"]);
  await assert.rejects(openPage(merchant, { ...fields, amount: "11.00" }), /DUPLICATE_ORDER/);
  await assert.rejects(merchant.sale(fields), /DUPLICATE_ORDER/);
});

test("the token of one order opens no other page", async () => {
  const page = await openPage(merchant);
  const id = page["gw-order-id"] ?? "";
  const neighbour = await openPage(merchant);
  const forged = page["redirect-url"].replace(id, neighbour["gw-order-id"] ?? "");

  const { "redirect-url": own } = page;
  for (const url of [forged, own.slice(0, -1), own.slice(0, own.lastIndexOf("."))]) {
    const answer = await pay({ "redirect-url": url });
    assert.equal(answer.status, 404, url);
  }
  await world.settle();
  assert.equal(await stageOf(neighbour), "sale_processing");
});

test("a refused card may be tried again, and the merchant gets only the last result", async (t) => {
  const receiver = await startReceiver(t);
  const server_callback_url = `${receiver.url}/heard`;
  const page = await openPage(merchant, { server_callback_url, email: undefined });

  await pay(page, { ...noFunds, email: "jane@exmaple.com" });
  await world.settle();
  const between = await merchant.status(page);
  const shown = await look(page);
  await pay(page, { email: "jane@example.com" });
  await world.settle();
  await receiver.untilHeard(1);
  const paid = await merchant.status(page);

  assert.deepEqual(
    [between["order-stage"], between["last-four-digits"]],
    ["sale_processing", undefined],
  );
  assert.equal(between["processor-rrn"], undefined);
  assert.equal(between["error-code"], undefined);
  assert.ok(shown.takesCard);
  assert.match(shown.body, /name="email"[^>]* value="jane@exmaple\.com"/);
  assert.equal(await emailOf(page), "jane@example.com");
  assert.equal(paid["order-stage"], "sale_approved");
  assert.match(paid["processor-rrn"] ?? "", /02$/);
  assert.deepEqual(
    receiver.heard.map(({ fields }) => fields["status"]),
    ["approved"],
  );
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
});

test("the last try's refusal is the order's result", async () => {
  const page = await openPage(merchant);
  for (const cvv of ["116", "101", "209"]) {
    await pay(page, { "cc-csc": cvv });
    await world.settle();
  }
  const charges = received(world, "0200");
  await pay(page);
  await world.settle();
  const ended = await merchant.status(page);

  assert.deepEqual([ended["order-stage"], ended["error-code"]], ["sale_declined", "209"]);
  assert.equal(ended["last-four-digits"], "1111");
  assert.equal(received(world, "0200"), charges);
});

test("two tabs and a double click are one charge", async () => {
  const page = await openPage(merchant);
  const charges = received(world, "0200");

  const answers = await Promise.all(Array.from({ length: 6 }, () => pay(page)));
  await world.settle();

  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [303]);
  assert.equal(received(world, "0200"), charges + 1);
  assert.deepEqual(bookedFor(world, await merchant.status(page)), ["sale 1015"]);
});

test("while a try is in doubt no other begins, and after it is settled another may", async () => {
  const page = await openPage(merchant);
  await pay(page, noAnswer);
  await sentFor(page);
  await pay(page);
  world.clock.advance(answerTimeoutMs);
  await world.bank.setSwitches({ reversalCode: "96" });
  await world.settle();
  const doubt = [
    await stageOf(page),
    (await look(page)).takesCard,
    received(world, "0200"),
  ] as const;
  await pay(page);
  await world.settle();
  const still = received(world, "0200");
  await world.bank.setSwitches({ reversalCode: null });
  await world.pass(longestGapMs);
  await world.pass(longestGapMs);
  const free = [await stageOf(page), (await look(page)).takesCard];
  await pay(page);
  await world.settle();
  const paid = await merchant.status(page);

  assert.deepEqual(doubt.slice(0, 2), ["sale_unknown", false]);
  assert.equal(still, doubt[2]);
  assert.deepEqual(free, ["sale_processing", true]);
  assert.equal(paid["order-stage"], "sale_approved");
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
});

test("an expired page accepts no card, and its order is declined", async () => {
  const page = await openPage(merchant);
  await pay(page, noFunds);
  await world.settle();
  world.clock.advance(lifetimeMs);
  const charges = received(world, "0200");
  await pay(page);
  await world.settle();
  const ended = await merchant.status(page);

  assert.deepEqual([ended["order-stage"], ended["error-code"]], ["sale_declined", "2900"]);
  assert.match(ended["error-message"] ?? "", /^PAYMENT_PAGE_EXPIRED/);
  assert.equal(received(world, "0200"), charges);
});

test("a try that is refused after the page's time ends the order with its own reason", async () => {
  const page = await openPage(merchant);
  world.clock.advance(lifetimeMs - 1_000);
  await pay(page, noAnswer);
  world.clock.advance(answerTimeoutMs);
  await world.settle();
  await world.pass(longestGapMs);
  const ended = await merchant.status(page);

  assert.deepEqual([ended["order-stage"], ended["error-code"]], ["sale_error", "5003"]);
});

test("`gw order show` lists each try with its card, gate and result, and no card number", async () => {
  const page = await openPage(merchant);
  await pay(page, noFunds);
  await world.settle();
  await pay(page, { "cc-number": "4000000000000002" });
  await world.settle();
  const shown = Object(await readGw(world, "order", "show", page["gw-order-id"]));

  assert.deepEqual(
    shown.tries.map((each: { card: string; result: string }) => [each.card, each.result]),
    [
      ["411111****1111", "INSUFFICIENT_FUNDS: [51]"],
      ["400000****0002", "approved"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(shown), /4111111111111111|4000000000000002/);
  const refused = world.logged.filter((line) => line.includes("order.try_refused"));
  assert.ok(refused.some((line) => line.includes(page["gw-order-id"])));
});

test("another node accepts the next try", async () => {
  const other = await world.otherNode("beside");
  const page = await openPage(merchant);
  const { pathname } = new URL(page["redirect-url"]);
  const beside = { "redirect-url": new URL(pathname, other.url).href };
  await pay(page, noFunds);
  await world.settle();

  await pay(beside);
  await other.settle();
  const paid = await merchant.status(page);

  assert.equal(paid["order-stage"], "sale_approved");
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
});

test("a disabled endpoint accepts no further try, and its page leads back to the shop", async () => {
  const page = await openPage(merchant, { redirect_url: "https://shop.example/thanks?order=7" });
  await readGw(world, "endpoint", "set", world.set.endpoints["plain"] ?? "", "--disable");
  await world.restart();
  const charges = received(world, "0200");
  const here = {
    "redirect-url": new URL(new URL(page["redirect-url"]).pathname, world.gateway.url).href,
  };
  const answers = [await pay(here), await look(here)];
  await world.settle();
  await readGw(world, "endpoint", "set", world.set.endpoints["plain"] ?? "", "--enable");
  await world.restart();

  for (const { status, body } of answers) {
    assert.equal(status, 200);
    assert.match(body, /Payment is not possible now.*href="https:\/\/shop\.example"/s);
    assert.doesNotMatch(body, /cc-number|<script|http-equiv="refresh"/, "it stays as it is");
  }
  assert.equal(received(world, "0200"), charges);
  assert.equal(await stageOf(page), "sale_processing");
});

test("each try is screened: the same card may be tried again, and too many are kept out", async () => {
  await world.screenBy(
    { kind: "duplicate", parameters: { window: "1h" } },
    { kind: "velocity", parameters: { per: "email", count: "2", window: "1h" } },
  );
  const page = await openPage(merchant, { email: "tries@example.com" });
  const charges = received(world, "0200");
  for (let each = 0; each < 3; each += 1) {
    await pay(page, noFunds);
    await world.settle();
  }
  const ended = await merchant.status(page);

  assert.equal(received(world, "0200"), charges + 2);
  assert.deepEqual([ended["order-stage"], ended["error-code"]], ["sale_filtered", "1010"]);
});
