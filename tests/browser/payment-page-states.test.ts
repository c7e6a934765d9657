/**
 * States of the payment page that few cardholders meet: a disabled endpoint, a proof of work, and a
 * language that is written from right to left. The pictures are for people to look at.
 */
import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { assertFitsWidth } from "../support/browser/accessibility.ts";
import {
  openWindow,
  sizesFor,
  takePicture,
  test,
  testInLongRun,
} from "../support/browser/browser.ts";
import {
  assertReturned,
  charged,
  notCharged,
  prepareCheckout,
} from "../support/browser/checkout.ts";
import {
  beginPage,
  fillCard,
  makeLink,
  openPage,
  payWith,
} from "../support/browser/payment-page.ts";
import { atEnd } from "../support/clean-up.ts";
import { pay } from "../support/posted-page.ts";
import { readGw } from "../support/programs.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";

const triesMax = 4;
const prepared = prepareCheckout({
  GW_PAYMENT_PAGE_TRIES_PER_IP: String(triesMax),
  GW_PROOF_OF_WORK_BITS: "15",
});
const absentNames = ["email", "phone", "address1", "zip_code", "city", "country", "state"];
const absent = Object.fromEntries(absentNames.map((name) => [name, undefined]));

test("page and payment link of a disabled endpoint say so, and the page leads back to the shop", async (t) => {
  const checkout = prepared();
  const { world } = checkout;
  const payment = await beginPage(checkout);
  const endpoint = world.set.endpoints["secure"] ?? assert.fail();
  const { path } = await makeLink(world, endpoint);
  await readGw(world, "endpoint", "set", endpoint, "--disable");
  await world.restart();
  atEnd(t, async () => {
    await readGw(world, "endpoint", "set", endpoint, "--enable");
    await world.restart();
  });

  const readers = [
    ["phone", "en-AT", "Payment is not possible now", "Back to the shop"],
    ["desk", "de-AT", "Zahlung derzeit nicht möglich", "Zurück zum Shop"],
  ] as const;
  for (const [size, locale, title, button] of rowsOf(readers, ([size]) => size === "desk")) {
    const { page, troubles } = await openWindow(t, size, { locale });
    await page.goto(new URL(new URL(payment.link).pathname, world.gateway.url).href);
    await page.getByRole("heading", { name: title }).waitFor();
    await takePicture(page, `pay-disabled-${size}`);
    await page.goto(`${world.gateway.url}${path}`);
    await page.getByRole("heading", { name: title }).waitFor();
    await takePicture(page, `pay-link-disabled-${size}`);
    await page.goBack();
    await page.getByRole("link", { name: button }).click();
    await page.getByText("Back in the shop").waitFor();
    assert.deepEqual(troubles, []);
  }
  assert.deepEqual(payment.charges(), notCharged);
});

const letters = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي";

/** Rewrites the gateway's page as in a language with Arabic letters. */
async function mirror(route: Route): Promise<void> {
  const response = await route.fetch();
  const translate = (text: string) =>
    text.replace(/&[^;]+;|[a-z]/gi, (found) =>
      found.length > 1 ? found : (letters[found.toLowerCase().charCodeAt(0) - 97] ?? found),
    );
  const body = (await response.text())
    .replace('<html lang="en" dir="ltr">', '<html lang="ar" dir="rtl">')
    .replace(/(?<=<body>.*)>[^<]+</gs, translate)
    .replace(/(?<=data-(missing|wrong)=")[^"]+/g, translate);
  await route.fulfill({ response, body });
}

/** Returns the visible elements that overlap without one containing the other. */
const findOverlaps = `(() => {
  const words = ".shop span, h1 span, h1 strong, h2, .what, label, legend, .fault, .help div";
  const fields = ".field input, .field select, #pay > button, .assurance";
  const parts = [...document.querySelectorAll(words + ", " + fields)];
  const seen = parts.map((part) => [part, part.getBoundingClientRect()])
    .filter(([part, { width, height }]) => width > 1 && height > 1);
  return seen.flatMap(([one, a], at) => seen.slice(at + 1)
    .filter(([other, b]) => !one.contains(other) && a.left < b.right - 1 && b.left < a.right - 1 &&
      a.top < b.bottom - 1 && b.top < a.bottom - 1)
    .map(([other]) => one.outerHTML + " over " + other.outerHTML));
})()`;

async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).first().boundingBox();
  return box ?? assert.fail(`${selector} is not shown`);
}

for (const size of sizesFor("right to left")) {
  testInLongRun(
    `a language from right to left mirrors the page, and no digits, ${size}`,
    async (t) => {
      const checkout = prepared();
      const { link } = await beginPage(checkout, { fields: absent });
      const { page, troubles } = await openWindow(t, size);
      await page.route(link, mirror);
      await page.goto(link);

      await page.locator("#pay button[type=submit]").click();
      await fillCard(page, { number: cards.frictionlessNoMethod, year: "20" });
      await page.locator("#tel").fill("+1 555 0100");
      await page.locator("#email").fill("jane@example.com");
      await page.locator(".help summary").click();
      await takePicture(page, `pay-mirrored-${size}`);

      assert.equal(await page.locator("#cc-number").inputValue(), "4000 0021 0000 0015");
      for (const field of ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc", "tel", "email"]) {
        const style = `getComputedStyle(document.getElementById("${field}")).direction`;
        assert.equal(await page.evaluate(style), "ltr", field);
      }
      const [month, year] = [await boxOf(page, "#cc-exp-month"), await boxOf(page, "#cc-exp-year")];
      assert.ok(month.x < year.x, "the month is before the year");
      const [expiry, cvv] = [await boxOf(page, ".joined"), await boxOf(page, "#cc-csc")];
      assert.ok(expiry.x > cvv.x, "the first of two fields is the right one");
      const [number, mark] = [await boxOf(page, "#cc-number"), await boxOf(page, ".boxed svg")];
      const free = Number.parseFloat(
        await page.evaluate(`getComputedStyle(document.getElementById("cc-number")).paddingRight`),
      );
      assert.ok(mark.x >= number.x + number.width - free, "the mark covers no digits");
      const [help, till] = [await boxOf(page, ".help div"), await boxOf(page, ".till")];
      assert.ok(
        help.x >= till.x && help.x + help.width <= till.x + till.width,
        "help stays inside",
      );
      assert.deepEqual(await page.evaluate(findOverlaps), []);
      await assertFitsWidth(page);
      assert.deepEqual(troubles, []);
    },
  );
}

// This test is the last one, because after it the tests' own address is near its limit.
test("the page's script solves the proof of work and pays; without scripts the page says what to do", async (t) => {
  const checkout = prepared();
  for (let tries = 0; tries < triesMax / 2; tries += 1) {
    const { link } = await beginPage(checkout);
    const posted = await pay({ "redirect-url": link }, { "cc-number": cards.challengeNoMethod });
    assert.equal(posted.status, 303);
  }

  const still = await openPage(t, checkout, "phone", { javaScriptEnabled: false });
  await still.page.getByRole("alert").filter({ hasText: "allow scripts" }).waitFor();
  await takePicture(still.page, "pay-proof-unscripted-phone");
  await payWith(still.page, { number: cards.frictionlessNoMethod });
  await still.page.getByRole("alert").filter({ hasText: "enter your card again" }).waitFor();
  assert.deepEqual(still.payment.charges(), notCharged);

  const { page, payment, troubles } = await openPage(t, checkout, "desk");
  assert.equal(await page.locator("input[data-challenge]").count(), 1);
  await payWith(page, { number: cards.frictionlessNoMethod });
  await assertReturned(checkout, payment, "/return", "approved");
  assert.deepEqual(payment.charges(), charged);
  assert.deepEqual(troubles, []);
});
