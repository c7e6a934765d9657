/** The page of the pending step (`html`) in the shop's hands: it completes the step by itself. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FrameLocator, Page } from "playwright-core";
import { press } from "../support/cardholder-window.ts";
import {
  assertReturned,
  type Checkout,
  charged,
  type Payment,
  prepareCheckout,
} from "../support/checkout.ts";
import { cards } from "../support/threeds.ts";
import { until } from "../support/until.ts";

describe("the page of a step, shown by the shop", () => {
  const prepared = prepareCheckout();

  // biome-ignore format: a table
  const steps = [
    ["the method",            cards.frictionless,      false],
    ["the challenge",         cards.challengeNoMethod, true],
    ["the question of 1.0.2", cards.v1Authenticated,   true],
  ] as const;

  for (const [what, card, isAsked] of steps) {
    test(`${what} as a whole page leads on to the shop`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(card);
      const { page, troubles } = await checkout.open(t, "phone");

      await page.goto(checkout.shop.publish(payment.html));
      if (isAsked) await press(page, { code: "1234" });
      await assertReturned(checkout, payment, "/return", "approved");

      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });

    for (const [scripts, javaScriptEnabled] of [
      ["with", true],
      ["without", false],
    ] as const) {
      test(`${what} in a frame ${scripts} scripts ends there, and the shop goes on`, async (t) => {
        const checkout = prepared();
        const payment = await checkout.begin(card);
        const { page, troubles } = await checkout.open(t, "desk", { javaScriptEnabled });
        const step = checkout.shop.publish(payment.html);

        await page.goto(
          checkout.shop.publish(`<title>Shop</title>
<iframe src="${step}" width="500" height="600"></iframe>`),
        );
        const frame = page.frameLocator("iframe");
        if (!javaScriptEnabled) await passOn(frame, "Continue to your bank");
        if (isAsked) await press(frame, { code: "1234" });
        if (!javaScriptEnabled) await passOn(frame, "Continue");
        await frame.getByRole("heading", { name: "Thank you" }).waitFor();
        await untilApproved(checkout, payment);

        assert.deepEqual(payment.charges(), charged);
        assert.deepEqual(troubles, []);
        await goOn(page, frame, javaScriptEnabled);
        await assertReturned(checkout, payment, "/return", "approved");
      });
    }
  }
});

function passOn(frame: FrameLocator, name: string): Promise<void> {
  return frame.getByRole("button", { name, exact: true }).click();
}

/** The link leads the whole window on, out of the shop's frame. */
async function goOn(page: Page, frame: FrameLocator, isScripted: boolean): Promise<void> {
  await frame.getByRole("link", { name: "Continue" }).click();
  if (!isScripted) await page.getByRole("button", { name: "Back to the shop" }).click();
}

async function untilApproved({ world }: Checkout, { order }: Payment): Promise<void> {
  await until("the payment is approved", async () => {
    const { status } = await world.merchant("secure").status(order);
    return status === "approved" ? true : undefined;
  });
}
