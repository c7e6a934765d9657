/**
 * Cardholders reload, go back, close the tab, open two, or never return: the payment continues from
 * its stage, and no card is charged twice.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import {
  bankIn,
  openWindow,
  press,
  routeOnce,
  sizesFor,
  test,
} from "../support/browser/browser.ts";
import {
  assertReturned,
  charged,
  lastAreq,
  notCharged,
  prepareCheckout,
} from "../support/browser/checkout.ts";
import { answerChallenge } from "../support/cardholder.ts";
import { cards } from "../support/threeds.ts";

const right = { code: "1234" };

describe("a payment that is interrupted", () => {
  const prepared = prepareCheckout();

  test("after a reload during the method the bank runs it again", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.frictionless);
    const { page } = await openWindow(t, "desk");
    // The first answer never comes.
    await routeOnce(page, "**/acs/method", () => undefined);
    const asked = page.waitForRequest("**/acs/method");
    await page.goto(payment.link, { waitUntil: "commit" });
    await asked;

    await page.reload({ waitUntil: "commit" });
    await assertReturned(checkout, payment, "/return", "approved");

    assert.equal(lastAreq(checkout)["threeDSCompInd"], "Y");
    assert.deepEqual(payment.charges(), charged);
  });

  for (const size of sizesFor("reload")) {
    test(`a reload of the bank's challenge shows it again, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.challenge);
      const { page, troubles } = await openWindow(t, size);
      await page.goto(payment.link);
      const code = bankIn(page, size).locator("#code");
      await code.fill("12");

      await page.reload();
      await code.waitFor();
      assert.equal(await code.inputValue(), "");
      await press(bankIn(page, size), right);
      await assertReturned(checkout, payment, "/return", "approved");

      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });

    test(`a reload during the return from the bank changes nothing, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.challenge);
      const { page } = await openWindow(t, size);
      await page.goto(payment.link);
      await bankIn(page, size).locator("#code").waitFor();
      // The page after the return is blocked, so that the page before it is reloaded.
      await routeOnce(page, payment.link, (route) => route.abort("aborted"));
      const onward = page.waitForEvent("requestfailed");
      await press(bankIn(page, size), right);
      await onward;
      const atReturn =
        size === "desk" ? payment.link : payment.link.replace("redirect", "challenge");
      assert.equal(page.url(), atReturn);

      await page.reload({ waitUntil: "commit" });
      await assertReturned(checkout, payment, "/return", "approved");

      assert.deepEqual(payment.charges(), charged);
    });

    test(`the address of a closed tab continues in another tab, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.challenge);
      const { page, context, troubles } = await openWindow(t, size);
      await page.goto(payment.link);
      await bankIn(page, size).locator("#code").waitFor();
      await page.close();

      const other = await context.newPage();
      await other.goto(payment.link);
      await press(bankIn(other, size), right);
      await assertReturned(checkout, payment, "/return", "approved");

      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });
  }

  test("going back from the shop leads to the same result again", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challenge);
    const { page, troubles } = await openWindow(t, "desk");
    const start = checkout.shop.publish(startPage(payment.link));
    await page.goto(start);
    await page.getByRole("link", { name: "Pay" }).click();
    await press(bankIn(page, "desk"), right);
    await page.waitForURL(`${checkout.shop.url}/return`);

    for (let left = 9; left > 0 && page.url() !== start; left -= 1) {
      await page.goBack({ waitUntil: "commit" });
      await page.waitForURL((url) => url.origin === checkout.shop.url);
    }
    assert.equal(page.url(), start);
    await page.getByRole("link", { name: "Pay" }).click();
    await page.waitForURL(`${checkout.shop.url}/return`);

    const arrivals = checkout.shop.arrivalsOf(payment.orderId);
    assert.ok(arrivals.length >= 2);
    for (const arrival of arrivals) assert.deepEqual(arrival, arrivals[0]);
    assert.deepEqual(payment.charges(), charged);
    assert.deepEqual(troubles, []);
  });

  test("two tabs at the bank's challenge pay once, and both return to the shop", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challenge);
    const { page, context, troubles } = await openWindow(t, "phone");
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto(payment.link);
      await tab.locator("#code").waitFor();
    }

    await press(page, right);
    await page.waitForURL(`${checkout.shop.url}/return`);
    await press(other, { code: "9999" });
    await other.waitForURL(`${checkout.shop.url}/return`);

    await assertReturned(checkout, payment, "/return", "approved");
    assert.equal(checkout.shop.arrivalsOf(payment.orderId).length, 2);
    assert.deepEqual(payment.charges(), charged);
    assert.deepEqual(troubles, []);
  });

  test("two tabs at the very beginning pay once", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.frictionless);
    const { page, context } = await openWindow(t, "desk");
    const other = await context.newPage();

    await Promise.all([page.goto(payment.link), other.goto(payment.link)]);
    await page.waitForURL(`${checkout.shop.url}/return`);
    await other.waitForURL(`${checkout.shop.url}/return`);

    await assertReturned(checkout, payment, "/return", "approved");
    assert.deepEqual(payment.charges(), charged);
  });

  test("the page waits ten seconds for a bank whose method never ends", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.frictionless);
    const { page } = await openWindow(t, "desk");
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    await page.route("**/acs/method", (route) => route.abort());
    const failed = page.waitForEvent("requestfailed");
    await page.goto(payment.link);
    await failed;

    await page.clock.fastForward(9_000);
    assert.equal(page.url(), payment.link);
    assert.equal(payment.charges().received, 0);
    await page.clock.fastForward(1_500);
    await page.clock.resume();
    await assertReturned(checkout, payment, "/return", "approved");

    assert.equal(lastAreq(checkout)["threeDSCompInd"], "N");
    assert.equal(lastAreq(checkout)["browserJavascriptEnabled"], true);
  });

  test("the bank's challenge disappears when its time is over", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challengeAbandoned);
    const { page, troubles } = await openWindow(t, "desk");
    await page.clock.install();
    await page.goto(payment.link);
    await press(bankIn(page, "desk"), right);
    await bankIn(page, "desk").getByRole("heading", { name: "stays silent" }).waitFor();

    await checkout.world.pass(600_000);
    await page.clock.fastForward(5_000);
    await assertReturned(checkout, payment, "/return", "declined");

    assert.deepEqual(payment.charges(), notCharged);
    assert.deepEqual(troubles, []);
  });

  test("the page continues after an answer in another window", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const payment = await checkout.begin(cards.challengeNoMethod);
    const { page, troubles } = await openWindow(t, "desk");
    await page.clock.install();
    await page.goto(payment.link);
    await bankIn(page, "desk").locator("#code").fill("1");
    await answerChallenge(await world.merchant("secure").status(payment.order));

    const looked = page.waitForResponse(payment.link);
    await page.clock.fastForward(5_000);
    await looked;
    // The result waits for its cardholder, who may still be typing.
    assert.equal(await bankIn(page, "desk").locator("#code").inputValue(), "1");
    await world.pass(60_000);
    await page.clock.fastForward(5_000);
    await assertReturned(checkout, payment, "/return", "approved");

    assert.deepEqual(payment.charges(), charged);
    assert.deepEqual(troubles, []);
  });
});

function startPage(link: string): string {
  return `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<a href="${link}">Pay</a>`;
}
