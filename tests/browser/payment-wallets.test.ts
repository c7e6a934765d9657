/**
 * Wallets on the payment page, which the sandbox simulates in staging: the page's own script uses
 * the Payment Request API of the sandbox's sheet like that of a browser.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Page } from "playwright-core";
import { assertNoViolations } from "../support/browser/accessibility.ts";
import { routeOnce, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import {
  assertReturned,
  charged,
  notCharged,
  prepareCheckout,
} from "../support/browser/checkout.ts";
import { beginPage, openPage } from "../support/browser/payment-page.ts";
import { until } from "../support/until.ts";
import { mintA, withPageWallets } from "../support/wallets.ts";

// The bank's clock differs from the world's.
const settings = { GW_WALLET_SIGNING_WINDOW_S: "86400" };
const prepared = prepareCheckout(settings, withPageWallets);

const buttonOf = (page: Page, wallet: string) =>
  page.getByRole("button", { name: `Pay with ${wallet}` });
const sheetOf = (page: Page) => page.getByRole("dialog", { name: "Sandbox wallet: pay 10.15 USD" });
const inSheet = (page: Page, name: string) => sheetOf(page).getByRole("button", { name });

for (const wallet of ["Wallet A", "Wallet B"]) {
  test(`${wallet} pays through its sheet, and two clicks on either button charge once`, async (t) => {
    const checkout = prepared();
    const { page, payment, troubles } = await openPage(t, checkout, "desk");
    await buttonOf(page, wallet).dblclick();
    await sheetOf(page).waitFor();
    await assertNoViolations(page, wallet);
    await takePicture(page, `pay-${wallet.replace(" ", "-").toLowerCase()}-sheet-desk`);

    assert.equal(await page.getByRole("dialog").count(), 1);
    await inSheet(page, "Pay").click({ clickCount: 2 });

    const { fields } = await assertReturned(checkout, payment, "/return", "approved");
    assert.equal(fields["card-type"], "VISA");
    assert.deepEqual(payment.charges(), charged);
    assert.deepEqual(troubles, []);
  });
}

testInLongRun("a sheet that is closed leaves the page as it was", async (t) => {
  const { page, payment } = await openPage(t, prepared(), "desk");
  for (const close of [
    () => inSheet(page, "Cancel").click(),
    () => page.keyboard.press("Escape"),
  ]) {
    await buttonOf(page, "Wallet A").click();
    await sheetOf(page).waitFor();
    await close();
    await sheetOf(page).waitFor({ state: "detached" });
  }

  assert.equal(await page.locator("#wallets-fault").textContent(), "");
  assert.equal(await page.getByRole("button", { name: "Pay 10.15 USD" }).isEnabled(), true);
  assert.deepEqual(payment.charges(), notCharged);
});

test("after a refused token another try pays", async (t) => {
  const checkout = prepared();
  // Minting moves the clock, which must not end the page.
  const faulty = await mintA(checkout.world, {}, { defect: "tampered" });
  const { page, payment } = await openPage(t, checkout, "desk");
  await routeOnce(page, "**/staging/wallets/walleta", (route) => route.fulfill({ body: faulty }));

  await buttonOf(page, "Wallet A").click();
  await inSheet(page, "Pay").click();
  await page.getByText("The wallet’s payment could not be used.").waitFor();
  assert.deepEqual(payment.charges(), notCharged);
  await page.getByText("You can try 2 more times.").waitFor();
  await buttonOf(page, "Wallet A").click();
  await inSheet(page, "Pay").click();

  await assertReturned(checkout, payment, "/return", "approved");
  assert.deepEqual(payment.charges(), charged);
});

testInLongRun("a wallet that gives no session is told at the buttons", async (t) => {
  const { page, payment } = await openPage(t, prepared(), "desk");
  await page.route("**/wallet-session", (route) => route.fulfill({ status: 502 }));

  await buttonOf(page, "Wallet A").click();

  await until("the page says so", async () =>
    (await page.locator("#wallets-fault").textContent()) === "" ? undefined : true,
  );
  assert.deepEqual(payment.charges(), notCharged);
});

test("a browser cannot make the gateway request a session from another host", async (t) => {
  const { link } = await beginPage(prepared());
  let connections = 0;
  const trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0);
  t.after(() => trap.close());
  await once(trap, "listening");
  const address = trap.address();
  assert.ok(typeof address === "object" && address !== null);
  const { port } = address;
  const ask = (url: string, page = link) =>
    fetch(`${page}/wallet-session`, { method: "POST", body: new URLSearchParams({ url }) });
  // biome-ignore format: a table
  const urls = [
    `http://127.0.0.1:${port}/session`,        `https://localhost:${port}/session`,
    `https://127.0.0.2:${port}/`,              `https://[::1]:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,     `https://127.0.0.1.:${port}@localhost:${port}/`,
    `https://user@127.0.0.1:${port}/`,         `https://0.0.0.0:${port}/`,
    `https://127.0.0.1@localhost:${port}/`,    `https://localhost:${port}/#@127.0.0.1`,
    `https://127.0.0.1.example:${port}/`,      `file:///etc/passwd`, "", "//127.0.0.1/",
  ];

  for (const url of urls) assert.equal((await ask(url)).status, 502, url);
  assert.equal(connections, 0);
  assert.equal((await ask(urls[0] ?? "", `${link}x`)).status, 404);
  // The trap is reached at a host that is allowed, and gives no session.
  assert.equal((await ask(`https://127.0.0.1:${port}/session`)).status, 502);
  assert.equal(connections, 1);
});
