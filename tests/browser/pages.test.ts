/**
 * Every page of the gateway and of the sandbox bank that a cardholder can meet: it fits the screens
 * of a desktop and of a phone, and axe finds no violation of WCAG 2, levels A and AA, in the light
 * and the dark theme. The pictures are for people to look at.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  assertFitsWidth,
  assertNoViolations,
  violationsIn,
} from "../support/browser/accessibility.ts";
import {
  bankIn,
  openWindow,
  type Size,
  sizes,
  sizesFor,
  takePicture,
  test,
} from "../support/browser/browser.ts";
import { cardholderPages, showChallenge } from "../support/browser/cardholder-pages.ts";
import { linkOf, prepareCheckout } from "../support/browser/checkout.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { isLongRun, rowsOf } from "../support/series.ts";
import { joinWorld } from "../support/shared-world.ts";
import { cards } from "../support/threeds.ts";

describe("the cardholder's pages", () => {
  const prepared = prepareCheckout();
  const judges = new Map<Size, Promise<Page>>();
  /** One window of each size serves all pages, because axe takes longer to load than to check. */
  const judgeOf = (size: Size): Promise<Page> => {
    const judge = judges.get(size) ?? openWindow(endOfFile, size).then(({ page }) => page);
    judges.set(size, judge);
    return judge;
  };

  test("axe finds planted faults of a page", async (t) => {
    const { page } = await openWindow(t, "desk");
    await page.setContent('<html lang="en"><title>A</title><p style="color:#aaa">Pale</p><input>');

    const violations = (await violationsIn(page)).join("\n");

    assert.match(violations, isLongRun ? /color-contrast: .*label: /s : /^label: /);
  });

  test("the bank's challenge fits the frame on a low screen", async (t) => {
    const { page } = await openWindow(t, "laptop");
    await showChallenge(page, prepared(), "laptop");
    await takePicture(page, "page-challenge-frame-laptop");

    const frame = await page.locator("#frame").boundingBox();
    const button = bankIn(page, "laptop").getByRole("button", { name: "Cancel" });
    const last = await button.boundingBox();

    assert.ok(frame !== null && last !== null);
    assert.ok(last.y + last.height <= frame.y + frame.height, "it has to be scrolled");
    assert.ok(frame.y + frame.height <= 640, "the page has to be scrolled");
  });

  test("have a large enough button to continue", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page } = await openWindow(t, "phone");
    const form = `<form method="post" action="${link.replace("redirect", "challenge")}">`;
    const posting = checkout.shop.publish(`<title>Shop</title>${form}<button>Post</button></form>`);

    await page.goto(posting);
    await page.getByRole("button", { name: "Post" }).click();
    const again = await page.getByRole("link", { name: "Try again" }).boundingBox();
    await takePicture(page, "page-refused-thumb-phone");
    await page.goto(await linkOf(checkout, order["gw-order-id"]));
    const receipt = await page.getByRole("link", { name: "Show the receipt" }).boundingBox();

    for (const box of [again, receipt]) assert.ok((box?.height ?? 0) >= 44, JSON.stringify(box));
  });

  // The other pages differ only by a word or by their scripts, and are checked in the long run.
  const kinds = new Set([
    ...["method", "challenge-frame", "return", "result-declined", "receipt-returned", "refused"],
  ]);
  for (const [name, options, show] of rowsOf(cardholderPages, ([name]) => kinds.has(name))) {
    for (const size of sizesFor(name)) {
      test(`${name} passes axe, ${size}`, async (t) => {
        const { page, troubles } = await openWindow(t, size, options);

        const title = await show(page, prepared(), size);

        const heading = page.getByRole("heading", { name: title, exact: true });
        await heading.waitFor();
        await assertFits(page, heading);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await takePicture(page, `page-${name}-${size}-${colorScheme}`);
        }
        const refused = troubles.filter((trouble) => /Security Policy|^error/.test(trouble));
        assert.deepEqual(refused, []);
        await assertAccessible(page, await judgeOf(size));
      });
    }
  }

  // This test is the last one, because the shop keeps the name.
  test("fit a phone with any length of a shop's name", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const name = "Donaudampfschifffahrtsgesellschaft".repeat(3);
    await world.changeEndpoint("plain", { shopName: name });
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page } = await openWindow(t, "phone");

    const links = [await linkOf(checkout, order["gw-order-id"]), await world.receiptLink(order)];
    for (const [at, link] of links.entries()) {
      await page.goto(link);
      await page.getByText(name).first().waitFor();
      await takePicture(page, `page-long-name-${at}-phone`);
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      assert.equal(wide, sizes.phone.viewport.width, link);
    }
  });
});

// This is the lightest colour that is readable on the light and on the dark background.
const operator = { GW_PAGE_NAME: "Harbour Payments", GW_PAGE_ACCENT: "#6f6f6f" };

test("pass axe with the operator's colour and in another language", async (t) => {
  const world = await joinWorld(t, operator);
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { page } = await openWindow(t, "phone", { locale: "de-AT" });

  const nothing = `${world.gateway.url}/gw/view-receipt/1/1`;
  for (const address of [await world.receiptLink(order), nothing]) {
    await page.goto(address);
    await assertNoViolations(page);
  }
});

test("the operator's name stands above the content, not beside it", async (t) => {
  const world = await joinWorld(t, operator);
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { page } = await openWindow(t, "desk");

  for (const address of [
    await world.receiptLink(order),
    `${world.gateway.url}/gw/view-receipt/1/1`,
  ]) {
    await page.goto(address);
    const [name, content] = await Promise.all([
      page.getByText("Harbour Payments").boundingBox(),
      page.locator("main > :first-child").boundingBox(),
    ]);
    assert.equal(name?.x, content?.x);
  }
});

async function assertFits(page: Page, heading: Locator): Promise<void> {
  const box = await heading.boundingBox();
  const width = page.viewportSize()?.width ?? 0;
  assert.ok(box !== null && box.x >= 12 && box.x + box.width <= width - 12);
  await assertFitsWidth(page);
}

/** Checks every document of the page, copied into another page, because axe needs scripts. */
async function assertAccessible(shown: Page, page: Page): Promise<void> {
  // An empty frame shows no page.
  for (const frame of shown.frames().filter((each) => /^http/.test(each.url()))) {
    await page.setContent(withoutScripts(await frame.content()));
    await assertNoViolations(page, frame.url());
  }
}

/** Removes the scripts, because most pages would continue by themselves. */
function withoutScripts(content: string): string {
  return content.replace(/<(script|noscript)\b.*?<\/\1>/gs, "");
}
