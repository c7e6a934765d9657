/**
 * The end of a payment for the cardholder: back in the shop with any result, and with a receipt
 * that can be read and printed, in the cardholder's language.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { openWindow, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { type Checkout, linkOf, prepareCheckout } from "../support/browser/checkout.ts";
import { readPdfText } from "../support/browser/pdf-text.ts";
import { atEnd } from "../support/clean-up.ts";
import type { Acknowledged, SaleFields } from "../support/merchant.ts";
import { rowsOf } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { startWorld } from "../support/world.ts";

const german = { locale: "de-AT" };

describe("the end of a payment", () => {
  const prepared = prepareCheckout();

  const withoutFunds = { credit_card_number: "4000004000000020" };
  const none = async () => undefined;
  // biome-ignore format: a table
  const endings: readonly (readonly [status: string, path: string, fields: SaleFields, before: Change, after: Change])[] = [
    ["approved", "/success", {},                    none,                       none],
    ["declined", "/fail",    withoutFunds,          none,                       none],
    ["filtered", "/fail",    { amount: "1234.00" }, (it) => limit(it, "50000"), (it) => limit(it, "99999999")],
    ["error",    "/return",  {},                    ({ world }) => world.stopHost(), ({ world }) => world.startHost()],
  ];
  // A payment that screening refuses returns like one that the bank declines.
  const isShort = ([status]: (typeof endings)[number]) => status !== "filtered";
  for (const [status, path, fields, before, after] of rowsOf(endings, isShort)) {
    test(`${status} comes back to the shop at ${path}`, async (t) => {
      const checkout = prepared();
      const { shop, world } = checkout;
      const urls = {
        redirect_url: `${shop.url}/return`,
        redirect_success_url: `${shop.url}/success`,
        redirect_fail_url: `${shop.url}/fail`,
      };
      await before(checkout);
      const order = await pay(checkout, { ...urls, ...fields });
      await after(checkout);
      const { page, troubles } = await openWindow(t, "desk");

      await page.goto(await linkOf(checkout, order["gw-order-id"]));

      const arrival = await shop.arrived(order["gw-order-id"]);
      const told = await world.merchant("plain").status(order);
      assert.deepEqual([arrival.path, arrival.fields["status"]], [path, status]);
      assert.deepEqual([told.status, told["error-code"]], [status, arrival.fields["error_code"]]);
      assert.equal(told["receipt-id"] !== undefined, status === "approved");
      assert.deepEqual(troubles, []);
    });
  }

  test("without a shop's address the gateway shows the result with the receipt", async (t) => {
    const checkout = prepared();
    const order = await pay(checkout, { redirect_url: undefined });
    const { page, troubles } = await openWindow(t, "phone", german);

    await page.goto(await linkOf(checkout, order["gw-order-id"]));
    await page.getByRole("heading", { name: "Zahlung genehmigt" }).waitFor();
    await takePicture(page, "page-result-approved-german");
    await page.getByRole("link", { name: "Beleg anzeigen" }).click();

    await page.getByRole("heading", { name: "Beleg", exact: true }).waitFor();
    await takePicture(page, "page-receipt-german");
    assert.equal(await page.locator("html").getAttribute("lang"), "de");
    assert.match(await wordsOf(page), /Sie haben 10,15 USD an .+ bezahlt\./);
    assert.deepEqual(troubles, []);
  });

  // biome-ignore format: a table
  const verifications = [
    ["verified",     "4000001000000018", {},     "Card verified",         /^Your card was verified for [^.]+\. Nothing was charged\.$/m],
    ["not verified", "4000004000000020", {},     "Card not verified",     /did not verify your card for [^.]+\. Nothing was charged/],
    ["verified",     "4000001000000018", german, "Karte geprüft",         /Ihre Karte wurde für [^.]+ geprüft\. Es wurde nichts abgebucht/],
    ["not verified", "4000004000000020", german, "Karte nicht bestätigt", /hat Ihre Karte für [^.]+ nicht bestätigt/],
  ] as const;
  for (const row of rowsOf(verifications, ([, , , title]) => title === "Karte nicht bestätigt")) {
    const [what, card, reader, title, sentence] = row;
    test(`a card that is ${what} ends with the page: ${title}`, async (t) => {
      const checkout = prepared();
      const { world } = checkout;
      const asked = { credit_card_number: card, redirect_url: undefined };
      const order = await world.merchant("plain").verify(asked);
      await world.settle();
      const { page } = await openWindow(t, "phone", reader);

      await page.goto(await linkOf(checkout, order["gw-order-id"]));

      await page.getByRole("heading", { name: title, exact: true }).waitFor();
      await takePicture(page, `page-result-${title.toLowerCase().replaceAll(" ", "-")}`);
      const words = await wordsOf(page);
      assert.match(words, sentence);
      assert.doesNotMatch(words, /payment|Zahlung|0[.,]00/i);
    });
  }

  test("the pages of 3-D Secure are in German for a German browser", async (t) => {
    const checkout = prepared();
    const { link } = await checkout.begin(cards.challengeNoMethod);
    const { page } = await openWindow(t, "desk", german);

    await page.goto(link);

    await page.getByRole("heading", { name: "Zahlung bestätigen" }).waitFor();
    const frame = page.getByTitle("Bestätigungsseite Ihrer Bank");
    await frame.waitFor();
  });

  testInLongRun("a receipt is printed on one page, black on white", async (t) => {
    const checkout = prepared();
    const { world } = checkout;
    const order = await pay(checkout);
    const { page, troubles } = await openWindow(t, "desk", { colorScheme: "dark" });
    await page.addInitScript("window.print = () => { window.printed = true; }");
    const status = await world.merchant("plain").status(order);

    await page.goto(await world.receiptLink(order));
    await page.getByRole("button", { name: "Print" }).click();
    assert.equal(await page.evaluate("window.printed"), true);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await takePicture(page, "page-receipt-printed");
    const words = await wordsOf(page);
    const pdf = await page.pdf({ format: "A4" });
    const printed = readPdfText(pdf);

    // biome-ignore format: a table
    const rows = [
      ["Shop",              "Demonstration Shop"],
      ["On your statement", status.descriptor],
      ["Terminal",          status["terminal-id"]],
      ["Amount",            "10.15 USD"],
      ["Card",              "**** 1111"],
      ["Approval code",     status["approval-code"]],
      ["Reference (RRN)",   status["processor-rrn"]],
      ["Receipt number",    status["receipt-id"]],
    ];
    for (const [name, value] of rows) {
      assert.ok(`${printed}\n`.includes(`\n${name}\n${value}\n`) && value, `${name} in ${printed}`);
    }
    assert.ok(printed.includes("You paid 10.15 USD to Demonstration Shop."), printed);
    assert.doesNotMatch(printed + words, /411111|JANE|\bPrint\b/);
    assert.deepEqual(await coloursOf(page), ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
    assert.equal(printed.split("\f").length, 1, "it needs more than one page");
    assert.deepEqual(troubles, []);
  });

  testInLongRun("without scripts there is no button that does nothing", async (t) => {
    const order = await pay(prepared());
    const { page } = await openWindow(t, "desk", { javaScriptEnabled: false });

    await page.goto(await prepared().world.receiptLink(order));

    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    assert.equal(await page.getByRole("button").count(), 0);
  });

  test("a receipt shows what was captured, returned and cancelled", async (t) => {
    const { world } = prepared();
    const merchant = world.merchant("plain");
    const { page } = await openWindow(t, "phone");
    const settled = async (done: Promise<unknown>) => {
      await done;
      await world.settle();
    };
    const read = async (order: Acknowledged) => {
      await page.goto(await world.receiptLink(order));
      return wordsOf(page);
    };

    const sale = await pay(prepared());
    await settled(merchant.return(sale, { amount: "3.15" }));
    assert.match(await read(sale), /3\.15 USD was returned; 7\.00 USD remains charged/);
    await settled(merchant.return(sale));
    assert.match(await read(sale), /payment of 10\.15 USD to .+ was returned in full/);
    await takePicture(page, "page-receipt-returned-phone");

    const [captured, cancelled] = [await merchant.preauth(), await merchant.preauth()];
    await world.settle();
    assert.match(await read(captured), /10\.15 USD is reserved for .+ and not yet charged/);
    await settled(merchant.capture(captured, { amount: "8.00" }));
    await settled(merchant.return(cancelled));
    assert.match(await read(captured), /You paid 8\.00 USD to .+Charged amount\s+8\.00 USD/s);
    assert.match(await read(cancelled), /reservation of 10\.15 USD for .+ was cancelled/);
  });
});

test("the pages have the operator's name, logo and colour", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-logo-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  const logo = join(folder, "logo.svg");
  await writeFile(logo, logoOf("#7c2d12"));
  const world = await startWorld(t, {
    GW_PAGE_NAME: "Harbour Payments",
    GW_PAGE_LOGO_FILE: logo,
    GW_PAGE_ACCENT: "#7c2d12",
  });
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { page, troubles } = await openWindow(t, "desk");

  await page.goto(await world.receiptLink(order));

  const banner = page.getByRole("banner");
  assert.equal((await banner.textContent())?.trim(), "Harbour Payments");
  const box = await banner.locator("img").boundingBox();
  assert.ok(box !== null && box.height > 20, "the logo is not shown");
  const print = page.getByRole("button", { name: "Print" });
  await print.waitFor();
  assert.deepEqual(await coloursOf(page, "#print"), ["rgb(124, 45, 18)", "rgb(255, 255, 255)"]);
  await takePicture(page, "page-receipt-operator");
  assert.deepEqual(troubles, []);
});

type Change = (checkout: Checkout) => Promise<void>;

function limit({ world }: Checkout, amountMax: string): Promise<void> {
  return world.changeEndpoint("plain", { amountMax });
}

async function pay({ world }: Checkout, fields: SaleFields = {}): Promise<Acknowledged> {
  const order = await world.merchant("plain").sale(fields);
  await world.settle();
  return order;
}

/** Returns the visible words, without those that are hidden or only for paper. */
function wordsOf(page: Page): Promise<string> {
  return page.evaluate<string>("document.body.innerText");
}

/** Returns the colours of the background and of the text. */
function coloursOf(page: Page, place = "body"): Promise<readonly string[]> {
  const style = `getComputedStyle(document.querySelector("${place}"))`;
  return page.evaluate<string[]>(`[${style}.backgroundColor, ${style}.color]`);
}

function logoOf(colour: string): string {
  const circle = `<circle cx="20" cy="20" r="18" fill="${colour}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">${circle}</svg>`;
}
