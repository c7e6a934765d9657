/**
 * The payment page inside a page of the shop, which has another origin: as an overlay and in an
 * element, with 3-D Secure, by keyboard; and inside a page of an unlisted origin.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { FrameLocator, Page } from "playwright-core";
import { openWindow, press, type Size, takePicture, test } from "../support/browser/browser.ts";
import { charged, notCharged, prepareCheckout, startShop } from "../support/browser/checkout.ts";
import { beginPage } from "../support/browser/payment-page.ts";
import { runGw } from "../support/programs.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";

const prepared = prepareCheckout();

let listed: Promise<void> | undefined;

/** Lists the origins once, when the first test runs. */
function listOrigins(): Promise<void> {
  listed ??= (async () => {
    const { world, shop } = prepared();
    const id = world.set.endpoints["secure"] ?? assert.fail();
    const origins = `https://elsewhere.example,${shop.url}`;
    const ran = await runGw(world, "endpoint", "set", id, "--embed-origins", origins);
    assert.equal(ran.code, 0, ran.complaint);
    await world.restart();
  })();
  return listed;
}

/** Returns the shop's page, which collects messages in `heard`. */
function shopPage(gateway: string, link: string, inElement: boolean): string {
  const options = inElement ? 'frame: document.getElementById("here"),' : "";
  return `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<h1>Basket</h1><button id="buy">Buy</button> <a href="#x">Behind</a><div id="here"></div>
<script src="${gateway}/pay/embed.js"></script>
<script>
window.heard = []; window.messages = [];
addEventListener("message", (event) => messages.push(event.data));
document.getElementById("buy").addEventListener("click", () => PaymentPage.open("${link}", {
  ${options}
  onResult: (result) => heard.push(result), onClose: () => heard.push("closed"),
}));
</script>`;
}

async function openShop(t: Parameters<typeof openWindow>[0], size: Size, inElement = false) {
  await listOrigins();
  const checkout = prepared();
  const payment = await beginPage(checkout, {});
  const window = await openWindow(t, size);
  const { url } = checkout.world.gateway;
  await window.page.goto(checkout.shop.publish(shopPage(url, payment.link, inElement)));
  await window.page.locator("#buy").click();
  return { ...window, payment, inside: window.page.frameLocator("iframe") };
}

async function payIn(inside: FrameLocator, number: string): Promise<void> {
  await inside.locator("#cc-number").fill(number);
  await inside.locator("#cc-exp-month").fill("12");
  await inside.locator("#cc-exp-year").fill("31");
  await inside.locator("#cc-csc").fill("123");
  await inside.locator("#cc-name").fill("JANE DOE");
  await inside.locator("#pay button[type=submit]").click();
}

const heardIn = async (page: Page): Promise<unknown> => {
  await page.waitForFunction("heard.length > 0");
  return page.evaluate("heard");
};

describe("a payment page in a page of the shop", () => {
  // biome-ignore format: a table
  const ways = [
    ["desk",  false, cards.challenge],
    ["phone", false, cards.challenge],
    ["desk",  true,  cards.challengeNoMethod],
    ["phone", true,  cards.v1Authenticated],
    ["desk",  false, cards.frictionless],
  ] as const;
  const isShort = (way: (typeof ways)[number]) => way === ways[1];
  for (const [size, inElement, card] of rowsOf(ways, isShort)) {
    test(`reports its result, ${size}, ${inElement ? "element" : "overlay"}, ${card}`, async (t) => {
      const { page, payment, inside, context } = await openShop(t, size, inElement);
      await inside.locator("#cc-number").waitFor();
      await takePicture(page, `embedded-${size}-${inElement ? "element" : "overlay"}`);

      await payIn(inside, card);
      if (card !== cards.frictionless) {
        // A wide frame shows the bank's page in a frame of its own.
        const own = inside.frameLocator("#frame");
        const isWide = inElement && size === "desk";
        await press(isWide ? own : inside, { code: "1234" });
      }

      const clientOrderId = payment.order["merchant-order-id"];
      const { orderId } = payment;
      assert.deepEqual(await heardIn(page), [{ status: "approved", orderId, clientOrderId }]);
      assert.deepEqual(payment.charges(), charged);
      assert.equal(await page.locator("iframe").count(), 0);
      assert.equal(context.pages().length, 1);
      const told = { from: "payment-page", event: "result", status: "approved" };
      assert.deepEqual(await page.evaluate("messages"), [{ ...told, orderId, clientOrderId }]);
    });
  }

  test("keeps the focus inside, closes with Escape or its button, and gives the focus back", async (t) => {
    const { page, inside, payment } = await openShop(t, "desk");
    await inside.locator("#cc-number").waitFor();
    const isInside = () =>
      page.evaluate(`document.activeElement === document.body ||
        document.querySelector("dialog").contains(document.activeElement)`);
    for (let presses = 0; presses < 30; presses += 1) {
      await page.keyboard.press("Tab");
      assert.equal(await isInside(), true, `after ${presses + 1} presses`);
    }

    await inside.locator("#cc-number").press("Escape");
    assert.deepEqual(await heardIn(page), ["closed"]);
    assert.equal(await page.evaluate("document.activeElement.id"), "buy");
    await page.locator("#buy").press("Enter");
    await page.getByRole("button", { name: "Close" }).click();
    await page.waitForFunction("heard.length === 2");
    await page.locator("#buy").press("Enter");
    await page.getByRole("button", { name: "Close" }).focus();
    await page.keyboard.press("Escape");
    await page.waitForFunction("heard.length === 3");
    assert.deepEqual(payment.charges(), notCharged);
  });

  test("focuses its message after a refused try", async (t) => {
    const { inside } = await openShop(t, "desk");

    await payIn(inside, "4000004000000020");

    await inside.locator(".notice:focus").waitFor();
  });

  test("is not shown in a page of an unlisted origin, which gets no messages", async (t) => {
    await listOrigins();
    const { world } = prepared();
    const stranger = await startShop(t);
    const payment = await beginPage(prepared(), {});
    const { page } = await openWindow(t, "desk");
    await page.goto(stranger.publish(shopPage(world.gateway.url, payment.link, true)));
    const refused = page.waitForEvent("console", (message) =>
      /frame-ancestors/.test(message.text()),
    );
    await page.locator("#buy").click();

    await refused;
    assert.equal(await page.frameLocator("iframe").locator("#cc-number").count(), 0);
    assert.deepEqual(await page.evaluate("messages"), []);
  });

  test("opens no address of another origin", async (t) => {
    const { world, shop } = prepared();
    const { page } = await openWindow(t, "desk");
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => void faults.push(message));
    await page.goto(shop.publish(shopPage(world.gateway.url, "https://evil.example/pay/x", false)));
    await page.locator("#buy").click();

    assert.equal(await page.locator("iframe").count(), 0);
    assert.match(faults.join(), /not a payment page/);
  });
});
