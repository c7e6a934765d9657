/**
 * Every page that a cardholder can meet, of the gateway and of the sandbox bank, on a desk by day
 * and on a telephone by night. The pictures are for people to look at.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { bankIn, press, type Size, takePicture } from "../support/cardholder-window.ts";
import { type Checkout, linkOf, prepareCheckout } from "../support/checkout.ts";
import { cards } from "../support/threeds.ts";

/** Shows the page, and answers the words by which it is known. */
type Show = (page: Page, checkout: Checkout, size: Size) => Promise<string>;

/** Without scripts every page stays until somebody presses its button. */
const still = { javaScriptEnabled: false };
const moving = {};

// biome-ignore format: a table
const pages: readonly (readonly [name: string, options: BrowserContextOptions, show: Show])[] = [
  ["method",            moving, showMethod],
  ["method-unscripted", still,  (page, checkout) => showStep(page, checkout, cards.frictionless, "Preparing your payment")],
  ["challenge",         still,  (page, checkout) => showStep(page, checkout, cards.challengeNoMethod, "Confirm your payment")],
  ["challenge-frame",   moving, showChallenge],
  ["pares",             still,  (page, checkout) => showStep(page, checkout, cards.v1Authenticated, "Confirm your payment")],
  ["return",            still,  showReturn],
  ["result-approved",   still,  (page, checkout) => showResult(page, checkout, "4000001000000018", "Payment approved")],
  ["result-declined",   still,  (page, checkout) => showResult(page, checkout, "4000004000000020", "Payment declined")],
  ["unknown",           still,  showUnknown],
  ["refused",           moving, showRefused],
  ["bank-silent",       still,  showSilence],
  ["bank-forward",      still,  showForward],
  ["bank-refusal",      still,  showBankRefusal],
  // Last, because nothing settles while its order is on its way.
  ["waiting",           still,  showWaiting],
];

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

  for (const [name, options, show] of pages) {
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

async function showStep(page: Page, checkout: Checkout, card: string, title: string) {
  await page.goto((await checkout.begin(card)).link);
  return title;
}

async function showMethod(page: Page, checkout: Checkout): Promise<string> {
  await page.route("**/acs/method", () => undefined);
  const { link } = await checkout.begin(cards.frictionless);
  await page.goto(link, { waitUntil: "commit" });
  return "Preparing your payment";
}

/** On a telephone this is the bank's own page. */
async function showChallenge(page: Page, checkout: Checkout, size: Size): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeNoMethod)).link);
  await bankIn(page, size).locator("#code").fill("12");
  return size === "phone" ? "Confirm this payment" : "Confirm your payment";
}

/** The bank does not answer, and no time passes. */
async function showWaiting(page: Page, checkout: Checkout): Promise<string> {
  const { world } = checkout;
  const order = await world.merchant("plain").sale({ credit_card_number: "4000004000000129" });
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return "Please wait";
}

async function showReturn(page: Page, checkout: Checkout): Promise<string> {
  const { world } = checkout;
  const order = await world.merchant("plain").sale();
  await world.settle();
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return "Returning to the shop";
}

async function showResult(page: Page, checkout: Checkout, card: string, title: string) {
  const { world } = checkout;
  const fields = { credit_card_number: card, redirect_url: undefined };
  const order = await world.merchant("plain").sale(fields);
  await world.settle();
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return title;
}

async function showUnknown(page: Page, { world }: Checkout): Promise<string> {
  await page.goto(`${world.gateway.url}/gw/form/redirect/590450450000721448/nothing`);
  return "No payment here";
}

async function showRefused(page: Page, checkout: Checkout): Promise<string> {
  const { link } = await checkout.begin(cards.challengeNoMethod);
  await postFrom(page, checkout, { action: link.replace("redirect", "challenge"), cres: "e30" });
  return "That did not work";
}

async function showSilence(page: Page, checkout: Checkout): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeAbandoned)).link);
  await page.getByRole("button").click();
  await page.getByRole("button", { name: "Continue to your bank" }).click();
  await press(page, { code: "1234" });
  return "The bank stays silent";
}

async function showForward(page: Page, checkout: Checkout): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeNoMethod)).link);
  await page.getByRole("button").click();
  await press(page, { code: "1234" });
  return "Back to the merchant";
}

async function showBankRefusal(page: Page, checkout: Checkout): Promise<string> {
  await postFrom(page, checkout, { action: `${checkout.world.bank.url}/acs/challenge`, creq: "" });
  return "This cannot be shown";
}

type Post = { readonly action: string; readonly [field: string]: string };

async function postFrom(page: Page, { shop }: Checkout, { action, ...fields }: Post) {
  const inputs = Object.entries(fields).map(([name, value]) => {
    return `<input type="hidden" name="${name}" value="${value}">`;
  });
  const form = `<form method="post" action="${action}">${inputs.join("")}<button>Post</button>`;
  await page.goto(shop.publish(`<title>Shop</title>${form}</form>`));
  await page.getByRole("button", { name: "Post" }).click();
}
