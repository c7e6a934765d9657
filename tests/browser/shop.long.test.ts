/**
 * The demonstration shop for customers: every way to pay, in a browser, and the worst failures. The
 * bank's books show how often a card was charged.
 */
import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeClient } from "@tollgate/client";
import type { Page } from "playwright-core";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import {
  bankIn,
  openWindow,
  press,
  type Size,
  sizesFor,
  takePicture,
  test,
} from "../support/browser/browser.ts";
import {
  orderBecomes,
  orderIn,
  postPurchase,
  startLossyLine,
  startShopProcess,
  writtenBy,
} from "../support/browser/demonstration-shop.ts";
import { fillCard } from "../support/browser/payment-page.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { startProcess } from "../support/gateway-process.ts";
import { saleFields } from "../support/merchant.ts";
import { runGwProcess, startProgram } from "../support/programs.ts";
import { cards } from "../support/threeds.ts";
import { until } from "../support/until.ts";

const withoutFunds = "4000004000000020";
const withoutAnswer = "4000004000000129";

const gateway = await startProcess(endOfFile, {
  env: { GW_ACQUIRER_ANSWER_TIMEOUT_S: "5", GW_REVERSAL_RETRY_GAPS_S: "1" },
});
const shop = await startShopProcess(endOfFile, gateway);
// The demonstration lists the shop's usual port, and here the shop has taken a free one.
const place = { installation: { databaseUrl: "" }, dataDir: gateway.dataDir };
const shown = ["--embed-origins", shop.url];
const listed = await runGwProcess(
  place,
  ...["endpoint", "set", gateway.demo.endpoints["secure"] ?? "", ...shown],
);
assert.equal(listed.code, 0, listed.complaint);

type Checkout = Awaited<ReturnType<typeof openShop>>;

async function openShop(t: Test, size: Size) {
  const window = await openWindow(t, size);
  await window.page.goto(shop.url);
  return window;
}

async function typeCard(page: Page, card: string): Promise<void> {
  await page.getByLabel("Card number").fill(card.replace(/(\d{4})(?=\d)/g, "$1 "));
  await page.getByLabel("Month", { exact: true }).fill("12");
  await page.getByLabel("Year").fill("2031");
  await page.locator("#pay").getByLabel("Security code").fill("123");
  await page.getByLabel("Name on the card").fill("JANE DOE");
}

const payIn = (page: Page) => page.locator("#pay").getByRole("button", { name: "Pay $24.00" });

async function payByCard({ page }: Checkout, card: string): Promise<void> {
  await typeCard(page, card);
  await payIn(page).click();
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

/** Asserts that the page and the shop's records show the state, and that the page is accessible. */
async function arriveAt({ page, size, troubles }: Checkout, title: string, picture: string) {
  await heading(page, title).waitFor();
  await takePicture(page, `shop-${picture}-${size}`);
  if (!examined.has(title)) await assertNoViolations(page, picture);
  examined.add(title);
  await assertFitsWidth(page);
  assert.deepEqual(troubles, []);
  return idOf(page);
}

/** The page of a state looks the same after every way to pay. */
const examined = new Set<string>();

const idOf = (page: Page) => new URL(page.url()).pathname.split("/")[2] ?? "";

async function bookings(): Promise<number> {
  const answer = await fetch(`${gateway.demo.bank.url}/ledger`);
  const { entries } = (await answer.json()) as { entries: readonly { readonly kind: string }[] };
  return entries.filter(({ kind }) => kind === "sale").length;
}

type Way = (checkout: Checkout) => Promise<unknown>;

const byCard =
  (card: string): Way =>
  (checkout) =>
    payByCard(checkout, card);

const withCode =
  (card: string): Way =>
  async (checkout) => {
    await payByCard(checkout, card);
    await press(checkout.page, { code: "1234" });
  };

const byWallet =
  (wallet: string): Way =>
  ({ page }) =>
    page.getByRole("button", { name: `Pay with ${wallet}` }).click();

/** Pays on the gateway's page, which shows the bank in a frame on a desktop. */
async function byPage({ page, size }: Checkout): Promise<void> {
  await page.getByRole("button", { name: "Use the payment page" }).click();
  await fillCard(page, { number: cards.challenge });
  await page.locator("#pay button[type=submit]").click();
  await press(bankIn(page, size), { code: "1234" });
}

/** Types the card into the gateway's frames in the shop's own form. */
async function byFields({ page }: Checkout): Promise<void> {
  await page.getByRole("link", { name: "Use hosted fields" }).click();
  const inside = (id: string) => page.frameLocator(`#card-${id} iframe`).locator("#value");
  await inside("number").fill(cards.challenge);
  await inside("expiry").fill("12/31");
  await inside("code").fill("12");
  await page.getByLabel("Name on the card").fill("JANE DOE");
  await payIn(page).click();
  await page.getByText("Enter three digits").waitFor();
  await assertNoViolations(page, "hosted fields");
  await takePicture(page, "shop-hosted-fields");
  await inside("code").fill("123");
  await payIn(page).click();
  await press(page, { code: "1234" });
}

// biome-ignore format: a table
const ways: readonly (readonly [name: string, size: Size, pay: Way, title: string, booked: number])[] = [
  ["frictionless",      "desk",  byCard(cards.frictionless),         "Thank you", 1],
  ["challenge",         "phone", withCode(cards.challenge),          "Thank you", 1],
  ["challenge, no method", "desk", withCode(cards.challengeNoMethod), "Thank you", 1],
  ["1.0.2",             "desk",  withCode(cards.v1Authenticated),    "Thank you", 1],
  ["declined",          "phone", byCard(withoutFunds),               "Not paid",  0],
  ["payment page",      "desk",  byPage,                             "Thank you", 1],
  ["hosted fields",     "phone", byFields,                           "Thank you", 1],
  ["Wallet A",          "phone", byWallet("Wallet A"),               "Thank you", 1],
  ["Wallet B",          "desk",  byWallet("Wallet B"),               "Thank you", 1],
];

for (const [name, size, pay, title, booked] of ways) {
  test(`a customer buys: ${name}`, async (t) => {
    const checkout = await openShop(t, size);
    const before = await bookings();

    await pay(checkout);

    const id = await arriveAt(checkout, title, name.replace(/\W+/g, "-").toLowerCase());
    const { state, shipped } = await orderIn(shop, id);
    assert.deepEqual([state, shipped], [booked === 1 ? "paid" : "failed", booked]);
    assert.equal((await bookings()) - before, booked);
  });
}

test("the checkout is accessible and usable on a desktop and on a phone", async (t) => {
  for (const size of sizesFor("checkout")) {
    const { page, troubles } = await openShop(t, size);
    await page.getByText("Deliver to 1 Main Street").click();

    await assertNoViolations(page, "checkout");
    await assertFitsWidth(page);
    await takePicture(page, `shop-checkout-${size}`);
    await page.emulateMedia({ colorScheme: "light" });
    await takePicture(page, `shop-checkout-light-${size}`);
    assert.deepEqual(troubles, []);
  }
});

test("a saved card pays again with its security code alone, in this browser only", async (t) => {
  const checkout = await openShop(t, "desk");
  const { page } = checkout;
  await page.getByLabel("Save this card").check();
  await payByCard(checkout, cards.frictionless);
  await arriveAt(checkout, "Thank you", "saved-first");

  await page.goto(shop.url);
  const saved = page.locator(".saved");
  await saved.getByLabel("VISA ···· 0016").fill("123");
  await assertNoViolations(page, "saved card");
  await takePicture(page, "shop-saved-card-desk");
  const before = await bookings();
  await saved.getByRole("button").click();

  const id = await arriveAt(checkout, "Thank you", "saved-second");
  assert.equal((await orderIn(shop, id)).shipped, 1);
  assert.equal((await bookings()) - before, 1);
  const stranger = await openShop(t, "phone");
  assert.equal(await stranger.page.locator(".saved").count(), 0);
  const body = new URLSearchParams({ order: randomUUID(), way: "saved", card: id, cvv2: "123" });
  const theft = await fetch(`${shop.url}/buy`, { method: "POST", body });
  assert.equal(theft.status, 400);
});

test("a monthly order is charged again by the shop, and can be sent back", async (t) => {
  const checkout = await openShop(t, "phone");
  const { page } = checkout;
  await page.getByLabel("Every month").check();
  await withCode(cards.challenge)(checkout);
  const first = await arriveAt(checkout, "Thank you", "monthly-first");
  const before = await bookings();

  await page.getByRole("button", { name: "Charge the next month" }).click();
  const second = await arriveAt(checkout, "Thank you", "monthly-second");
  assert.equal(second, `${first}-2`);
  assert.equal((await bookings()) - before, 1);
  await page.getByRole("button", { name: "Send it back" }).click();
  await arriveAt(checkout, "Refunded", "refunded");

  assert.equal((await orderIn(shop, second)).refunded, "24.00");
  assert.equal((await orderIn(shop, first)).state, "paid");
});

test("an order in doubt is shown as such until the bank has settled it", async (t) => {
  const switchTo = async (reversalCode: string | null) => {
    const body = JSON.stringify({ reversalCode });
    const answer = await fetch(`${gateway.demo.bank.url}/switches`, { method: "POST", body });
    assert.equal(answer.status, 200);
  };
  // Any answer other than a done reversal keeps the doubt.
  await switchTo("96");
  atEnd(t, () => switchTo(null));
  const checkout = await openShop(t, "phone");

  await payByCard(checkout, withoutAnswer);
  const id = await arriveAt(checkout, "We do not know yet", "doubt");
  assert.deepEqual(
    [(await orderIn(shop, id)).state, (await orderIn(shop, id)).shipped],
    ["open", 0],
  );
  await switchTo(null);

  await arriveAt(checkout, "Not paid", "doubt-ended");
  assert.equal((await orderIn(shop, id)).state, "failed");
});

test("an order is charged once despite double clicks, several tabs and a form that is sent again", async () => {
  const id = randomUUID();
  const before = await bookings();

  await Promise.all(Array.from({ length: 5 }, () => postPurchase(shop, id, cards.notEnrolled)));
  await orderBecomes(shop, id, "paid");
  const place = await postPurchase(shop, id, cards.notEnrolled);

  assert.equal(place, `/orders/${id}`);
  assert.equal((await orderIn(shop, id)).shipped, 1);
  assert.equal((await bookings()) - before, 1);
});

test("lost replies and requests cause neither a second charge nor a lost order", async (t) => {
  const line = await startLossyLine(t, gateway.baseUrl);
  const distant = await startShopProcess(t, gateway, { baseUrl: line.url });
  const before = await bookings();

  const once = randomUUID();
  line.lose("replies", 1);
  await postPurchase(distant, once, cards.notEnrolled);
  assert.equal((await orderBecomes(distant, once, "paid")).shipped, 1);

  // All replies to the sale are lost, and its callback or the order's page finds the result.
  const silent = randomUUID();
  line.lose("replies", 3);
  await postPurchase(distant, silent, cards.notEnrolled);
  await until("the truth is out", async () => {
    await fetch(`${distant.url}/orders/${silent}`);
    return (await orderIn(distant, silent)).state === "paid" || undefined;
  });

  const absent = randomUUID();
  line.lose("requests", 3);
  await postPurchase(distant, absent, cards.notEnrolled);
  const page = await (await fetch(`${distant.url}/orders/${absent}`)).text();
  assert.match(page, /Your payment did not arrive/);
  assert.match(page, new RegExp(`href="/\\?order=${absent}"`));
  await postPurchase(distant, absent, cards.notEnrolled);
  await orderBecomes(distant, absent, "paid");

  assert.equal((await bookings()) - before, 3);
});

test("a killed shop loses no data, and asks for what it missed", async (t) => {
  const first = await startShopProcess(t, gateway);
  const { port: SHOP_PORT } = new URL(first.url);
  const paid = randomUUID();
  await postPurchase(first, paid, cards.notEnrolled);
  await orderBecomes(first, paid, "paid");
  const { page } = await openWindow(t, "desk");
  await page.goto(first.url);
  await typeCard(page, cards.challenge);
  await payIn(page).click();
  await page.locator("#code").waitFor();
  await first.kill();

  const second = await startShopProcess(t, gateway, {
    folder: first.folder,
    settings: { SHOP_PORT },
  });
  await press(page, { code: "1234" });
  await heading(page, "Thank you").waitFor();

  assert.equal((await orderIn(second, paid)).shipped, 1);
  assert.equal((await orderIn(second, idOf(page))).shipped, 1);
  const written = await writtenBy(second);
  assert.match(written, /A crate of winter apples/);
  for (const secret of [cards.challenge, cards.notEnrolled, "JANE DOE"]) {
    assert.ok(!(written + first.output).includes(secret), secret);
  }
});

test("a callback changes nothing that the gateway does not confirm", async () => {
  const id = randomUUID();
  await postPurchase(shop, id, withoutFunds);
  const { gatewayOrder } = await orderIn(shop, id);
  const claim = { status: "approved", orderid: gatewayOrder ?? "", client_orderid: id };
  const rest = { type: "sale", amount: "24.00", "serial-number": randomUUID() };

  const forged = await sendCallback({ ...claim, ...rest, control: "0".repeat(40) });
  // A customer's browser could have these values from another payment.
  const replayed = await sendCallback({ ...claim, ...rest, control: controlOf(claim) });
  const body = new URLSearchParams({ ...claim, ...rest, control: controlOf(claim) });
  const step = { method: "POST", body, redirect: "manual" } as const;
  const returned = await fetch(`${shop.url}/orders/${id}/step`, step);

  assert.deepEqual([forged, replayed], [400, 400]);
  assert.equal(returned.status, 200);
  assert.equal((await orderIn(shop, id)).state, "open");
});

test("the shop stops callbacks of another program's orders", async () => {
  const { login, controlKey } = gateway.demo.merchant;
  const client = makeClient({ baseUrl: gateway.baseUrl, login, controlKey });
  const endpoint = client.endpoint(gateway.demo.endpoints["secure"] ?? "");
  const redirect_url = shop.url;
  const sale = saleFields({ credit_card_number: cards.notEnrolled, redirect_url });
  const order = await endpoint.sale(sale);
  const { status } = await endpoint.waitForResult(order);
  const ids = { orderid: order["gw-order-id"], client_orderid: order["merchant-order-id"] };
  const result = { status, ...ids, type: "sale", "serial-number": order["serial-number"] };

  assert.equal(await sendCallback({ ...result, control: controlOf(result) }), 410);
});

async function sendCallback(fields: Readonly<Record<string, string>>): Promise<number> {
  return (await fetch(`${shop.url}/callback?${new URLSearchParams(fields)}`)).status;
}

type Signed = Readonly<Record<"status" | "orderid" | "client_orderid", string>>;

function controlOf({ status, orderid, client_orderid }: Signed): string {
  return hash("sha1", status + orderid + client_orderid + gateway.demo.merchant.controlKey);
}

test("without a gateway the shop says what to do", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-empty-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));

  const early = startProgram(["examples/shop/shop.ts"], { GW_DATA_DIR: folder });
  await until("it has ended", () => !early.isRunning || undefined);

  assert.equal(early.child.exitCode, 1);
  assert.match(early.output, /There is no .*demo\.json.*\nStart one first, .*npm start\n/);
});
