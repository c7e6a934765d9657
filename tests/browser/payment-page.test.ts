/**
 * The payment page, from the shop's request to the return: on a desktop and on a phone, with and
 * without scripts, in both languages, by keyboard, and with everything that people do with windows.
 * The bank's books show every charge. `scenarios/payment-page` tests without a browser, in every
 * run, what only the long run tests here.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import {
  bankIn,
  openWindow,
  press,
  sizesFor,
  takePicture,
  test,
  testInLongRun,
} from "../support/browser/browser.ts";
import {
  assertReturned,
  type Checkout,
  charged,
  notCharged,
  prepareCheckout,
} from "../support/browser/checkout.ts";
import {
  beginPage,
  fillCard,
  makeLink,
  openPage,
  type PagePayment,
  payWith,
} from "../support/browser/payment-page.ts";
import { atEnd } from "../support/clean-up.ts";
import { isLongRun, rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";

const prepared = prepareCheckout();
const withoutFunds = "4000004000000020";
const german = { locale: "de-AT" };
const still = { javaScriptEnabled: false };

/** Asserts that each try reached the bank, and only the last one is booked. */
async function assertPaidOnce(checkout: Checkout, payment: PagePayment, tries = 1) {
  await assertReturned(checkout, payment, "/return", "approved");
  assert.deepEqual(payment.charges(), { received: tries, booked: 1 });
}

async function fillAddress(page: Page): Promise<void> {
  await page.getByLabel("Email").fill("jane@example.com");
  await page.getByLabel("Phone").fill("+1 555 0100");
  await page.getByLabel("Street and number").fill("1 Main Street");
  await page.getByLabel("Postal code").fill("62701");
  await page.getByLabel("City").fill("Springfield");
  await page.getByLabel("Country").selectOption("DE");
}

const notice = (page: Page) => page.getByRole("alert");

describe("a payment on the payment page", () => {
  // biome-ignore format: a table
  const ways = [
    ["desk",  {},                      "Pay 10.15 USD"],
    ["phone", german,                  "10,15 USD bezahlen"],
    ["desk",  { ...still, ...german }, "10,15 USD bezahlen"],
    ["phone", still,                   "Pay 10.15 USD"],
  ] as const;
  // The refused try below is a German one on a telephone.
  for (const [size, options, button] of rowsOf(ways, ([size]) => size === "desk")) {
    test(`is made once and returns, ${size} ${JSON.stringify(options)}`, async (t) => {
      const checkout = prepared();
      const { page, payment, troubles } = await openPage(t, checkout, size, options);

      await fillCard(page, { number: cards.frictionlessNoMethod });
      await page.getByRole("button", { name: button }).click();
      // Without scripts, the return also needs a button.
      if ("javaScriptEnabled" in options) {
        await page.getByRole("button", { name: /^(Back to the shop|Zurück zum Shop)$/ }).click();
      }

      const { fields } = await assertReturned(checkout, payment, "/return", "approved");
      assert.equal(fields["card-holder-name"], "JANE DOE");
      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });
  }

  for (const size of sizesFor("method and challenge")) {
    test(`goes through method and challenge in the same window, ${size}`, async (t) => {
      const checkout = prepared();
      const { page, payment, context } = await openPage(t, checkout, size);

      await payWith(page, { number: cards.challenge });
      await press(bankIn(page, size), { code: "1234" });

      await assertPaidOnce(checkout, payment);
      assert.equal(context.pages().length, 1);
    });
  }

  testInLongRun("needs no mouse", async (t) => {
    const checkout = prepared();
    const { page, payment } = await openPage(t, checkout, "desk");
    const { keyboard } = page;

    await keyboard.press("Tab");
    await keyboard.type(cards.frictionlessNoMethod);
    await keyboard.press("Tab");
    // After two digits of the month the cursor moves to the year.
    await keyboard.type("1231");
    await keyboard.press("Tab");
    await keyboard.type("123");
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.getByText("Three digits on the back").waitFor();
    await takePicture(page, "pay-help-desk");
    await keyboard.press("Tab");
    await keyboard.type("JANE DOE");
    await keyboard.press("Enter");

    await assertPaidOnce(checkout, payment);
  });

  testInLongRun("is a reservation, or a verification that charges nothing", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const held = await openPage(t, checkout, "phone", {}, { kind: "preauthForm" });
    await held.page.getByText("Amount to reserve").waitFor();
    await takePicture(held.page, "pay-preauth-phone");
    await payWith(held.page, { number: cards.frictionlessNoMethod });
    await assertReturned(checkout, held.payment, "/return", "approved");
    const verified = await openPage(t, checkout, "phone", {}, { kind: "accountVerificationForm" });
    await takePicture(verified.page, "pay-verification-phone");
    assert.equal(await verified.page.getByText(/0\.00|Amount/).count(), 0);
    await payWith(verified.page, { number: cards.frictionlessNoMethod });
    await assertReturned(checkout, verified.payment, "/return", "approved");

    const told = await world.merchant("secure").status(held.payment.order);
    assert.equal(told["transaction-type"], "preauth");
  });

  test("asks for what the shop did not send", async (t) => {
    const checkout = prepared();
    const absent = ["email", "phone", "address1", "zip_code", "city", "country", "state"];
    const fields = Object.fromEntries(absent.map((name) => [name, undefined]));
    const { page, payment } = await openPage(t, checkout, "phone", {}, { fields });
    const state = page.getByLabel("State or province");

    await page.getByRole("button", { name: "Pay 10.15 USD" }).click();
    assert.equal(await page.locator("[aria-invalid=true]:visible").count(), 11);
    await takePicture(page, "pay-address-faults-phone");
    await fillCard(page, { number: withoutFunds });
    await fillAddress(page);
    await page.getByLabel("Email").fill("jane@example");
    assert.equal(await state.isVisible(), false);
    await page.getByLabel("Country").selectOption({ label: "United States" });
    await state.selectOption("IL");
    await page.getByRole("button", { name: "Pay 10.15 USD" }).click();
    await page.getByText("not a complete email address").waitFor();
    await page.getByLabel("Email").fill("jane@example.com");
    await page.getByRole("button", { name: "Pay 10.15 USD" }).click();
    // After a refusal all but the card is there, to be corrected.
    await page.getByText("You can try 2 more times.").waitFor();
    await takePicture(page, "pay-address-refused-phone");
    assert.equal(await page.getByLabel("Email").inputValue(), "jane@example.com");
    assert.equal(await state.inputValue(), "IL");
    await page.getByLabel("Phone").fill("+1 555 0199");
    await payWith(page, { number: cards.frictionlessNoMethod });

    const { fields: told } = await assertReturned(checkout, payment, "/return", "approved");
    assert.deepEqual([told["email"], told["phone"]], ["jane@example.com", "+1 555 0199"]);
  });
});

describe("a refused try", () => {
  test("says why and how many are left; another card pays", async (t) => {
    const checkout = prepared();
    const { page, payment, troubles } = await openPage(t, checkout, "phone", german);

    await payWith(page, { number: withoutFunds });
    await notice(page).and(page.locator(":focus")).waitFor();
    await takePicture(page, "pay-refused-phone");
    await notice(page)
      .filter({ hasText: /Guthaben.*nichts abgebucht.*noch 2\sMal/s })
      .waitFor();
    const kept = ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc", "cc-name"].map((field) =>
      page.locator(`#${field}`).inputValue(),
    );
    assert.deepEqual(await Promise.all(kept), ["", "", "", "", "JANE DOE"]);
    await page.keyboard.press("Tab");
    await page.locator("#cc-number:focus").waitFor();
    await payWith(page, { number: cards.frictionlessNoMethod });

    await assertPaidOnce(checkout, payment, 2);
    assert.deepEqual(troubles, []);
  });

  testInLongRun("is final when it was the last, and the shop is told", async (t) => {
    const checkout = prepared();
    const { page, payment } = await openPage(t, checkout, "desk", still);

    const tryOnce = async () => {
      await payWith(page, { number: withoutFunds });
      // The issuer's method is a step of its own.
      await page.getByRole("button", { name: "Continue" }).click();
    };
    for (const left of [/2 more times/, /once more/]) {
      await tryOnce();
      await notice(page).filter({ hasText: left }).and(page.locator(":focus")).waitFor();
    }
    await tryOnce();
    await page.getByRole("button", { name: "Back to the shop" }).click();

    await assertReturned(checkout, payment, "/return", "declined");
    assert.deepEqual(payment.charges(), { received: 3, booked: 0 });
  });

  test("by the gateway's own rules does not name the bank as the cause", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    await world.changeEndpoint("secure", { amountMax: "1014" });
    atEnd(t, () => world.changeEndpoint("secure", { amountMax: "99999999" }));
    const { page, payment } = await openPage(t, checkout, "desk");

    await payWith(page, { number: cards.frictionlessNoMethod });
    await notice(page)
      .filter({ hasText: "cannot be accepted. Try another card or ask the shop" })
      .waitFor();
    await takePicture(page, "pay-not-accepted-desk");

    assert.doesNotMatch((await notice(page).textContent()) ?? "", /bank/i);
    assert.deepEqual(payment.charges(), notCharged);
  });

  testInLongRun("is also a challenge that was failed or cancelled", async (t) => {
    const checkout = prepared();
    const { page, payment } = await openPage(t, checkout, "desk");

    await payWith(page, { number: cards.challengeNoMethod });
    await press(bankIn(page, "desk"), { button: "Cancel" });
    await notice(page).filter({ hasText: "could not confirm that it was you" }).waitFor();
    if (isLongRun) {
      await payWith(page, { number: cards.challengeFailed });
      await press(bankIn(page, "desk"), { code: "1234" });
      await notice(page).filter({ hasText: "once more" }).waitFor();
    }
    assert.deepEqual(payment.charges(), notCharged);
    await payWith(page, { number: cards.frictionlessNoMethod });

    await assertPaidOnce(checkout, payment);
  });
});

describe("any use of windows leads to a single charge", () => {
  testInLongRun("a double click", async (t) => {
    for (const options of [{}, still]) {
      const checkout = prepared();
      const { page, payment } = await openPage(t, checkout, "desk", options);
      await fillCard(page, { number: cards.frictionlessNoMethod });

      await page.locator("#pay button").dblclick();

      if (options === still) await page.getByRole("button", { name: "Back to the shop" }).click();
      await assertPaidOnce(checkout, payment);
    }
  });

  testInLongRun("two tabs with a card each", async (t) => {
    const checkout = prepared();
    const { page, context, payment } = await openPage(t, checkout, "desk");
    const other = await context.newPage();
    await other.goto(payment.link);
    for (const tab of [page, other]) {
      await fillCard(tab, { number: cards.frictionlessNoMethod });
    }

    await Promise.all([page, other].map((tab) => tab.locator("#pay button").click()));

    await assertPaidOnce(checkout, payment);
    for (const tab of [page, other]) await tab.getByText("Back in the shop").waitFor();
  });

  testInLongRun("a tab that was left open while another one paid", async (t) => {
    const checkout = prepared();
    const { page, context, payment } = await openPage(t, checkout, "phone");
    const other = await context.newPage();
    await other.goto(payment.link);
    await payWith(page, { number: cards.frictionlessNoMethod });
    await assertPaidOnce(checkout, payment);

    await payWith(other, { number: cards.frictionlessNoMethod });

    await other.getByText("Back in the shop").waitFor();
    await assertPaidOnce(checkout, payment);
  });

  test("the back button and a reload during the bank's challenge", async (t) => {
    const checkout = prepared();
    const { page, payment } = await openPage(t, checkout, "desk");
    await payWith(page, { number: cards.challengeNoMethod });
    await bankIn(page, "desk").locator("#code").waitFor();

    await page.goto(payment.link);
    await bankIn(page, "desk").locator("#code").waitFor();
    await page.reload();
    await press(bankIn(page, "desk"), { code: "1234" });
    await assertPaidOnce(checkout, payment);
    await page.getByText("Back in the shop").waitFor();
    // The page continues to the shop by itself.
    await page.goto(payment.link, { waitUntil: "commit" });
    await page.getByText("Back in the shop").waitFor();

    assert.deepEqual(payment.charges(), charged);
  });
});

testInLongRun("a page whose time is over takes no card, and the shop is told", async (t) => {
  const checkout = prepared();
  const { page, payment } = await openPage(t, checkout, "phone");
  const late = await beginPage(checkout);
  await fillCard(page, { number: cards.frictionlessNoMethod });

  checkout.world.clock.advance(1_801_000);
  await page.locator("#pay button").click();
  await page.getByRole("heading", { name: "Please wait" }).waitFor();
  await checkout.world.settle();

  const { fields } = await assertReturned(checkout, payment, "/return", "declined");
  assert.equal(fields["error_code"], "2900");
  assert.deepEqual(payment.charges(), notCharged);
  const { page: other } = await openWindow(t, "phone");
  await other.goto(late.link);
  await assertReturned(checkout, late, "/return", "declined");
});

test("a payment link is paid once, and then says so", async (t) => {
  const { world } = prepared();
  const { path } = await makeLink(world, world.set.endpoints["secure"] ?? assert.fail());
  const booked = world.bank.ledger().length;
  const { page, troubles } = await openWindow(t, "phone");
  const open = () => page.goto(`${world.gateway.url}${path}`);
  await open();
  await page.getByText("Oak chair").waitFor();
  await takePicture(page, "pay-link-phone");
  await page.getByLabel("Email").fill("jane@example.com");
  await payWith(page, { number: cards.frictionlessNoMethod });
  await page.getByRole("heading", { name: "Payment approved" }).waitFor();
  await open();
  await page.getByRole("heading", { name: "This link has been paid" }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, `pay-link-paid-phone-${colorScheme}`);
  }
  const other = await openWindow(t, "desk");
  await other.page.goto(`${world.gateway.url}${path}`);
  await other.page.getByText("Demonstration Shop").waitFor();
  await takePicture(other.page, "pay-link-paid-desk");
  assert.equal(await other.page.getByRole("link").count(), 0, "another browser has no receipt");
  await page.getByRole("link", { name: "Show the receipt" }).click();
  await page.getByRole("heading", { name: "Receipt", exact: true }).waitFor();

  assert.equal(world.bank.ledger().length, booked + 1);
  assert.deepEqual(troubles, []);
});
