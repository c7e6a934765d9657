/**
 * Every page that a cardholder can meet, of the gateway and of the sandbox bank, on a desk by day
 * and on a telephone by night. The pictures are for people to look at.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cardholderPages, showChallenge } from "../support/cardholder-pages.ts";
import { bankIn, takePicture } from "../support/cardholder-window.ts";
import { prepareCheckout } from "../support/checkout.ts";

describe("the pages of 3-D Secure", () => {
  const prepared = prepareCheckout();

  test("the bank's question fits the frame of a screen that is not high", async (t) => {
    const { page } = await prepared().open(t, "laptop");
    await showChallenge(page, prepared(), "laptop");
    await takePicture(page, "page-challenge-frame-laptop");

    const frame = await page.locator("#frame").boundingBox();
    const button = bankIn(page, "laptop").getByRole("button", { name: "Cancel" });
    const last = await button.boundingBox();

    assert.ok(frame !== null && last !== null);
    assert.ok(last.y + last.height <= frame.y + frame.height, "it has to be scrolled");
    assert.ok(frame.y + frame.height <= 640, "the page has to be scrolled");
  });

  for (const [name, options, show] of cardholderPages) {
    for (const [size, colorScheme] of [
      ["desk", "light"],
      ["phone", "dark"],
    ] as const) {
      test(`${name} can be read, ${size}, ${colorScheme}`, async (t) => {
        const seen = { ...options, colorScheme };
        const { page, troubles } = await prepared().open(t, size, seen);

        const title = await show(page, prepared(), size);

        const heading = page.getByRole("heading", { name: title, exact: true });
        await heading.waitFor();
        await takePicture(page, `page-${name}-${size}`);
        const box = await heading.boundingBox();
        const width = page.viewportSize()?.width ?? 0;
        assert.ok(box !== null && box.x >= 12 && box.x + box.width <= width - 12);
        const wide = page.locator("xpath=//html").evaluate((html) => html.scrollWidth);
        assert.ok((await wide) <= width, `${await wide} px wide on a screen of ${width} px`);
        assert.deepEqual(
          troubles.filter((trouble) => /Security Policy|^error/.test(trouble)),
          [],
        );
      });
    }
  }
});
