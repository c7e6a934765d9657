/** Addresses with a slash at their end, as some proxies and shops write them: they lead on too. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bankIn, press } from "../support/cardholder-window.ts";
import { assertReturned, linkOf, prepareCheckout } from "../support/checkout.ts";
import { cards } from "../support/threeds.ts";

describe("a slash at the end of an address", () => {
  const prepared = prepareCheckout();

  test("leads through the whole of 3-D Secure and back to the shop", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challenge);
    const { page, troubles } = await checkout.open(t, "desk");

    await page.goto(`${payment.link}/`);
    await press(bankIn(page, "desk"), { code: "1234" });

    await assertReturned(checkout, payment, "/return", "approved");
    assert.deepEqual(troubles, []);
  });

  test("leads on from every page that issuers post to", async () => {
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

  test("leads from the result to its receipt", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const order = await world.merchant("plain").sale({ redirect_url: undefined });
    await world.settle();
    const { page, troubles } = await checkout.open(t, "phone");

    await page.goto(`${await linkOf(checkout, order["gw-order-id"])}/`);
    await page.getByRole("link", { name: "Show the receipt" }).click();

    await page.getByRole("heading", { name: "Receipt", exact: true }).waitFor();
    assert.deepEqual(troubles, []);
  });
});
