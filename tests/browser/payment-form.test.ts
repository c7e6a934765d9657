/**
 * The form of the payment page as people fill it in: its accessibility, the traces that it leaves,
 * and the time until it is usable. The pictures are for people to look at.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { assertFitsWidth, assertNoViolations } from "../support/browser/accessibility.ts";
import {
  openProfile,
  openWindow,
  type Size,
  sizesFor,
  takePicture,
  test,
  testInLongRun,
} from "../support/browser/browser.ts";
import { assertReturned, prepareCheckout } from "../support/browser/checkout.ts";
import { beginPage, fillCard, openPage, payWith } from "../support/browser/payment-page.ts";
import { atEnd } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { readEverything } from "../support/expect.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { until } from "../support/until.ts";
import { mintB, withWallets } from "../support/wallets.ts";

const prepared = prepareCheckout({ GW_WALLETB_METHOD: "https://wallet.example/pay" });
const still = { javaScriptEnabled: false };
const absentNames = ["email", "phone", "address1", "zip_code", "city", "country", "state"];
const absent = Object.fromEntries(absentNames.map((name) => [name, undefined]));

const typedIn = (page: Page, field: string) => page.locator(field).inputValue();
const faultOf = (page: Page, field: string) => page.locator(`${field}-fault`).textContent();

describe("the card form", () => {
  test("groups the number, names the network and shows faults during typing", async (t) => {
    const { page } = await openPage(t, prepared(), "phone");
    const number = page.locator("#cc-number");
    const mark = page.locator(".boxed use").first();

    await number.pressSequentially("371449635398431");
    assert.equal(await typedIn(page, "#cc-number"), "3714 496353 98431");
    assert.equal(await mark.getAttribute("href"), "#mark-AMEX");
    assert.equal(await faultOf(page, "#cc-number"), "");
    await number.press("Backspace");
    await number.pressSequentially("2");
    assert.match((await faultOf(page, "#cc-number")) ?? "", /not valid/);
    await takePicture(page, "pay-typing-phone");
    await number.fill("5200000000000015");
    assert.equal(await faultOf(page, "#cc-number"), "");
    assert.equal(await mark.getAttribute("href"), "#mark-MASTERCARD");
    assert.equal(await page.getByRole("status").textContent(), "Mastercard");
  });

  testInLongRun("lets one correct in the middle", async (t) => {
    const { page } = await openPage(t, prepared(), "desk");
    const number = page.locator("#cc-number");
    const caret = () => page.evaluate<number>("document.activeElement.selectionStart");
    await number.fill("4111111111111111");
    await number.press("Home");
    for (let step = 0; step < 5; step += 1) await number.press("ArrowRight");

    await number.press("Backspace");
    assert.equal(await caret(), 4);
    await number.press("Backspace");
    assert.equal(await typedIn(page, "#cc-number"), "4111 1111 1111 111");
    await number.press("9");

    assert.equal(await typedIn(page, "#cc-number"), "4119 1111 1111 1111");
    assert.equal(await caret(), 4);
  });

  test("accepts pasted and filled-in values in any common form", async (t) => {
    const { page } = await openPage(t, prepared(), "desk");
    const paste = async (field: string, text: string) => {
      await page.locator(field).fill("");
      await page.locator(field).focus();
      await page.keyboard.insertText(text);
    };

    for (const text of ["4111-1111-1111-1111", " 4111 1111\u00a01111 1111\n", "٤١١١١١١١١١١١١١١١"]) {
      await paste("#cc-number", text);
      assert.equal(await typedIn(page, "#cc-number"), "4111 1111 1111 1111");
    }
    // biome-ignore format: a table
    const dates = [
      ["12/29", "12", "29"], ["3/2031", "03", "2031"], ["0431", "04", "31"], ["05 - 30", "05", "30"],
      ["2031-12", "12", "2031"],
    ] as const;
    for (const [text, month, year] of dates) {
      await paste("#cc-exp-month", text);
      const shown = [await typedIn(page, "#cc-exp-month"), await typedIn(page, "#cc-exp-year")];
      assert.deepEqual(shown, [month, year], text);
    }
    for (const [keys, month] of [
      ["1/31", "01"],
      ["531", "05"],
      ["1231", "12"],
    ] as const) {
      for (const field of ["#cc-exp-year", "#cc-exp-month"]) await page.locator(field).fill("");
      await page.keyboard.type(keys);
      const shown = [await typedIn(page, "#cc-exp-month"), await typedIn(page, "#cc-exp-year")];
      assert.deepEqual(shown, [month, "31"], `typed ${keys}`);
    }
    await paste("#cc-exp-month", "01/20");
    assert.match((await faultOf(page, "#cc-exp-year")) ?? "", /has expired/);
  });

  test("without scripts, says at each field what is wrong and keeps no card number", async (t) => {
    const checkout = prepared();
    const options = { ...still, locale: "de-AT" };
    const { page, payment } = await openPage(t, checkout, "phone", options);

    await payWith(page, { number: "4000 0021 0000 0016", year: "20", name: "ANNA" });

    await page.getByRole("alert").filter({ hasText: "markierten Felder" }).waitFor();
    assert.match((await faultOf(page, "#cc-number")) ?? "", /nicht gültig/);
    assert.match((await faultOf(page, "#cc-exp-year")) ?? "", /abgelaufen/);
    for (const field of ["#cc-number", "#cc-csc"]) assert.equal(await typedIn(page, field), "");
    assert.equal(await typedIn(page, "#cc-name"), "ANNA");
    // Longer numbers are ids, which may have these digits too.
    assert.doesNotMatch(await page.content(), /(?<!\d)0021(?!\d)/);
    await payWith(page, { number: cards.frictionlessNoMethod, month: "2031-12" });
    await page.getByRole("button", { name: "Zurück zum Shop" }).click();
    await assertReturned(checkout, payment, "/return", "approved");
  });
});

type Show = (page: Page) => Promise<void>;

describe("the payment page is accessible", () => {
  const faulty: Show = async (page) => {
    await payWith(page, { number: "4000 0021 0000 0016", year: "20" });
    await page.getByRole("alert").waitFor();
  };
  const refused: Show = async (page) => {
    await payWith(page, { number: "4000004000000020" });
    await page.getByRole("alert").waitFor();
  };
  const typed: Show = async (page) => {
    await fillCard(page, { number: "5200000000000015", cvv: "12" });
    await page.getByLabel("Where do I find").click();
  };
  // biome-ignore format: a table
  const states: readonly (readonly [name: string, options: object, fields: typeof absent, show: Show])[] = [
    ["form",    {},    {},     async () => undefined],
    ["typed",   {},    {},     typed],
    ["address", still, absent, async () => undefined],
    ["faults",  still, {},     faulty],
    ["refused", {},    {},     refused],
  ];
  // The short run checks every part of the page once: "typed" contains all of "form", and "faults"
  // has its notice where "refused" does.
  const isShort = ([name]: (typeof states)[number]) => name !== "form" && name !== "refused";
  const readers = new Map<Size, Promise<Page>>();
  /** One window of each size serves all states, because axe takes longer to load than to check. */
  const readerOf = (size: Size): Promise<Page> => {
    const open = () => openWindow(endOfFile, size, { bypassCSP: true }).then(({ page }) => page);
    const reader = readers.get(size) ?? open();
    readers.set(size, reader);
    return reader;
  };
  for (const [name, options, fields, show] of rowsOf(states, isShort)) {
    test(`${name} fits its window and passes axe`, async (t) => {
      const checkout = prepared();
      for (const size of sizesFor(name)) {
        const { page } = await openPage(t, checkout, size, options, { fields });
        await show(page);
        await assertFitsWidth(page);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await takePicture(page, `pay-${name}-${size}-${colorScheme}`);
        }
        // axe needs scripts; the style sheet comes from the page's own address.
        const reader = await readerOf(size);
        const content = (await page.content()).replace(/<(script|noscript)\b.*?<\/\1>/gs, "");
        await reader.route("**/pay/page", (route) =>
          route.fulfill({ body: content, contentType: "text/html; charset=utf-8" }),
        );
        await reader.goto(new URL("/pay/page", page.url()).href);
        await assertNoViolations(reader, `${name} ${size}`);
        await reader.unroute("**/pay/page");
      }
    });
  }
});

test("the card stays in no log, table, file, address or store of the browser", async (t) => {
  const checkout = prepared();
  const { world } = checkout;
  const profile = await mkdtemp(join(tmpdir(), "tollgate-profile-"));
  atEnd(t, () => rm(profile, { recursive: true, force: true, maxRetries: 10 }));
  const payment = await beginPage(checkout);
  const context = await openProfile(t, profile, "desk");
  const page = await context.newPage();
  const sent: { readonly url: string; readonly body: string }[] = [];
  context.on("request", (request) => {
    sent.push({ url: request.url(), body: request.postData() ?? "" });
  });
  await page.goto(payment.link);

  // The page is refused once by the script, left and opened again once, and paid once.
  await payWith(page, { number: cards.frictionlessNoMethod, month: "13" });
  await fillCard(page, { number: cards.frictionlessNoMethod });
  const stores = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";
  assert.equal(await page.evaluate(stores), '[{},{},""]');
  assert.equal(await page.locator("#cc-number").getAttribute("autocomplete"), "off");
  assert.equal(await page.locator("#cc-csc").getAttribute("autocomplete"), "off");
  // Chromium writes what is typed into a file within seconds; its headless shell does not.
  const sessions = join(profile, "Default/Sessions");
  if (existsSync(sessions)) {
    await until("the name is in the session's file", async () =>
      (await readFolder(sessions)).includes("JANE DOE") ? true : undefined,
    );
  }
  await page.goto("about:blank");
  await page.goBack();
  await payWith(page, { number: cards.frictionlessNoMethod });
  await assertReturned(checkout, payment, "/return", "approved");
  await page.getByText("Back in the shop").waitFor();
  await context.close();

  const forms = [cards.frictionlessNoMethod, "4000 0021 0000 0015", "4000+0021+0000+0015"];
  const isCard = (text: string) => forms.some((form) => text.includes(form));
  assert.ok(!sent.some(({ url }) => isCard(url)));
  const posts = sent.filter(({ body }) => isCard(body));
  assert.deepEqual(
    posts.map(({ url }) => url),
    [payment.link],
    "the card was posted once, to the page itself",
  );
  const { text } = await readEverything(world);
  assert.ok(!isCard(text) && !isCard(world.logged.join("")), "found at the gateway");
  const kept = await readFolder(profile);
  assert.ok(kept.length > 0 && !isCard(kept), "found in the browser's profile");
});

/** Returns every file, also as text with two bytes per character. */
async function readFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1").catch(() => "")),
  );
  return contents.map((content) => `${content}\n${content.replaceAll("\0", "")}`).join("\n");
}

testInLongRun("the page is usable within seconds on a slow phone", async (t) => {
  const checkout = prepared();
  const { link } = await beginPage(checkout);
  const { page, context } = await openWindow(t, "phone");
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 90_000,
  });
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 });

  await page.goto(link);
  const [usableMs, bytes, steps] = await page.evaluate<readonly [number, number, string]>(`(() => {
    const [page] = performance.getEntriesByType("navigation");
    const files = performance.getEntriesByType("resource");
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const times = { asked: page.requestStart, begun: page.responseStart, loaded: page.responseEnd,
      files: Math.max(...files.map((file) => file.responseEnd)), painted: paint?.startTime };
    const steps = Object.entries(times).map(([name, ms]) => name + " " + Math.round(ms)).join(", ");
    const bytes = [page, ...files].reduce((sum, each) => sum + each.transferSize, 0);
    return [page.domContentLoadedEventEnd, bytes, steps];
  })()`);

  const usable = `usable after ${Math.round(usableMs)} ms (${steps})`;
  t.diagnostic(`${usable}, ${bytes} bytes (goals 1000 ms, 60000)`);
  assert.ok(bytes > 0 && bytes < 60_000, `${bytes} bytes`);
  // The limit is eight times the goal, so that other work on the machine does not fail the test.
  assert.ok(usableMs < 8_000, `${usableMs} ms`);
});

test("a shop's name, logo and colour are shown readably", async (t) => {
  const checkout = prepared();
  const shopLogo = `data:image/svg+xml,${encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4.5" cy="4.5" r="4.5" fill="#b45309"/></svg>',
  )}`;
  const shop = { shopName: "Harbour Coffee Roasters", shopColour: "#ffd400", shopLogo };
  await checkout.world.changeEndpoint("secure", shop);

  for (const size of sizesFor("shop")) {
    const { page: shown } = await openPage(t, checkout, size);
    await shown.getByText("Harbour Coffee Roasters", { exact: true }).waitFor();
    await takePicture(shown, `pay-shop-${size}`);
    const style = 'getComputedStyle(document.querySelector("#pay button"))';
    assert.equal(await shown.evaluate(`${style}.backgroundColor`), "rgb(255, 212, 0)");
    assert.equal(await shown.evaluate(`${style}.color`), "rgb(0, 0, 0)");
    assert.ok((await shown.locator(".shop img").boundingBox())?.width);
  }
});

/** The browser's API with a wallet, whose tokens the bank has made. */
const wallet = (token: string) => `window.PaymentRequest = class {
  constructor(methods, details) { this.asked = { methods, details }; }
  canMakePayment() { return Promise.resolve(true); }
  async show() {
    await noteAsked(JSON.stringify(this.asked.details.total.amount));
    const paymentMethodData = { tokenizationData: { token: ${JSON.stringify(token)} } };
    return { details: { paymentMethodData }, complete: () => Promise.resolve() };
  }
}`;

testInLongRun(
  "a wallet pays by one button, where the browser and the merchant have it",
  async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    await withWallets(world);
    const token = await mintB(world);
    const none = await openPage(t, checkout, "desk");
    assert.equal(await none.page.getByRole("button", { name: /Wallet/ }).count(), 0);
    const payment = await beginPage(checkout);
    const { page, troubles } = await openWindow(t, "phone");
    const asked: string[] = [];
    await page.exposeFunction("noteAsked", (amount: string) => void asked.push(amount));
    await page.addInitScript(wallet(token));

    await page.goto(payment.link);
    const button = page.getByRole("button", { name: "Pay with Wallet B" });
    await button.waitFor();
    await takePicture(page, "pay-wallet-phone");
    await button.click();

    const { fields } = await assertReturned(checkout, payment, "/return", "approved");
    assert.deepEqual(asked, ['{"currency":"USD","value":"10.15"}']);
    assert.equal(fields["card-type"], "VISA");
    assert.deepEqual(payment.charges(), { received: 1, booked: 1 });
    assert.deepEqual(troubles, []);
  },
);
