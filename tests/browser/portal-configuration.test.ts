/**
 * The configuration in the portal, in a real browser: payment links, merchants, endpoints, gates,
 * screening and reconciliation, at a desk and on a phone, in light and dark.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { dayOf, fetchSettlement } from "../support/bank/settlement.ts";
import { openWindow, type Size, test } from "../support/browser/browser.ts";
import { fillIn, look } from "../support/browser/portal-window.ts";
import type { Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal } from "../support/operator/portal.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
const plain = world.set.endpoints["plain"] ?? "";
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const phone = { width: 390, height: 844 };

test("a payment link is made after a preview, with a reason, and ended", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann", "payment-links");
  await page.getByRole("heading", { name: "No payment links yet" }).waitFor();

  await page.getByRole("button", { name: "New link" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Endpoint").fill(plain);
  await dialog.getByLabel("Amount").fill("a lot");
  await dialog.getByLabel("Currency").fill("USD");
  await dialog.getByLabel("Description").fill("Course in pottery");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("a lot is no amount in USD.").waitFor();
  await dialog.getByLabel("Amount").fill("120.00");
  await look(page, "portal-link-form-desk");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await confirm(page, "New link");

  await page.getByRole("heading", { name: "120.00 USD" }).waitFor();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  await look(page, "portal-link-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-link-phone");
  await page.getByRole("button", { name: "End link" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Preview" }).click();
  await confirm(page, "End link");
  await page.getByText("Ended").waitFor();

  await page.goto(`${address}payment-links`);
  await page.getByText("Course in pottery").waitFor();
  await look(page, "portal-links-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await look(page, "portal-links-desk");
  assert.ok(
    troubles.every((trouble) => trouble.includes("409")),
    troubles.join(", "),
  );
});

test("an endpoint is changed, and tells which gate a sale would take", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann", "merchants");
  await page.getByRole("link", { name: "demo", exact: true }).click();
  await page.getByRole("link", { name: "plain", exact: true }).waitFor();
  await look(page, "portal-merchant-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-merchant-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("link", { name: "plain", exact: true }).click();
  await page.getByRole("heading", { name: "plain", level: 1 }).waitFor();

  await page.getByRole("button", { name: "Change" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("more settings").click();
  await dialog.getByLabel("Largest amount").fill("100");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByRole("heading", { name: /^Endpoint \d+$/ }).waitFor();
  assert.match((await dialog.textContent()) ?? "", /Largest amount.*100\.00/);
  await look(page, "portal-endpoint-preview-desk");
  await confirm(page, "Change");
  await page.getByText("100.00").first().waitFor();
  await page.getByLabel("Amount of the sale").fill("20");
  await page.getByRole("button", { name: "Tell" }).click();
  await page.getByText("only gate").waitFor();
  await look(page, "portal-endpoint-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-endpoint-phone");
  assert.deepEqual(troubles, []);
});

test("a merchant's user renews the control key, which is shown once", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "bob", "merchants");
  await page.getByRole("link", { name: "Keys" }).click();
  assert.equal(await page.getByRole("link", { name: "Gates" }).count(), 0);

  await page.getByRole("button", { name: "Renew" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Preview" }).click();
  await confirm(page, "Renew", false);
  const key = (await page.locator(".secret").textContent()) ?? "";
  assert.match(key, /^[0-9A-F-]{36}$/);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("button", { name: "Drop the old key" }).waitFor();

  assert.ok(!(await page.content()).includes(key));
  await look(page, "portal-keys-desk");
  await page.getByRole("link", { name: "Wallets" }).click();
  await page.getByRole("heading", { name: "Wallet keys" }).waitFor();
  await page.setViewportSize(phone);
  await look(page, "portal-wallets-phone");
  assert.deepEqual(troubles, []);
});

test("gates, and one of them with its settings", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann", "gates");
  await page.getByRole("link", { name: "sandbox", exact: true }).waitFor();
  await page.getByRole("columnheader", { name: "Card ranges" }).waitFor();
  await look(page, "portal-gates-desk");
  await page.getByRole("button", { name: "Change" }).click();
  const server = page.getByRole("dialog").getByLabel("Address, EMV 3-D Secure");
  assert.match(await server.inputValue(), /^https:/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.setViewportSize(phone);
  await look(page, "portal-gates-phone");
  await page.getByRole("link", { name: "sandbox", exact: true }).click();
  await page.getByText("Terminal (field 41)").waitFor();
  await page.getByText("No keys").waitFor();
  await look(page, "portal-gate-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  await look(page, "portal-gate-desk");
  assert.deepEqual(troubles, []);
});

test("a rule is added and tried on past orders; an entry is put on a list", async (t) => {
  await world.merchant().sale({ amount: "15.00" });
  await world.settle();
  const { page, troubles } = await signIn(t, "desk", "ann", "screening");
  await page.getByRole("heading", { name: "No rules yet" }).waitFor();
  await page.getByRole("button", { name: "New rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Largest amount").fill("10.00");
  await dialog.getByLabel("Currency").fill("USD");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await confirm(page, "New rule");
  await page.getByRole("cell", { name: /max 10/ }).waitFor();
  await look(page, "portal-rules-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-rules-phone");
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.getByRole("link", { name: "Trial" }).click();
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByRole("row", { name: /Blocked 1/ }).waitFor();
  await look(page, "portal-trial-desk");

  await page.getByRole("link", { name: "Lists" }).click();
  await page.getByRole("button", { name: "New entry" }).click();
  await dialog.getByLabel("List").selectOption("block");
  await dialog.getByLabel("Kind").selectOption("email-domain");
  await dialog.getByLabel("Value").fill("mailbox.example");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await confirm(page, "New entry");
  await page.getByText("mailbox.example").waitFor();
  await look(page, "portal-lists-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-lists-phone");
  assert.deepEqual(troubles, []);
});

test("a day is compared with the acquirer's file", async (t) => {
  await world.merchant().sale({ amount: "9.00" });
  await world.settle();
  const lines = await fetchSettlement(world, "sandbox");
  const { page, troubles } = await signIn(t, "desk", "ann", "reconciliation");
  await page.getByRole("button", { name: "Compare a day" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Gate").fill("sandbox");
  await dialog.getByLabel("Day (UTC)").fill(dayOf(world));
  await dialog.getByLabel("Or its content").fill(lines.slice(0, -1).join("\n"));
  await dialog.getByRole("button", { name: "Preview" }).click();
  await confirm(page, "Compare a day");

  await page.getByText("1 difference").waitFor();
  await look(page, "portal-reconciliation-desk");
  await page.getByRole("link", { name: dayOf(world) }).click();
  await page.getByText("Missing at the acquirer").waitFor();
  await look(page, "portal-reconciled-day-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-reconciled-day-phone");
  assert.deepEqual(troubles, []);
});

test("an import of chargebacks shows what it has recorded, and names each line that it has not", async (t) => {
  const merchant = world.merchant();
  const sale = await merchant.sale({ amount: "10.00" });
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(sale);
  const file = [
    "case,reference,amount,currency,reason,stage,at",
    `C1,${reference},900,USD,10.4 fraud,first,2030-01-31`,
    "C2,000000000000,900,USD,10.4 fraud,first,2030-01-31",
  ];
  const { page, troubles } = await signIn(t, "desk", "ann", "reconciliation?tab=chargebacks");
  await page.getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Or its content").fill(file.join("\n"));
  await dialog.getByRole("button", { name: "Preview" }).click();
  await confirm(page, "Import");

  await page.getByRole("link", { name: sale["gw-order-id"] ?? "" }).waitFor();
  const told = page.getByRole("alert");
  await told.getByText("line 3, case C2: no order has this reference").waitFor();
  assert.doesNotMatch((await told.textContent()) ?? "", /C1/);
  await look(page, "portal-chargebacks-desk");
  await page.setViewportSize(phone);
  await look(page, "portal-chargebacks-phone");
  assert.deepEqual(troubles, []);
});

async function signIn(t: Test, size: Size, login: string, screen: string) {
  const window = await openWindow(t, size);
  const { page } = window;
  await page.goto(`${address}${screen}`);
  await fillIn(page, login);
  await page.locator("main h1").waitFor();
  return window;
}

/** The reason, and the button that does it; most windows close then. */
async function confirm(page: Page, button: string, closes = true): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the customer asked for it");
  await dialog.getByRole("button", { name: button }).click();
  if (closes) await dialog.waitFor({ state: "detached" });
  else await page.locator(".secret").waitFor();
}
