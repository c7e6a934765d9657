/**
 * 3-D Secure in the cardholder's browser, from the address that the merchant gets to the shop's own
 * page: on a desktop and on a phone, with and without scripts (every step then needs a button), and
 * with the page of the pending step (`html`) that the shop shows itself.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { FrameLocator, Page } from "playwright-core";
import {
  bankIn,
  openWindow,
  type Pressed,
  press,
  sizes,
  sizesFor,
  test,
  testInLongRun,
} from "../support/browser/browser.ts";
import {
  assertReturned,
  type Checkout,
  charged,
  lastAreq,
  linkOf,
  notCharged,
  type Payment,
  prepareCheckout,
} from "../support/browser/checkout.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { until } from "../support/until.ts";

const bothSizes = ["desk", "phone"] as const;

const prepared = prepareCheckout();

describe("a payment through redirect-to", () => {
  for (const size of sizesFor("redirect")) {
    test(`describes the browser correctly and returns to the shop by itself, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.frictionless, { merchant_data: "basket 7" });
      const { page, troubles } = await openWindow(t, size);

      await page.goto(payment.link);
      const { fields } = await assertReturned(checkout, payment, "/return", "approved");

      const { amount, currency, merchantdata, type } = fields;
      assert.deepEqual([amount, currency, type], ["10.15", "USD", "sale"]);
      assert.equal(merchantdata, "basket 7");
      assert.equal(fields["last-four-digits"], "0016");
      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);

      const areq = lastAreq(checkout);
      const { width, height } = sizes[size].screen;
      assert.equal(areq["threeDSCompInd"], "Y");
      assert.equal(areq["browserJavascriptEnabled"], true);
      assert.equal(areq["browserLanguage"], "en-AT");
      assert.equal(areq["browserTZ"], "-330");
      assert.equal(areq["browserScreenWidth"], String(width));
      assert.equal(areq["browserScreenHeight"], String(height));
      await page.getByRole("heading", { name: "Back in the shop" }).waitFor();
      assert.equal(areq["browserUserAgent"], await page.evaluate("navigator.userAgent"));
      assert.match(String(areq["browserAcceptHeader"]), /^text\/html,/);
    });
  }

  const right: Pressed = { code: "1234" };
  const wrong: Pressed = { code: "4321" };
  const failing: Pressed = { button: "Fail the authentication" };
  const cancelling: Pressed = { button: "Cancel" };
  const withoutFunds = "4000004000000020";
  const all = ["redirect_success_url", "redirect_fail_url"];

  // biome-ignore format: a table
  const endings: readonly Ending[] = [
    ["the right code",                     cards.challenge,     right,      [],                       "/return",               "approved"],
    ["the right code",                     cards.challenge,     right,      all,                      "/redirect_success_url", "approved"],
    ["the right code",                     cards.challenge,     right,      ["redirect_fail_url"],    "/return",               "approved"],
    ["a wrong code",                       cards.challenge,     wrong,      [],                       "/return",               "declined"],
    ["a wrong code",                       cards.challenge,     wrong,      all,                      "/redirect_fail_url",    "declined"],
    ["a wrong code",                       cards.challenge,     wrong,      ["redirect_success_url"], "/return",               "declined"],
    ["the button to fail",                 cards.challenge,     failing,    [],                       "/return",               "declined"],
    ["the button to cancel",               cards.challenge,     cancelling, [],                       "/return",               "declined"],
    ["a bank whose result comes late",     cards.resultLate,    right,      [],                       "/return",               "approved"],
    ["a bank that tells browsers a yes",   cards.resultDiffers, right,      all,                      "/redirect_fail_url",    "declined"],
    ["a bank that refuses at the end",     withoutFunds,        undefined,  all,                      "/redirect_fail_url",    "declined"],
  ];

  // The short run tests one ending for each address of the shop, a wrong code, a cancellation, and
  // a bank that contradicts the browser.
  const chosen = new Set([1, 3, 7, 9].map((at) => endings[at]));
  const shortOnes = rowsOf(endings, (ending) => chosen.has(ending));
  for (const [at, [how, card, pressed, given, path, status]] of shortOnes.entries()) {
    const size = bothSizes[at % 2] ?? "desk";
    const addresses = given.length === 0 ? "redirect_url alone" : given.join(" and ");
    test(`${how}, with ${addresses}: the shop gets "${status}" at ${path}, ${size}`, async (t) => {
      const checkout = prepared();
      const urls = given.map((name) => [name, `${checkout.shop.url}/${name}`]);
      const payment = await checkout.begin(card, Object.fromEntries(urls));
      const { page, troubles } = await openWindow(t, size);

      await page.goto(payment.link);
      if (pressed !== undefined) await press(bankIn(page, size), pressed);
      await assertReturned(checkout, payment, path, status);
      await page.waitForURL(checkout.shop.url + path);

      const reached = pressed === undefined ? { received: 1, booked: 0 } : notCharged;
      assert.deepEqual(payment.charges(), status === "approved" ? charged : reached);
      assert.deepEqual(troubles, []);
    });
  }

  // biome-ignore format: a table
  const versions = [
    ["2.2.0 without a method", "4000002100000023", "approved"],
    ["2.1.0",                  "4000002200000022", "approved"],
    ["2.3.1",                  "4000002300000021", "approved"],
    ["1.0.2",                  "4000003000000014", "approved"],
    ["1.0.2 that says no",     "4000003000000022", "declined"],
  ] as const;

  // A browser does the same in all versions 2. `scenarios/threeds` tests their differences.
  const isOther = ([version]: (typeof versions)[number]) => version === "2.1.0";
  for (const [version, card, status] of rowsOf(versions, isOther)) {
    for (const size of sizesFor(version)) {
      test(`3-D Secure ${version} asks for the code, ${size}`, async (t) => {
        const checkout = prepared();
        const payment = await checkout.begin(card);
        const { page, troubles } = await openWindow(t, size);

        await page.goto(payment.link);
        await press(version.startsWith("1.0.2") ? page : bankIn(page, size), right);
        await assertReturned(checkout, payment, "/return", status);

        assert.deepEqual(payment.charges(), status === "approved" ? charged : notCharged);
        assert.deepEqual(troubles, []);
      });
    }
  }
});

type Ending = readonly [
  how: string,
  card: string,
  pressed: Pressed | undefined,
  given: readonly string[],
  path: string,
  status: string,
];

describe("a payment without scripts", () => {
  const silent = { javaScriptEnabled: false };

  for (const size of sizesFor("without scripts")) {
    test(`continues by buttons if there is no challenge, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.frictionless);
      const { page, troubles } = await openWindow(t, size, silent);

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

  const isShort = (question: (typeof questions)[number]) => question === questions[0];
  for (const [what, card, before, code, status] of rowsOf(questions, isShort)) {
    test(`${what} is posted by buttons`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(card);
      const { page, troubles } = await openWindow(t, "phone", silent);

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

describe("the page of a step, shown by the shop", () => {
  // biome-ignore format: a table
  const steps = [
    ["the method",            cards.frictionless,      false],
    ["the challenge",         cards.challengeNoMethod, true],
    ["the question of 1.0.2", cards.v1Authenticated,   true],
  ] as const;

  // The short run tests each step in one of the three ways.
  const [method, challenge, question] = steps;
  for (const [what, card, isAsked] of rowsOf(steps, (step) => step === method)) {
    test(`${what} as a whole page leads to the shop`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(card);
      const { page, troubles } = await openWindow(t, "phone");

      await page.goto(checkout.shop.publish(payment.html));
      if (isAsked) await press(page, { code: "1234" });
      await assertReturned(checkout, payment, "/return", "approved");

      assert.deepEqual(payment.charges(), charged);
      assert.deepEqual(troubles, []);
    });
  }

  for (const [scripts, javaScriptEnabled, short] of [
    ["with", true, challenge],
    ["without", false, question],
  ] as const) {
    for (const [what, card, isAsked] of rowsOf(steps, (step) => step === short)) {
      test(`${what} in a frame ${scripts} scripts ends there, and the shop continues`, async (t) => {
        const checkout = prepared();
        const payment = await checkout.begin(card);
        const { page, troubles } = await openWindow(t, "desk", { javaScriptEnabled });
        const step = checkout.shop.publish(payment.html);

        await page.goto(
          checkout.shop.publish(`<title>Shop</title>
<iframe src="${step}" width="500" height="600"></iframe>`),
        );
        const frame = page.frameLocator("iframe");
        if (!javaScriptEnabled) await pass(frame, "Continue to your bank");
        if (isAsked) await press(frame, { code: "1234" });
        if (!javaScriptEnabled) await pass(frame, "Continue");
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

describe("a slash at the end of an address", () => {
  testInLongRun("leads through the whole of 3-D Secure and back to the shop", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challenge);
    const { page, troubles } = await openWindow(t, "desk");

    await page.goto(`${payment.link}/`);
    await press(bankIn(page, "desk"), { code: "1234" });

    await assertReturned(checkout, payment, "/return", "approved");
    assert.deepEqual(troubles, []);
  });

  test("works on every page to which issuers post", async () => {
    const { link } = await prepared().begin(cards.challengeNoMethod);
    const body = new URLSearchParams({ cres: "e30" });

    for (const step of ["method", "method-result", "method-frame", "challenge", "pares"]) {
      const address = `${link.replace("redirect", step)}/?from=bank`;
      const again = await fetch(address);
      assert.deepEqual([again.status, again.url], [200, link], step);
      if (step !== "challenge") continue;
      const refused = await (await fetch(address, { method: "POST", body })).text();
      const [, onward = ""] = /id="on"[^>]* href="([^"]+)"/.exec(refused) ?? [];
      assert.equal(new URL(onward, address).href, link);
    }
  });

  testInLongRun("leads from the result to its receipt", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page, troubles } = await openWindow(t, "phone");

    await page.goto(`${await linkOf(checkout, order["gw-order-id"])}/`);
    await page.getByRole("link", { name: "Show the receipt" }).click();

    await page.getByRole("heading", { name: "Receipt", exact: true }).waitFor();
    assert.deepEqual(troubles, []);
  });
});

/** Presses a button, which may be on a later page that opens by itself. */
function pass(place: Page | FrameLocator, name: string): Promise<void> {
  return place.getByRole("button", { name, exact: true }).click();
}

/** Follows the link, which moves the whole window out of the shop's frame. */
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
