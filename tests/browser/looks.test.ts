/** What a cardholder sees is in its place: names that break, ways on that a thumb can hit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startBrowser } from "../support/browser.ts";
import { openWindow, sizes, takePicture } from "../support/cardholder-window.ts";
import { linkOf, prepareCheckout } from "../support/checkout.ts";
import { receiptLinkOf } from "../support/receipts.ts";
import { cards } from "../support/threeds.ts";
import { startWorld } from "../support/world.ts";

describe("the cardholder's pages", () => {
  const prepared = prepareCheckout();

  test("stay as wide as a telephone, however long a shop's name is", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const name = "Donaudampfschifffahrtsgesellschaft".repeat(3);
    await world.installation.database.query("update merchants set name = $1", [name]);
    await world.restart();
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page } = await checkout.open(t, "phone");

    const links = [await linkOf(checkout, order["gw-order-id"]), await receiptLinkOf(world, order)];
    for (const [at, link] of links.entries()) {
      await page.goto(link);
      await page.getByText(name).first().waitFor();
      await takePicture(page, `page-long-name-${at}-phone`);
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      assert.equal(wide, sizes.phone.viewport.width, link);
    }
  });

  test("lead on by something that a thumb can hit", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page } = await checkout.open(t, "phone");
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
});

test("the operator's name stands above the content, not beside it", async (t) => {
  const world = await startWorld(t, { GW_PAGE_NAME: "Harbour Payments" });
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { context, page } = await openWindow(await startBrowser(), "desk");
  t.after(() => context.close());

  for (const address of [
    await receiptLinkOf(world, order),
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
