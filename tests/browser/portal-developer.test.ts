/** The screens for developers in a real browser: requests, callbacks and the sandbox. */
import assert from "node:assert/strict";
import { bankIn, press, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { glance, lookAtBoth, makeDesk } from "../support/browser/portal-window.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { saleFields } from "../support/merchant.ts";
import { addUser, buildPortal } from "../support/operator/portal.ts";
import { answerWith, startReceiver } from "../support/receiver.ts";
import { startWalletWorld } from "../support/wallets.ts";
import { formOf, post, sha1, signedSale } from "../support/wire.ts";

await buildPortal();
const world = await startWalletWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const address = `${world.gateway.url}/portal/`;
await addUser(world, { login: "ann", role: "admin" });
const atDesk = makeDesk(address, "ann");
const endpoint = world.set.endpoints["plain"] ?? "";
const shop = await startReceiver(endOfFile, answerWith(500, {}, "no room"));

test("a refused request shows its faults, what its checksum covers and the mistake", async () => {
  const fields = saleFields({ amount: "10.4", client_orderid: "cup-1", expire_month: "13" });
  const control = sha1(`${endpoint}cup-110.4${fields.email}${world.set.controlKey}`);
  await send(formOf({ ...fields, control }));
  await send(signedSale(world, endpoint, saleFields({ country: "XX", client_orderid: "cup-2" })));
  const { page, troubles } = await atDesk("requests");

  await page.locator("tbody tr").nth(1).waitFor();
  await lookAtBoth(page, "portal-requests");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/requests\/[0-9a-f-]{36}/);
  await page.getByText("The amount was signed in another form").waitFor();
  assert.match((await page.textContent(".pieces")) ?? "", /cup-1.*1040.*•/);
  assert.match((await page.textContent(".fault-list")) ?? "", /expire_month/);
  assert.ok(!(await page.content()).includes(control));
  await lookAtBoth(page, "portal-request");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  assert.deepEqual(troubles, []);
});

testInLongRun("a pasted request is examined without its card", async () => {
  const { page, troubles } = await atDesk("checksum");
  const fields = saleFields({ amount: "10.42", client_orderid: "cup-3" });
  const control = sha1(`${endpoint}cup-31042${fields.email}${world.set.controlKey}\n`);
  const posted: string[] = [];
  page.on("request", (request) => posted.push(request.postData() ?? ""));
  await page.getByLabel("Endpoint").selectOption(endpoint);

  await page.getByLabel("Request").fill(formOf({ ...fields, control }));
  await page.getByLabel("client_orderid").waitFor();
  await page.getByRole("button", { name: "Find the mistake" }).click();
  await page.getByText("A space or a line end was signed too").waitFor();
  assert.ok(posted.join("").includes("cup-3"));
  assert.ok(!posted.join("").includes(fields.credit_card_number ?? "?"));
  await lookAtBoth(page, "portal-checksum");
  assert.deepEqual(troubles, []);
});

test("a callback shows its attempts and signature, and is sent again after a preview", async () => {
  await world.merchant().sale({ server_callback_url: shop.url, amount: "5.00" });
  await world.settle();
  const { page, troubles } = await atDesk("callbacks");

  const row = page.locator("tbody tr").first();
  await row.locator('.status[data-status="declined"]').getByText("Failing").waitFor();
  assert.match((await row.locator(".result [data-failed]").textContent()) ?? "", /500 1 try/);
  assert.match((await row.locator(".next").textContent()) ?? "", /\d/);
  await lookAtBoth(page, "portal-callbacks");
  await page.locator("tbody a").first().click();
  await page.getByText("Valid. The checksum matches the merchant's key.").waitFor();
  assert.match((await page.textContent(".attempt-list")) ?? "", /GET · 500.*no room/s);
  await lookAtBoth(page, "portal-callback");

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
  assert.deepEqual(troubles, []);
});

testInLongRun(
  "an order's callbacks are sent again from its page, which shows the progress",
  async () => {
    shop.answer(answerWith(500));
    const sold = await world.merchant().sale({ server_callback_url: shop.url, amount: "6.00" });
    await world.settle();
    const { page, troubles } = await atDesk(`orders/${sold["gw-order-id"]}`);
    await page.locator(".timeline [data-failed]").getByText("Callback: 500").waitFor();

    shop.answer(answerWith(200));
    world.clock.advance(1_000);
    await page.getByRole("button", { name: "Resend callbacks" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("the shop is back");
    await dialog.getByRole("button", { name: "Resend callbacks" }).click();
    await page.getByRole("status").getByText("0 of 1 delivered").waitFor();
    await world.settle();

    await page.getByRole("status").getByText("1 of 1 delivered").waitFor();
    await page.locator(".callbacks").getByText("Delivered").waitFor();
    const resent = page.locator(".timeline li").filter({ hasText: "Callbacks sent again" });
    assert.match((await resent.textContent()) ?? "", /By.*ann/);
    await glance(page, "portal-order-resent");
    assert.deepEqual(troubles, []);
  },
);

testInLongRun("a test payment is one click, and the bank leads back to the portal", async () => {
  const { page, troubles } = await atDesk("sandbox");
  const payment = (name: string) => page.locator(".payments li").filter({ hasText: name });
  await payment("Wallet").getByRole("button").click();
  await payment("Wallet").getByRole("status").getByText("Approved").waitFor();
  await payment("with a challenge").getByRole("button").click();
  const challenge = payment("with a challenge").getByRole("link", { name: "Go on at the bank" });
  await challenge.waitFor();
  await lookAtBoth(page, "portal-sandbox");

  await challenge.click();
  await press(bankIn(page, "desk"), { code: "1234" });
  await page.waitForURL(/portal\/orders\?search=portal-/);
  await world.settle();
  await page.locator("tbody tr").getByText("Captured").waitFor();
  assert.deepEqual(troubles, []);
});

test("a test card is paid with, a switch is set and reset, and both books agree", async () => {
  const { page } = await atDesk("sandbox?view=testCards");
  const row = page.getByRole("row").filter({ hasText: "decline-stolen" });
  await row.getByRole("button", { name: "Pay with decline-stolen" }).click();
  await row.getByText("Declined", { exact: true }).waitFor();
  await glance(page, "portal-sandbox-cards");

  await page.getByRole("link", { name: "Switches" }).click();
  const field = page.getByLabel("chargeCode");
  await field.fill("51");
  await page.keyboard.press("Enter");
  await page.getByText("1 changed").waitFor();
  assert.equal(world.bank.switches().chargeCode, "51");
  await field.fill("not a code");
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/takes a response code/)
    .waitFor();
  await glance(page, "portal-sandbox-switches");
  await page.reload();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByText("1 changed").waitFor({ state: "detached" });
  assert.equal(world.bank.switches().chargeCode, null);

  await world.settle();
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.getByText("Both books agree.").waitFor();
  await glance(page, "portal-sandbox-ledger");
});

async function send(body: string): Promise<void> {
  await post(world, `/gw/api/v2/sale/${endpoint}`, body);
  await world.settle();
}
