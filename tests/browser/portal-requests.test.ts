/** Callbacks, refused requests and the checksum debugger in a real browser, desk and phone. */
import assert from "node:assert/strict";
import { assertNoViolations } from "../support/browser/accessibility.ts";
import { openWindow, type Size, takePicture, test } from "../support/browser/browser.ts";
import { look } from "../support/browser/portal-window.ts";
import type { Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { saleFields } from "../support/merchant.ts";
import { addUser, buildPortal, password } from "../support/operator/portal.ts";
import { answerWith, startReceiver } from "../support/receiver.ts";
import { formOf, post, sha1, signedSale } from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

await buildPortal();
const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const address = `http://127.0.0.1:${world.gateway.port}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "dev", role: "merchant-developer", merchant: "demo" });
await addUser(world, { login: "eve", role: "merchant-viewer", merchant: "demo" });
const endpoint = world.set.endpoints["plain"] ?? "";
const shop = await startReceiver(endOfFile, answerWith(500, {}, "no room"));

test("without refused requests and callbacks the lists say what to do", async (t) => {
  const { page, troubles } = await open(t, "desk", "eve", "requests");

  await page.getByRole("heading", { name: "No refused requests" }).waitFor();
  await page.getByRole("link", { name: "Callbacks" }).click();
  await page.getByRole("heading", { name: "No callbacks yet" }).waitFor();

  await assertNoViolations(page, "no callbacks");
  assert.deepEqual(troubles, []);
});

test("a refused request shows its faults, what its checksum covers and the mistake", async (t) => {
  const fields = saleFields({ amount: "10.4", client_orderid: "cup-1", expire_month: "13" });
  const control = sha1(`${endpoint}cup-110.4${fields.email}${world.set.controlKey}`);
  await send(formOf({ ...fields, control }));
  await send(signedSale(world, endpoint, saleFields({ country: "XX", client_orderid: "cup-2" })));
  const { page, troubles } = await open(t, "desk", "eve", "requests");

  await page.locator("tbody tr").nth(1).waitFor();
  await look(page, "portal-requests-desk");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/requests\/[0-9a-f-]{36}/);
  await page.goBack();
  await page.getByRole("searchbox").fill("cup-1");
  await page.waitForURL(/search=cup-1/);
  await page.locator("tbody tr").nth(1).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "sale" }).click();
  await page.getByText("The amount was signed in another form").waitFor();
  assert.match((await page.textContent(".pieces")) ?? "", /cup-1.*1040.*•/);
  assert.match((await page.textContent(".fault-list")) ?? "", /expire_month/);
  assert.ok(!(await page.content()).includes(control));
  await look(page, "portal-request-desk");
  await page.setViewportSize({ width: 390, height: 844 });
  await look(page, "portal-request-phone");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await look(page, "portal-requests-phone");

  assert.deepEqual(troubles, []);
});

test("a pasted request is examined without its card, by those who may see the key", async (t) => {
  const { page, troubles } = await open(t, "desk", "dev", "checksum");
  const fields = saleFields({ amount: "10.42", client_orderid: "cup-3" });
  const control = sha1(`${endpoint}cup-31042${fields.email}${world.set.controlKey}\n`);
  const posted: string[] = [];
  page.on("request", (request) => posted.push(request.postData() ?? ""));
  await page.getByLabel("Endpoint").selectOption(endpoint);

  await page.getByLabel("Request").fill(formOf({ ...fields, control }));
  await page.getByLabel("client_orderid").waitFor();
  assert.equal(await page.getByLabel("client_orderid").inputValue(), "cup-3");
  await page.getByRole("button", { name: "Find the mistake" }).click();
  await page.getByText("A space or a line end was signed too").waitFor();
  assert.ok(!posted.join("").includes(fields.credit_card_number ?? "?"));
  await look(page, "portal-checksum-desk");
  await page.setViewportSize({ width: 390, height: 844 });
  await look(page, "portal-checksum-phone");

  const viewer = await open(t, "phone", "eve", "checksum");
  await viewer.page.getByText("Your role does not see control keys").waitFor();
  assert.deepEqual([...troubles, ...viewer.troubles], []);
});

test("a callback shows its attempts and signature, and is sent again after a preview", async (t) => {
  await world.merchant().sale({ server_callback_url: shop.url, amount: "5.00" });
  await world.settle();
  const { page, troubles } = await open(t, "desk", "dev", "callbacks");

  await page.locator("tbody tr").first().waitFor();
  await look(page, "portal-callbacks-desk");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("Valid. The checksum matches the merchant's key.").waitFor();
  assert.match((await page.textContent(".attempt-list")) ?? "", /GET · 500.*no room/s);
  await look(page, "portal-callback-desk");

  shop.answer(answerWith(200));
  world.clock.advance(1_000);
  await page.getByRole("button", { name: "Send again" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("the shop is back");
  await takePicture(page, "portal-callback-resend");
  await dialog.getByRole("button", { name: "Send 1 again" }).click();
  await dialog.getByText("0 of 1 delivered").waitFor();
  await world.settle();
  await dialog.getByText("1 of 1 delivered").waitFor();
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("link", { name: "Callbacks" }).first().click();
  await page.getByText("Delivered").waitFor();
  await look(page, "portal-callbacks-phone");

  assert.deepEqual(troubles, []);
});

test("many callbacks are sent again only for a time, and German has the same words", async (t) => {
  const { page, troubles } = await open(t, "desk", "ann", "callbacks", { locale: "de-AT" });

  await page.getByRole("button", { name: "Erneut senden …" }).click();
  await page.getByText("Wählen Sie zuerst eine Zeit").waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${address}callbacks?from=2020-01-01`);
  await page.getByRole("button", { name: "Erneut senden …" }).click();
  await page.getByRole("button", { name: "1 erneut senden" }).waitFor();

  assert.deepEqual(troubles, []);
});

async function send(body: string): Promise<void> {
  await post(world, `/gw/api/v2/sale/${endpoint}`, body);
  await world.settle();
}

async function open(
  t: Test,
  size: Size,
  login: string,
  screen: string,
  options: Parameters<typeof openWindow>[2] = {},
) {
  const window = await openWindow(t, size, options);
  const { page } = window;
  await page.goto(address + screen);
  await page.locator("input").first().fill(login);
  await page.locator("input[type=password]").fill(password);
  await page.keyboard.press("Enter");
  await page.locator(".frame").waitFor();
  return window;
}
