/** A payment page from the cardholder's side: opened by the shop, filled in, and paid. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "../clean-up.ts";
import type { SaleFields } from "../merchant.ts";
import { saleFields } from "../merchant.ts";
import { readGw } from "../programs.ts";
import { chargesAt } from "../threeds.ts";
import type { World } from "../world.ts";
import { openWindow, type Size } from "./browser.ts";
import type { Checkout, Payment } from "./checkout.ts";

export type PagePayment = Pick<Payment, "order" | "orderId" | "link" | "charges">;

type Opening = {
  readonly through?: string;
  readonly kind?: "saleForm" | "preauthForm" | "accountVerificationForm";
  readonly fields?: SaleFields;
};

/** Fields that a form request does not have. */
const cardholdersOwn = {
  credit_card_number: undefined,
  card_printed_name: undefined,
  cvv2: undefined,
  expire_month: undefined,
  expire_year: undefined,
  ipaddress: undefined,
};

/** Requests the page as the shop. What reaches the bank is counted from now on. */
export async function beginPage(
  { world, shop }: Checkout,
  { through = "secure", kind = "saleForm", fields = {} }: Opening = {},
): Promise<PagePayment> {
  const count = () => ({ received: chargesAt(world), booked: world.bank.ledger().length });
  const before = count();
  const request = {
    ...saleFields(),
    ...cardholdersOwn,
    redirect_url: `${shop.url}/return`,
    ...fields,
  };
  const { amount: _, currency: __, order_desc: ___, ...unpaid } = request;
  const endpoint = world.merchant(through).endpoint(through);
  const order = await (kind === "accountVerificationForm"
    ? endpoint.accountVerificationForm(unpaid)
    : endpoint[kind](request));
  const { "redirect-url": link = "" } = order;
  const charges = () => {
    const now = count();
    return { received: now.received - before.received, booked: now.booked - before.booked };
  };
  return { order, orderId: order["gw-order-id"], link, charges };
}

/** Makes a payment link of the endpoint with `gw`. The gateway's address may change later. */
export async function makeLink(world: World, endpoint: string): Promise<{ readonly path: string }> {
  const words = ["--amount", "12.50", "--currency", "USD", "--description", "Oak chair"];
  const made = await readGw(world, "link", "create", "--endpoint", endpoint, ...words);
  return { path: new URL((made as { readonly url: string }).url).pathname };
}

export type Typed = {
  readonly number: string;
  readonly month?: string;
  readonly year?: string;
  readonly cvv?: string;
  readonly name?: string;
};

/** Fills in all fields at once, as a browser does. */
export async function fillCard(page: Page, typed: Typed): Promise<void> {
  const { number, month = "12", year = "31", cvv = "123", name = "JANE DOE" } = typed;
  await page.locator("#cc-number").fill(number);
  await page.locator("#cc-exp-month").fill(month);
  await page.locator("#cc-exp-year").fill(year);
  await page.locator("#cc-csc").fill(cvv);
  await page.locator("#cc-name").fill(name);
}

export async function payWith(page: Page, typed: Typed): Promise<void> {
  await fillCard(page, typed);
  await page.locator("#pay button[type=submit]").click();
}

/** Opens a window that shows the page. */
export async function openPage(
  t: Test,
  checkout: Checkout,
  size: Size,
  options: BrowserContextOptions = {},
  opening: Opening = {},
) {
  const payment = await beginPage(checkout, opening);
  const window = await openWindow(t, size, options);
  await window.page.goto(payment.link);
  return { ...window, payment };
}
