/**
 * The portal in a real browser: signing in, the home screen, the orders, one order and its doubt.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test as testAnywhere } from "node:test";
import { openWindow, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { fillIn, glance, lookAtBoth, makeDesk } from "../support/browser/portal-window.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal, codeAt, openBrowser, password } from "../support/operator/portal.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
// An operator's decision has the database's time: by it, the answer to each message is overdue.
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" }, { behindMs: 60_000 });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const merchant = world.merchant();
const atDesk = makeDesk(address, "ann");
const declining = "4000004000000020";
const sales = [
  { amount: "10.42", email: "carla@example.com", card_printed_name: "CARLA MÜLLER" },
  { amount: "249.00", email: "dora@example.com" },
  { amount: "7.05", email: "emil@example.com", credit_card_number: declining },
];
const orders: string[] = [];

test("orders appear by themselves, are searched, filtered and exported", async () => {
  const { page, troubles } = await atDesk("");
  await page.getByRole("heading", { name: "No orders yet" }).waitFor();

  for (const sale of sales) orders.push((await merchant.sale(sale))["gw-order-id"]);
  await world.settle();
  await page.locator("tbody tr").nth(2).waitFor();
  assert.match((await page.locator("tbody tr").first().textContent()) ?? "", /7\.05.*Declined/);
  await lookAtBoth(page, "portal-orders");

  await page.keyboard.press("/");
  await page.keyboard.insertText("carla@example.com");
  await page.waitForURL(/search=carla%40example\.com/);
  await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  assert.match((await page.locator("tbody tr").textContent()) ?? "", /10\.42 USD.*Captured/);
  await page.keyboard.press("Escape");
  await page.locator("tbody tr").nth(2).waitFor();

  await page.keyboard.insertText("mul");
  await page.getByRole("heading", { name: /Orders with “mul” as a name, an email/ }).waitFor();
  await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  assert.match((await page.locator("tbody tr").textContent()) ?? "", /CARLA MÜLLER carla@/);
  await glance(page, "portal-search");
  await page.keyboard.press("Escape");
  await page.locator("tbody tr").nth(2).waitFor();

  await page.getByRole("button", { name: "Status" }).click();
  await page.getByLabel("Declined").check();
  await page.keyboard.press("Escape");
  await page.waitForURL(/status=declined/);
  await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  await page.goBack();
  await page.locator("tbody tr").nth(2).waitFor();

  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForURL(new RegExp(`row=${orders[1]}`));

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const file = await readFile(await (await saved).path(), "utf8");
  assert.deepEqual(
    file.split("\r\n").map((line) => line.split(",")[0]),
    ["order", ...orders.toReversed(), ""],
  );
  assert.deepEqual(troubles, []);
});

testInLongRun("home tells how payments go, over ranges that are in the address", async () => {
  const { page, troubles } = await atDesk("home");

  await page.getByText("66.7%").waitFor();
  assert.match((await page.textContent(".figures")) ?? "", /Orders3.*259\.42 USD/);
  assert.match((await page.textContent("figcaption")) ?? "", /Approved 2Refused 1/);
  await lookAtBoth(page, "portal-home");
  await page.getByRole("link", { name: "Hour" }).click();
  await page.waitForURL(/home\?range=hour/);
  assert.deepEqual(troubles, []);
});

test("every figure of the home screen explains itself, and links to as many orders", async () => {
  const { page, troubles } = await atDesk("home");
  // biome-ignore format: a table
  const figures = [
    ["3",                  3, "All that were accepted"],
    ["66.7%",              3, "Of those that have ended"],
    ["259.42",             2, "less refunds and chargebacks"],
    ["Refused",            1, "Declines by reason"],
    ["Insufficient funds", 1, "Declines by reason"],
  ] as const;
  for (const [name, count, hint] of figures) {
    await page.getByText(hint).first().waitFor();
    await page.getByRole("link", { name, exact: true }).click();
    await page.waitForURL(/orders\?.*from=\d/);
    await page.getByText(`${count} ${count === 1 ? "order" : "orders"} on this page`).waitFor();
    if (name === "Refused") await glance(page, "portal-orders-counted");
    await page.goBack();
  }
  await page.locator('a[href*="callbacks?state=failing"]').click();
  await page.waitForURL(/callbacks\?state=failing/);
  assert.deepEqual(troubles, []);
});

testInLongRun("a view of filters is shared with the team, but not with its search", async () => {
  const { page, troubles } = await atDesk("orders?status=declined&currency=USD");
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Lost dollars");
  await page.getByLabel("Share with the team").check();
  await takePicture(page, "portal-view-save");
  await page.getByRole("button", { name: "Save view" }).last().click();
  await page.getByRole("link", { name: "Lost dollars" }).waitFor();
  await glance(page, "portal-view-shared");
  const api = openBrowser(world.gateway);
  await api.signIn(await addUser(world, { login: "sue", role: "support" }));
  const { views } = (await api.call("GET /views", {})).body;
  assert.deepEqual(
    views.map(({ name, sharedBy }) => [name, sharedBy]),
    [["Lost dollars", "ann"]],
  );

  await page.getByRole("button", { name: "Remove the view Lost dollars for the" }).click();
  await page.getByRole("link", { name: "Lost dollars" }).waitFor({ state: "detached" });
  await atDesk("orders?search=carla");
  await page.getByRole("button", { name: "Save view" }).click();
  assert.equal(await page.getByLabel("Share with the team").isDisabled(), true);
  await page.keyboard.press("Escape");
  assert.deepEqual(troubles, []);
});

test("an order shows what happened, and is refunded after a preview, with a reason", async () => {
  const { page, troubles } = await atDesk(`orders/${orders[1]}`);
  await page.getByRole("heading", { name: "249.00 USD" }).waitFor();
  await page.getByText("0200 sent").click();
  await page.getByText("Raw, encoded anew").first().waitFor();
  for (const time of await page.locator("main time").all()) {
    assert.match((await time.textContent()) ?? "", /GMT\+5:30|IST/);
    assert.match((await time.getAttribute("title")) ?? "", /UTC$/);
  }
  await page.getByText("What the merchant saw").first().click();
  await lookAtBoth(page, "portal-order");
  await page.locator(".timeline").getByRole("link", { name: "sandbox" }).click();
  await page.getByRole("heading", { name: "sandbox" }).waitFor();
  await page.goBack();

  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("9999");
  await dialog.getByRole("alert").getByText("At most 249.00 USD").waitFor();
  await dialog.getByLabel("Amount").fill("");
  assert.equal(await dialog.getByRole("button", { name: /^Refund/ }).isDisabled(), true);
  await dialog.getByLabel("Amount").fill("49.00");
  await dialog.getByLabel("Reason").fill("broken cup");
  await takePicture(page, "portal-order-refund");
  await dialog.getByRole("button", { name: "Refund 49.00 USD" }).click();
  await dialog.waitFor({ state: "detached" });
  await world.settle();

  await page.getByRole("status").getByText("Refund 49.00 USD: Approved").waitFor();
  await page.getByText("200.00 USD").first().waitFor();
  await page.locator(".heading").getByText("Partly refunded").waitFor();
  assert.equal(await page.getByText("sale_approved").first().isVisible(), false);
  const asked = page.locator(".timeline li").filter({ hasText: "Return requested" });
  assert.match((await asked.textContent()) ?? "", /Amount49\.00 USD.*Byann/);
  await lookAtBoth(page, "portal-order-refunded");
  assert.deepEqual(troubles, []);
});

testInLongRun(
  "the status filter explains each state of the money, and finds the orders of one",
  async () => {
    const { page, troubles } = await atDesk("orders");
    await page.getByRole("button", { name: "Status" }).click();
    await page.getByText("A part of the money went back").waitFor();
    await glance(page, "portal-orders-legend");

    await page.getByLabel("Partly refunded").check();
    await page.keyboard.press("Escape");
    await page.waitForURL(/status=partly_refunded/);
    await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });

    assert.match((await page.locator("tbody tr").textContent()) ?? "", /249\.00.*Partly refunded/);
    assert.deepEqual(troubles, []);
  },
);

test("an order in doubt is settled in a window that waits until that is allowed", async () => {
  // The bank neither books nor answers the charge, and refuses the reversal.
  await world.bank.setSwitches({ reversalCode: "05" });
  const doubtful = await merchant.sale({ amount: "31.00", credit_card_number: "4000004000000137" });
  const { "processor-rrn": reference = "" } = await merchant.status(doubtful);
  await world.bank.waitForMessage({ mti: "0200", reference });
  await world.pass(30_000);
  const { page, troubles } = await atDesk(`orders/${doubtful["gw-order-id"]}`);

  await page.getByRole("button", { name: "Settle as not done" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("may still reach the acquirer").waitFor();
  await dialog.getByLabel("Reason").fill("the bank has booked nothing");
  assert.equal(await dialog.getByRole("button", { name: /^Settle/ }).isDisabled(), true);
  await glance(page, "portal-order-settle");
  await world.pass(15_000);
  const settle = dialog.getByRole("button", { name: "Settle as not done 31.00 USD" });
  await settle.waitFor();
  assert.equal(await settle.isDisabled(), true);
  await dialog.getByLabel("The order's amount").fill("31");
  await settle.click();
  await page.getByRole("status").getByText("the order is now Error").waitFor();
  await page.getByText("the bank has booked nothing").waitFor();

  assert.equal(await page.getByRole("button", { name: /Ask again|Settle/ }).count(), 0);
  assert.equal((await merchant.describe(doubtful))["error-code"], "5006");
  await world.bank.setSwitches({ reversalCode: null });
  assert.deepEqual(troubles, []);
});

test("a wrong password is refused, a second factor is asked for, and a role limits what is seen", async (t) => {
  const api = openBrowser(world.gateway);
  await api.signIn("bob@demo");
  const { secret } = (await api.call("POST /totp/begin", { password })).body;
  await api.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });
  world.clock.advance(30_000);
  const { page } = await openWindow(t, "desk");
  await page.goto(address);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await lookAtBoth(page, "portal-sign-in");

  await page.getByRole("button", { name: "Show password" }).press("Enter");
  assert.equal(await page.getByLabel("Password", { exact: true }).getAttribute("type"), "text");
  await fillIn(page, "bob@demo", "not the password");
  await page.locator("[role=alert]:focus").waitFor();
  assert.equal(await page.getByLabel("Password", { exact: true }).inputValue(), "");
  await fillIn(page, "bob@demo");
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  // The login was entered before, and is not asked for again (WCAG 3.3.7).
  assert.equal(await page.getByLabel("Login").count(), 0);
  await page.getByLabel("Code").fill(codeAt(secret, world.clock.now()));
  await page.keyboard.press("Enter");

  await page.locator("tbody tr").nth(2).waitFor();
  assert.equal(await page.getByRole("columnheader", { name: "Merchant" }).count(), 0);
  await page.goto(`${address}audit`);
  await page.getByRole("heading", { name: "Not allowed" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
});

testInLongRun("the portal speaks German where the browser does", async (t) => {
  const { page } = await openWindow(t, "desk", { locale: "de-AT" });
  await page.goto(address);

  await page.getByRole("heading", { name: "Anmelden" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "de");
});

testInLongRun("a session that has ended shows nothing more of the orders", async () => {
  const { page, context } = await atDesk("orders");
  await page.locator("tbody tr").nth(2).waitFor();

  await context.clearCookies();

  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await page.locator("tbody").count(), 0);
});

testAnywhere("a browser without scripts is told so", async () => {
  const page = await (await fetch(address)).text();

  assert.match(page, /<noscript>\s*<p>[^<]*needs JavaScript/);
});
