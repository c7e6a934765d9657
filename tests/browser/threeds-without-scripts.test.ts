/** A cardholder whose browser runs no scripts: every step is taken by a button. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { press } from "../support/cardholder-window.ts";
import {
  assertReturned,
  charged,
  lastAreq,
  notCharged,
  prepareCheckout,
} from "../support/checkout.ts";
import { cards } from "../support/threeds.ts";

describe("a payment without scripts", () => {
  const prepared = prepareCheckout();
  const silent = { javaScriptEnabled: false };

  for (const size of ["desk", "phone"] as const) {
    test(`goes on by buttons where nothing is asked, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.frictionless);
      const { page, troubles } = await checkout.open(t, size, silent);

      await page.goto(payment.link);
      await pass(page, "Continue");
      await pass(page, "Back to the shop");
      await assertReturned(checkout, payment, "/return", "approved");

      const areq = lastAreq(checkout);
      assert.equal(areq["browserJavascriptEnabled"], false);
      assert.equal(areq["threeDSCompInd"], "N");
      assert.equal(areq["browserLanguage"], "en-AT");
      assert.ok(!("browserScreenWidth" in areq));
      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });
  }

  // biome-ignore format: a table
  const questions = [
    ["the right code of a challenge", cards.challenge,         ["Continue"], "1234", "approved"],
    ["a wrong code of a challenge",   cards.challengeNoMethod, [],           "4321", "declined"],
    ["the right code of 1.0.2",       cards.v1Authenticated,   [],           "1234", "approved"],
    ["1.0.2 that says no",            "4000003000000022",      [],           "1234", "declined"],
  ] as const;

  for (const [what, card, before, code, status] of questions) {
    test(`${what} is brought by buttons`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(card);
      const { page, troubles } = await checkout.open(t, "phone", silent);

      await page.goto(payment.link);
      for (const button of before) await pass(page, button);
      await pass(page, "Continue to your bank");
      await press(page, { code });
      await pass(page, "Continue");
      await pass(page, "Back to the shop");
      await assertReturned(checkout, payment, "/return", status);

      assert.deepEqual(payment.charges(), status === "approved" ? charged : notCharged);
      assert.deepEqual(troubles, []);
    });
  }
});

/** The button may be a page further on, which comes by itself. */
function pass(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name, exact: true }).click();
}
