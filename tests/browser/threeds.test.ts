/**
 * 3-D Secure in the cardholder's browser, from the address that the merchant is given to the shop's
 * own page, on a desk and on a telephone.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bankIn, type Pressed, press, sizes } from "../support/cardholder-window.ts";
import {
  assertReturned,
  charged,
  lastAreq,
  notCharged,
  prepareCheckout,
} from "../support/checkout.ts";
import { cards } from "../support/threeds.ts";

const bothSizes = ["desk", "phone"] as const;

describe("a payment through redirect-to", () => {
  const prepared = prepareCheckout();

  for (const size of bothSizes) {
    test(`is told of as it is and comes back to the shop by itself, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(cards.frictionless, { merchant_data: "basket 7" });
      const { page, troubles } = await checkout.open(t, size);

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

  for (const [at, [how, card, pressed, given, path, status]] of endings.entries()) {
    const size = bothSizes[at % 2] ?? "desk";
    const addresses = given.length === 0 ? "redirect_url alone" : given.join(" and ");
    test(`${how}, with ${addresses}: the shop hears "${status}" at ${path}, ${size}`, async (t) => {
      const checkout = prepared();
      const urls = given.map((name) => [name, `${checkout.shop.url}/${name}`]);
      const payment = await checkout.begin(card, Object.fromEntries(urls));
      const { page, troubles } = await checkout.open(t, size);

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
    ["2.3.1",                  "4000002300000021", "approved"],
    ["1.0.2",                  "4000003000000014", "approved"],
    ["1.0.2",                  "4000003000000014", "approved"],
    ["1.0.2 that says no",     "4000003000000022", "declined"],
  ] as const;

  for (const [at, [version, card, status]] of versions.entries()) {
    const size = bothSizes[at % 2] ?? "desk";
    test(`3-D Secure ${version} asks for the code, ${size}`, async (t) => {
      const checkout = prepared();
      const payment = await checkout.begin(card);
      const { page, troubles } = await checkout.open(t, size);

      await page.goto(payment.link);
      await press(version.startsWith("1.0.2") ? page : bankIn(page, size), right);
      await assertReturned(checkout, payment, "/return", status);

      assert.deepEqual(payment.charges(), status === "approved" ? charged : notCharged);
      assert.deepEqual(troubles, []);
    });
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
