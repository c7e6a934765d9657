/** The portal's sandbox in a real browser: test payments, test cards, switches, and both books. */
import assert from "node:assert/strict";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import { bankIn, openWindow, press, takePicture, test } from "../support/browser/browser.ts";
import { fillIn } from "../support/browser/portal-window.ts";
import type { Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, buildPortal } from "../support/operator/portal.ts";
import { startWalletWorld } from "../support/wallets.ts";

await buildPortal();
const world = await startWalletWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
const address = `${world.gateway.url}/portal/`;
await addUser(world, { login: "ann", role: "admin" });

test("each way of paying is one click, and the bank leads back to the portal", async (t) => {
  const { page, troubles } = await open(t, "sandbox");
  const payment = (name: string) => page.locator(".payments li").filter({ hasText: name });
  const results = { "Plain sale": "Approved", "Wallet": "Approved", "Declined by": "Declined" };
  for (const [name, status] of Object.entries(results)) {
    await payment(name).getByRole("button").click();
    await payment(name).getByRole("status").getByText(status).waitFor();
  }
  const isBack = async () => {
    await page.waitForURL(/portal\/orders\?search=portal-/);
    await world.settle();
    await page.locator("tbody tr").getByText("Approved").waitFor();
  };
  const goOn = async (name: string) => {
    await payment(name).getByRole("button").click();
    return payment(name).getByRole("link", { name: "Go on at the bank" });
  };
  await (await goOn("frictionless")).click();
  await isBack();
  await page.goto(`${address}sandbox`);
  await (await goOn("1.0.2")).click();
  await press(page, { code: "1234" });
  await isBack();

  await page.goto(`${address}sandbox`);
  const challenge = await goOn("with a challenge");
  await challenge.waitFor();
  for (const size of ["desk", "phone"] as const) {
    if (size === "phone") await page.setViewportSize({ width: 390, height: 844 });
    await assertFitsWidth(page);
    await page.emulateMedia({ colorScheme: "light" });
    await takePicture(page, `portal-sandbox-${size}-light`);
    await assertNoViolations(page, "sandbox");
    await takePicture(page, `portal-sandbox-${size}-dark`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await challenge.click();
  await press(bankIn(page, "desk"), { code: "1234" });
  await isBack();
  assert.deepEqual(troubles, []);
});

test("test cards are listed with what they do, and paid with", async (t) => {
  const { page, troubles } = await open(t, "sandbox?view=testCards");
  const row = page.getByRole("row").filter({ hasText: "decline-stolen" });
  await row.getByText("4000004000000053").waitFor();

  await row.getByRole("button", { name: "Pay with decline-stolen" }).click();

  await row.getByText("Declined", { exact: true }).waitFor();
  await assertNoViolations(page, "test cards");
  await takePicture(page, "portal-sandbox-cards");
  assert.deepEqual(troubles, []);
});

test("a switch of the bank is set, refused and reset", async (t) => {
  const { page } = await open(t, "sandbox?view=switches");
  const field = page.getByLabel("chargeCode");
  await field.fill("51");
  await page.keyboard.press("Enter");
  await page.getByText("1 changed").waitFor();
  assert.equal(world.bank.switches().chargeCode, "51");

  await field.fill("not a code");
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/chargeCode takes a response code/)
    .waitFor();
  await takePicture(page, "portal-sandbox-switches");
  await page.reload();
  await page.getByRole("button", { name: "Reset" }).click();

  await page.getByText("1 changed").waitFor({ state: "detached" });
  assert.equal(world.bank.switches().chargeCode, null);
});

test("the bank's books agree with ours, and a charge that we do not know is shown", async (t) => {
  await world.settle();
  const { page, troubles } = await open(t, "sandbox?view=ledger");
  await page.getByText("Both books agree.").waitFor();
  await assertNoViolations(page, "ledger");
  await takePicture(page, "portal-sandbox-ledger");

  const { query } = world.installation.database;
  const [lost] = await query<{ id: string }>(
    `delete from order_index where order_id =
       (select max(order_id) from order_index where status = 'approved') returning order_id as id`,
  );
  await page.reload();
  await page.getByText("1 order differs.").waitFor();
  await page.getByRole("row").filter({ hasText: "unknown here" }).getByText("Differs").waitFor();
  assert.ok(lost !== undefined);
  assert.deepEqual(troubles, []);
});

async function open(t: Test, screen: string) {
  const window = await openWindow(t, "desk");
  const { page } = window;
  await page.goto(address + screen);
  await fillIn(page, "ann");
  await page.getByRole("heading", { name: "Sandbox" }).waitFor();
  return window;
}
