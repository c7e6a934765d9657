/** The portal in a real browser: signing in and the orders, at a desk and on a phone. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import { openWindow, type Size, takePicture, test } from "../support/browser/browser.ts";
import { fillIn, look } from "../support/browser/portal-window.ts";
import type { Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal, codeAt, openBrowser, password } from "../support/operator/portal.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
// An operator's decision has the database's time: by it, the answer to each message is overdue.
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" }, { behindMs: 60_000 });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
await addUser(world, { login: "eve", role: "merchant-viewer", merchant: "demo" });
const merchant = world.merchant();
const declining = "4000004000000020";
const sales = [
  { amount: "10.42", email: "carla@example.com" },
  { amount: "249.00", email: "dora@example.com" },
  { amount: "7.05", email: "emil@example.com", credit_card_number: declining },
];
const orders: string[] = [];

test("without orders the list says what to do", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "eve");

  await page.getByRole("heading", { name: "No orders yet" }).waitFor();

  await assertNoViolations(page, "no orders");
  await takePicture(page, "portal-no-orders");
  assert.deepEqual(troubles, []);
});

test("orders appear by themselves, are searched, filtered and put into a file", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.getByRole("heading", { name: "No orders yet" }).waitFor();

  for (const sale of sales) orders.push((await merchant.sale(sale))["gw-order-id"]);
  await world.settle();
  await page.locator("tbody tr").nth(2).waitFor();
  assert.match((await page.locator("tbody tr").first().textContent()) ?? "", /7\.05.*Declined/);

  await page.keyboard.press("/");
  await page.keyboard.type("carla@example.com");
  await page.waitForURL(/search=carla%40example\.com/);
  await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  assert.match((await page.locator("tbody tr").textContent()) ?? "", /10\.42 USD.*Approved/);
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

for (const size of ["desk", "phone"] as const) {
  test(`signing in and the orders are readable, ${size}`, async (t) => {
    const { page, troubles } = await open(t, size);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await look(page, `portal-sign-in-${size}`);

    await fillIn(page, "ann");
    await page.locator("tbody tr").nth(2).waitFor();
    await look(page, `portal-orders-${size}`);

    assert.deepEqual(troubles, []);
  });
}

test("home tells how payments go, over ranges that are in the address", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.getByRole("link", { name: "Home" }).click();

  await page.getByText("66.7%").waitFor();
  assert.match((await page.textContent(".figures")) ?? "", /Orders3.*259\.42 USD/);
  assert.match((await page.textContent("figcaption")) ?? "", /Approved 2Refused 1/);
  await look(page, "portal-home-desk");
  await page.getByRole("link", { name: "Hour" }).click();
  await page.waitForURL(/home\?range=hour/);
  await page.setViewportSize({ width: 390, height: 844 });
  await look(page, "portal-home-phone");

  assert.deepEqual(troubles, []);
});

test("an order shows what happened, and is refunded after a preview, with a reason", async (t) => {
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.getByRole("link", { name: orders[1] ?? "" }).click();
  await page.getByRole("heading", { name: "249.00 USD" }).waitFor();
  assert.match((await page.textContent(".timeline")) ?? "", /Authorized/);
  await look(page, "portal-order-desk");
  await page.getByText("0200 sent").click();
  await page.getByText("Raw, encoded anew").first().waitFor();
  await page.getByText("What the merchant saw").first().click();
  await look(page, "portal-order-message-desk");

  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("9999");
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Amount").fill("49.00");
  await dialog.getByLabel("Reason").fill("broken cup");
  await takePicture(page, "portal-order-refund");
  await dialog.getByRole("button", { name: "Refund 49.00 USD" }).click();
  await dialog.waitFor({ state: "detached" });
  await world.settle();

  await page.reload();
  await page.getByText("200.00 USD").first().waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await assertFitsWidth(page);
  await takePicture(page, "portal-order-phone");
  assert.deepEqual(troubles, []);
});

test("an order in doubt is asked about again, and settled as the acquirer says", async (t) => {
  // The bank neither books nor answers the charge, and refuses the reversal.
  await world.bank.setSwitches({ reversalCode: "05" });
  const doubtful = await merchant.sale({ amount: "31.00", credit_card_number: "4000004000000137" });
  const { "processor-rrn": reference = "" } = await merchant.status(doubtful);
  await world.bank.waitForMessage({ mti: "0200", reference });
  await world.pass(30_000);
  const { page, troubles } = await signIn(t, "desk", "ann");
  await page.goto(`${address}orders/${doubtful["gw-order-id"]}`);
  await page.getByRole("button", { name: "Settle as done" }).waitFor();
  const dialog = page.getByRole("dialog");

  // The charge may still arrive; when its time is over, the open dialog takes the decision.
  await page.getByRole("button", { name: "Settle as not done" }).click();
  await dialog.getByText("may still reach the acquirer").waitFor();
  await dialog.getByLabel("Reason").fill("too early");
  assert.equal(await dialog.getByRole("button", { name: /^Settle/ }).isDisabled(), true);
  await world.pass(15_000);
  await dialog
    .getByRole("button", { name: "Settle as not done 31.00 USD", disabled: false })
    .waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Ask again" }).click();
  await dialog.getByText("It stays in doubt until the acquirer has answered").waitFor();
  await dialog.getByLabel("Reason").fill("their host is up again");
  await dialog.getByRole("button", { name: "Ask again 31.00 USD" }).click();
  await page.getByText("their host is up again").waitFor();
  // The decision has the database's time, which the clock of this world is behind.
  await world.pass(5 * 60_000);
  await page.reload();

  await page.getByRole("button", { name: "Settle as not done" }).click();
  await dialog.getByText("It ends with an error: no money has moved").waitFor();
  await dialog.getByLabel("Reason").fill("the bank has booked nothing");
  await assertNoViolations(page, "settle");
  await takePicture(page, "portal-order-settle");
  await dialog.getByRole("button", { name: "Settle as not done 31.00 USD" }).click();
  await page.getByText("the bank has booked nothing").waitFor();

  assert.equal(await page.getByRole("button", { name: /Ask again|Settle/ }).count(), 0);
  assert.equal((await merchant.describe(doubtful))["error-code"], "5006");
  await world.bank.setSwitches({ reversalCode: null });
  assert.deepEqual(troubles, []);
});

test("a wrong password is refused in words, and the second factor is asked for", async (t) => {
  const api = openBrowser(world.gateway);
  await api.signIn("bob");
  const { secret } = (await api.call("POST /totp/begin", { password })).body;
  await api.call("POST /totp/confirm", { code: codeAt(secret, world.clock.now()) });
  world.clock.advance(30_000);
  const { page } = await open(t, "desk");

  await fillIn(page, "bob", "not the password");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Password", { exact: true }).inputValue(), "");
  await fillIn(page, "bob");
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  await assertNoViolations(page, "second factor");
  await page.getByLabel("Code").fill(codeAt(secret, world.clock.now()));
  await page.keyboard.press("Enter");

  await page.locator("tbody tr").nth(2).waitFor();
  assert.equal(await page.getByRole("columnheader", { name: "Merchant" }).count(), 0);
});

test("an address of the operator's tells a merchant's user that it is not allowed", async (t) => {
  const { page } = await signIn(t, "desk", "eve");

  await page.goto(`${address}audit`);

  await page.getByRole("heading", { name: "Not allowed" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
});

test("a session that has ended shows nothing more of the orders", async (t) => {
  const { page, context } = await signIn(t, "desk", "ann");
  await page.locator("tbody tr").nth(2).waitFor();

  await context.clearCookies();

  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await page.locator("tbody").count(), 0);
});

test("the portal speaks German where the browser does, also of refusals and timelines", async (t) => {
  const { page } = await open(t, "desk", { locale: "de-AT" });
  const signInWith = async (given: string) => {
    await page.locator("input").first().fill("ann");
    await page.locator("input[type=password]").fill(given);
    await page.keyboard.press("Enter");
  };
  await page.getByRole("heading", { name: "Anmelden" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "de");

  await signInWith("not the password");
  await page.getByText("Benutzername oder Passwort ist falsch.").waitFor();
  await signInWith(password);
  await page.locator(".frame").waitFor();
  await page.goto(`${address}orders/${orders[2]}`);
  await page.getByText("Abgelehnt").first().waitFor();
  await page.getByText("Deckung reicht nicht").first().waitFor();

  const timeline = (await page.textContent(".timeline")) ?? "";
  assert.match(timeline, /Angenommen.*Freigegeben.*Warum dieses Gate.*Abgelehnt.*Antwortcode/);
  assert.doesNotMatch(timeline, /Received|Cleared|Refused|Reason|Response/);
  await takePicture(page, "portal-order-german");
});

test("a browser without scripts is told so", async (t) => {
  const { page } = await open(t, "desk", { javaScriptEnabled: false });

  assert.match((await page.textContent("noscript")) ?? "", /needs JavaScript/);
});

async function open(t: Test, size: Size, options: Parameters<typeof openWindow>[2] = {}) {
  const window = await openWindow(t, size, options);
  await window.page.goto(address);
  return window;
}

async function signIn(t: Test, size: Size, login: string) {
  const window = await open(t, size);
  await fillIn(window.page, login);
  await window.page.getByRole("heading", { name: "Orders", exact: true }).waitFor();
  return window;
}
