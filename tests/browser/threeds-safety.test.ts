/** No other site can guess a cardholder's address, frame the pages, or make them run a script. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { bankIn, openWindow, takePicture, test } from "../support/browser/browser.ts";
import { type Checkout, linkOf, prepareCheckout } from "../support/browser/checkout.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { untilTrue } from "../support/until.ts";

const hostileName = "<script>alert(1)</script>";

describe("the cardholder's pages", () => {
  const prepared = prepareCheckout();

  test("allow the browser only what each page needs", async () => {
    const { begin } = prepared();
    const policies: string[] = [];
    for (const card of [cards.frictionless, cards.challengeNoMethod, cards.v1Authenticated]) {
      const { headers } = await fetch((await begin(card)).link);

      policies.push(headers.get("content-security-policy") ?? "");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("cache-control"), "no-store");
    }

    for (const policy of policies) {
      assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;/);
      assert.match(policy, /; frame-ancestors 'none'; base-uri 'none'; script-src 'sha256-[^']+'/);
      assert.doesNotMatch(policy, /unsafe|\*/);
    }
    const watching = policies.map((policy) => policy.includes("connect-src 'self'"));
    assert.deepEqual(watching, [false, true, false]);
  });

  test("open only at their own address", async (t) => {
    const checkout = prepared();
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const { link: another } = await checkout.begin(cards.challengeNoMethod);
    const { page } = await openWindow(t, "phone");
    const token = (address: string) => address.split("/").at(-1) ?? "";
    const wrong = [
      link.replace(token(link), token(another)),
      link.slice(0, -1),
      `${link.slice(0, -1)}${link.endsWith("A") ? "B" : "A"}`,
      link.replace(token(link), ""),
    ];

    for (const address of wrong) {
      assert.equal((await page.goto(address))?.status(), 404, address);
      assert.ok(!(await page.content()).includes("creq"));
    }
    for (const step of ["challenge", "pares", "method", "method-result"]) {
      const [address = ""] = wrong;
      const body = new URLSearchParams({ cres: "e30" });
      const answer = await fetch(address.replace("redirect", step), { method: "POST", body });
      assert.equal(answer.status, 404, step);
    }
  });

  test("show nothing in a foreign frame", async (t) => {
    const checkout = prepared();
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const { page, troubles } = await openWindow(t, "desk");
    const asked = page.waitForResponse(link);

    await page.goto(
      checkout.shop.publish(`<title>Stranger</title><iframe src="${link}"></iframe>`),
    );
    await asked;

    await untilTrue("the frame is refused", () => isFrameRefused(troubles));
    await untilTrue("the frame shows an error", () =>
      page.frames().some((frame) => frame.url() === "chrome-error://chromewebdata/"),
    );
  });

  // biome-ignore format: a table
  const framed = [
    ["challenge",     "its own", "That did not work"],
    ["pares",         "its own", "Thank you"],
    ["challenge",     "a wrong", undefined],
    ["pares",         "a wrong", undefined],
    ["method",        "a wrong", undefined],
    ["method-result", "a wrong", undefined],
    ["method-result", "its own", undefined],
  ] as const;
  // The short run tests each of the pages that may be framed, and one refusal of either kind.
  const shortOnes = new Set([0, 1, 2, 6].map((at) => framed[at]));
  for (const [step, token, title] of rowsOf(framed, (row) => shortOnes.has(row))) {
    const seen = title === undefined ? "nothing" : "what the bank's answer came to";
    test(`show ${seen} in a shop's frame at ${step} with ${token} token`, async (t) => {
      const checkout = prepared();
      const { link } = await checkout.begin(cards.challengeNoMethod);
      const { page, troubles } = await openWindow(t, "desk");
      const address = link.replace("redirect", step) + (token === "its own" ? "" : "x");
      const form = `<form method="post" action="${address}" target="bank"><button>Post</button>`;

      await page.goto(
        checkout.shop.publish(`<title>Shop</title>${form}</form><iframe name="bank"></iframe>`),
      );
      const answered = page.waitForResponse(address);
      await page.getByRole("button", { name: "Post" }).click();
      await answered;

      const frame = page.frameLocator("iframe");
      if (title !== undefined) return frame.getByRole("heading", { name: title }).waitFor();
      await untilTrue("the frame is refused", () => isFrameRefused(troubles));
    });
  }

  test("accept the end of a step from no other page", async (t) => {
    const checkout = prepared();
    const payment = await checkout.begin(cards.challengeNoMethod);
    const { page } = await openWindow(t, "desk");
    await page.goto(payment.link);
    await bankIn(page, "desk").locator("#code").fill("1");
    const [own, bank] = page.frames();

    for (const frame of [own, bank]) {
      // Answers after the page has heard it, or never when the page was loaded anew.
      const heard = page.evaluate(
        'new Promise((done) => addEventListener("message", () => setTimeout(done, 0, "heard")))',
      );
      await frame?.evaluate('parent.postMessage("done", "*")');
      assert.equal(await heard, "heard");
    }

    assert.equal(await bankIn(page, "desk").locator("#code").inputValue(), "1");
  });

  test("show a hostile shop's name as plain text", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    await nameEverybody(checkout, hostileName);
    const payment = await checkout.begin(cards.challengeNoMethod);
    const { page, troubles } = await openWindow(t, "desk");

    await page.goto(payment.link);
    await bankIn(page, "desk").getByText(hostileName).waitFor();
    await takePicture(page, "hostile-name-bank-desk");
    const merchant = world.merchant("plain");
    const order = await merchant.sale({ redirect_url: undefined });
    await world.settle();
    await page.goto(await linkOf(checkout, order["gw-order-id"]));
    await page.getByText(`Your payment of 10.15 USD to ${hostileName} was approved.`).waitFor();
    await takePicture(page, "hostile-name-result-desk");

    assert.deepEqual(troubles, []);
  });

  test("expire an hour after the order", async (t) => {
    const checkout = prepared();
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const { page } = await openWindow(t, "phone");
    await checkout.world.pass(3_600_000);
    const still = await page.goto(link);

    await checkout.world.pass(1_000);
    const gone = await page.goto(link);

    assert.deepEqual([still?.status(), gone?.status()], [200, 404]);
    await page.getByText("belongs to no payment, or its time is over").waitFor();
  });
});

function isFrameRefused(troubles: readonly string[]): boolean {
  return troubles.some((trouble) => /frame-ancestors 'none'/.test(trouble));
}

async function nameEverybody({ world }: Checkout, name: string): Promise<void> {
  await world.changeEndpoint("plain", { shopName: name });
  await world.changeGate("sandbox", { nameAndPlace: name.padEnd(38).concat("US") });
}
