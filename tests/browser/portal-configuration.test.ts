/**
 * The configuration in the portal, in a real browser: payment links, merchants, endpoints, keys,
 * gates, screening and reconciliation. Each kind of form field is used once.
 */
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { dayOf, fetchSettlement } from "../support/bank/settlement.ts";
import { test, testInLongRun } from "../support/browser/browser.ts";
import { glance, look, lookAtBoth, makeDesk, signIn } from "../support/browser/portal-window.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal } from "../support/operator/portal.ts";
import { answerWith, startReceiver } from "../support/receiver.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
const plain = world.set.endpoints["plain"] ?? "";
await addUser(world, { login: "ann", role: "admin" });
const atDesk = makeDesk(address, "ann");

test("a payment link is made after a preview, with a reason, and ended", async () => {
  const { page, troubles } = await atDesk("payment-links");
  await page.getByRole("heading", { name: "No payment links yet" }).waitFor();

  const form = { Endpoint: plain, Amount: "120.00", Description: "Pottery" };
  await fill(page, "New link", form);
  // The currency is the endpoint's.
  assert.match(await page.getByRole("combobox", { name: "Currency" }).inputValue(), /^USD – /);
  await look(page, "portal-link-form-desk");
  await page.getByLabel("Ends").fill("2099-01-31T09:30");
  await send(page);
  await page.getByRole("heading", { name: "120.00 USD" }).waitFor();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  await lookAtBoth(page, "portal-link");
  await fill(page, "End link", {});
  await page.getByRole("heading", { name: "End the payment link of 120.00 USD" }).waitFor();
  await confirm(page);
  await page.getByText("Ended").waitFor();

  await page.getByRole("link", { name: "Payment links" }).first().click();
  await page.getByText("Pottery").waitFor();
  await lookAtBoth(page, "portal-links");
  assert.deepEqual(troubles, []);
});

test("a value that is refused is explained at its field, which has the cursor", async (t) => {
  const { page } = await signIn(t, "desk", `${address}payment-links`, "ann");

  await fill(page, "New link", { Endpoint: plain, Amount: "120.005" });
  await showPreview(page);
  await page.getByText("120.005 is no amount in USD.").waitFor();
  const amount = page.getByLabel("Amount *").and(page.locator(":focus"));
  assert.equal(await amount.getAttribute("aria-invalid"), "true");
  await amount.fill("120.00");
  await showPreview(page);

  await page.getByText("120.00 USD").waitFor();
});

test("an endpoint is changed, and shows which gate a sale would use", async (t) => {
  const { page, troubles } = await atDesk("merchants");
  await page.getByRole("link", { name: "demo", exact: true }).click();
  await page.getByRole("link", { name: "plain", exact: true }).waitFor();
  await lookAtBoth(page, "portal-merchant");
  await page.getByRole("link", { name: "plain", exact: true }).click();
  await page.getByRole("heading", { name: "plain", level: 1 }).waitFor();

  await fill(page, "Change", { "Largest amount": "100" });
  await showPreview(page);
  await page.getByRole("heading", { name: /^Endpoint \d+$/ }).waitFor();
  const preview = (await page.getByRole("dialog").textContent()) ?? "";
  assert.match(preview, /Largest amount.*100\.00/);
  await glance(page, "portal-endpoint-preview");
  await confirm(page);
  await page.getByText("100.00").first().waitFor();
  await page.getByLabel("Amount of the sale").fill("20");
  await page.getByRole("button", { name: "Tell" }).click();
  await page.getByText("only gate").waitFor();

  const shop = await startReceiver(t, answerWith(503));
  await fill(page, "Add an address", { Address: `${shop.url}/?is=\${status}` });
  await showPreview(page);
  await confirm(page);
  await page.getByRole("button", { name: "Send a test callback" }).click();
  await confirm(page);
  await page.getByText("HTTP 503").waitFor();
  assert.equal(shop.heard[0]?.path, "/?is=approved");
  await lookAtBoth(page, "portal-endpoint");
  assert.deepEqual(troubles, []);
});

testInLongRun("the gates of an endpoint are chosen and ranked in rows by keyboard", async () => {
  const { page, troubles } = await atDesk(`endpoints/${plain}`);
  const dialog = page.getByRole("dialog");
  const gates = dialog.getByRole("group", { name: "Gates" });
  await page
    .locator("section", { has: page.getByRole("heading", { name: "Gates" }) })
    .getByRole("button", { name: "Change" })
    .click();

  await gates.getByRole("button", { name: "Add a gate" }).press("Enter");
  const added = gates.getByLabel("Gate", { exact: true }).and(page.locator(":focus"));
  await added.selectOption("sandbox-binary");
  await gates.getByLabel("Rank of sandbox-binary").fill("2");
  await gates.getByLabel("Weight of sandbox-binary").fill("3");
  await lookAtBoth(page, "portal-endpoint-gates");
  await gates.getByRole("button", { name: "Add a gate" }).press("Enter");
  await gates
    .getByRole("button", { name: /^Remove / })
    .nth(2)
    .press("Enter");
  await gates.getByLabel("Gate", { exact: true }).and(page.locator(":focus")).waitFor();
  assert.equal(await gates.getByRole("combobox").count(), 2);
  await send(page);

  await page.getByRole("row", { name: "sandbox-binary 2 3" }).waitFor();
  assert.deepEqual(troubles, []);
});

testInLongRun("a control key is renewed and shown once, beside a merchant's wallets", async () => {
  const { page, troubles } = await atDesk("merchants/demo?tab=keys");

  await fill(page, "Renew", {});
  await confirm(page, "secret");
  const key = (await page.locator(".secret").textContent()) ?? "";
  assert.match(key, /^[0-9A-F-]{36}$/);
  await page.getByRole("button", { name: "I have kept it" }).press("Enter");
  await page.getByRole("button", { name: "Drop the old key" }).waitFor();

  assert.ok(!(await page.content()).includes(key));
  await glance(page, "portal-keys");
  await page.getByRole("link", { name: "Wallets" }).click();
  await page.getByRole("heading", { name: "Wallet keys" }).waitFor();
  await glance(page, "portal-wallets");
  assert.deepEqual(troubles, []);
});

// biome-ignore format: a table
const gate = {
  Name: "north", Kind: "iso87_binary", Host: "127.0.0.1:1", TLS: "off", "Terminal (field 41)": "10000042", "Merchant code (field 42)": "ACME1",
  "Name and place (field 43)": "ACME Oslo", "Category (field 18)": "5732", "Acquirer's country (field 19)": "578", "Acquirer id (field 32)": "412345", "Text on the statement": "ACME",
};

testInLongRun("a gate is created and gets a key, which is shown nowhere", async () => {
  const { page, troubles } = await atDesk("gates");
  await page.getByRole("columnheader", { name: "Card ranges" }).waitFor();
  await fill(page, "New gate", gate);
  await send(page);
  await page.getByRole("link", { name: "north", exact: true }).waitFor();
  await lookAtBoth(page, "portal-gates");

  await page.getByRole("link", { name: "north", exact: true }).click();
  await page.getByText("ACME Oslo").waitFor();
  const key = "0123456789ABCDEFFEDCBA9876543210";
  await fill(page, "Add a key", { Algorithm: "retail_80", Key: key });
  await send(page);
  await page.getByText("retail_80, 8 bytes").waitFor();
  assert.ok(!(await page.content()).includes(key));
  await lookAtBoth(page, "portal-gate");
  assert.deepEqual(troubles, []);
});

test("a rule is added and tried on past orders, and a list is imported from a file", async () => {
  await world.merchant().sale({ amount: "15.00" });
  await world.settle();
  const { page, troubles } = await atDesk("screening");
  await page.getByRole("heading", { name: "No rules yet" }).waitFor();
  await fill(page, "New rule", { "Largest amount": "10.00", Currency: "USD" });
  await send(page);
  await page.getByRole("cell", { name: /max 10/ }).waitFor();
  await lookAtBoth(page, "portal-rules");

  await page.getByRole("link", { name: "Trial" }).click();
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByRole("row", { name: /Blocked 1/ }).waitFor();
  await glance(page, "portal-trial");

  await page.getByRole("link", { name: "Lists" }).click();
  const file = "list,kind,value\nblock,email,worse@shop.example\n";
  await fill(page, "Import", {});
  await page
    .getByLabel("File", { exact: true })
    .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
  await page.getByRole("dialog").getByText("worse@shop.example").waitFor();
  await send(page);
  await page.getByText("worse@shop.example").waitFor();
  await glance(page, "portal-lists");
  assert.deepEqual(troubles, []);
});

test("a day is compared with the acquirer's file, and chargebacks are imported from another", async () => {
  const merchant = world.merchant();
  const earlier = await merchant.sale({ amount: "8.00" });
  const sale = await merchant.sale({ amount: "9.00" });
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(sale);
  const later = new Date(world.clock.now() + 200 * 86_400_000).toISOString().slice(0, 10);
  const lines = await fetchSettlement(world, "sandbox");
  const { page, troubles } = await atDesk("reconciliation");
  const content = lines.slice(0, -1).join("\n");
  // Near midnight the default window would leave lines to the file of the neighbouring day.
  const chosen = { Gate: "sandbox", "Day (UTC)": dayOf(world), Within: "0m" };
  await fill(page, "Compare a day", { ...chosen, "Or its content": content });
  await send(page);
  await page.getByText("1 difference").waitFor();
  await lookAtBoth(page, "portal-reconciliation");
  await page.getByRole("link", { name: dayOf(world) }).click();
  await page.getByText("Missing at the acquirer").waitFor();
  await lookAtBoth(page, "portal-reconciled-day");

  await atDesk("reconciliation?tab=chargebacks");
  const chargebacks = [
    "case,reference,amount,currency,reason,stage,at",
    `C1,${reference},900,USD,10.4 fraud,first,${later}`,
    "C2,000000000000,900,USD,10.4 fraud,first,2030-01-31",
  ];
  await fill(page, "Import", { "Or its content": chargebacks.join("\n") });
  await send(page);
  await page.getByRole("link", { name: sale["gw-order-id"] ?? "" }).waitFor();
  await page.getByText("line 3, case C2: no order has this reference").waitFor();
  await glance(page, "portal-chargebacks");
  await page.getByRole("link", { name: sale["gw-order-id"] ?? "" }).click();
  await page.getByText("The cardholder denies the payment.").waitFor();
  await page.getByRole("link", { name: earlier["gw-order-id"] ?? "" }).waitFor();
  await fill(page, "Decide", { Decision: "contested" });
  await send(page);
  await page.getByText("Contested").first().waitFor();
  await lookAtBoth(page, "portal-disputed-order");
  assert.deepEqual(troubles, []);
});

testInLongRun("the vault's keys are listed", async () => {
  const { page, troubles } = await atDesk("vault-keys");

  await page.getByRole("row", { name: /^Card numbers/ }).waitFor();
  await lookAtBoth(page, "portal-vault-keys");
  assert.deepEqual(troubles, []);
});

test("an operator chooses a merchant, and downloads the transaction report by its filters", async () => {
  await world.merchant().sale({ order_desc: "Pottery" });
  await world.settle();
  const { page, troubles } = await atDesk("transaction-report");
  await page.getByText("Choose a merchant first.").waitFor();
  await lookAtBoth(page, "portal-report");

  await atDesk("transaction-report?merchant=demo&type=sale&status=approved");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export CSV" }).click();
  const stream = await (await saved).createReadStream();

  assert.match(await text(stream), /^gw-order-id,.*\r\n.*,sale,approved,sale_approved,/);
  await look(page, "portal-report-desk");
  assert.deepEqual(troubles, []);
});

test("an operator sets the address of a merchant's daily report, and sees that it was delivered", async (t) => {
  const books = await startReceiver(t);
  const { page, troubles } = await atDesk("transaction-report?merchant=demo");
  await page.getByText("No report was due yet.").waitFor();

  await fill(page, "Send it daily", { "Daily report to the address": books.url });
  await send(page);
  await world.settle();
  await page.reload();

  await page.getByRole("row", { name: /Delivered 200/ }).waitFor();
  assert.equal(books.heard.length, 1);
  await page.getByRole("button", { name: "Send it daily" }).click();
  const field = page.getByLabel("Daily report to the address");
  assert.equal(await field.inputValue(), books.url);
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  await lookAtBoth(page, "portal-transaction-report-daily");
  assert.deepEqual(troubles, []);
});

test("a user reads a merchant's statement, and downloads it as a file", async () => {
  await world.merchant().sale({ order_desc: "Pottery" });
  await world.settle();
  const { page, troubles } = await atDesk("statement");
  await page.getByText("Choose a merchant first.").waitFor();

  await atDesk("statement?merchant=demo");
  await page.getByRole("cell", { name: "USD" }).first().waitFor();
  await page.getByRole("heading", { name: "Balance" }).waitFor();
  await page.getByRole("row", { name: /^USD \d/ }).waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export CSV" }).click();
  const stream = await (await saved).createReadStream();

  assert.match(await text(stream), /^day,currency,gross,.*\r\n[\d-]+,USD,/);
  assert.deepEqual(troubles, []);
});

/** Opens the first form of the button's name and writes into its fields, by their labels. */
async function fill(page: Page, button: string, fields: Readonly<Record<string, string>>) {
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: button }).first().click();
  await dialog.locator("form").waitFor();
  const more = dialog.locator("details:not([open]) summary");
  if (await more.isVisible()) await more.press("Enter");
  for (const [label, value] of Object.entries(fields)) {
    const field = dialog
      .getByLabel(label, { exact: true })
      .or(dialog.getByLabel(`${label} *`))
      .first();
    const isChoice = await field.evaluate((element) => element.tagName === "SELECT");
    if (isChoice) await field.selectOption(value);
    else await field.fill(value);
    const isChosen = (await field.getAttribute("aria-haspopup")) === "listbox";
    if (isChosen) await page.getByRole("option", { name: value }).first().click();
  }
}

async function showPreview(page: Page): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: "Preview" }).press("Enter");
}

async function send(page: Page): Promise<void> {
  await showPreview(page);
  await confirm(page);
}

/** Confirms by keyboard only: after the preview the cursor is in the field for the reason. */
async function confirm(page: Page, shows?: "secret"): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").and(page.locator(":focus")).waitFor();
  await page.keyboard.insertText("the customer asked for it");
  await page.keyboard.press("Enter");
  if (shows === undefined) await dialog.waitFor({ state: "detached" });
  else await page.locator(".secret").waitFor();
}
