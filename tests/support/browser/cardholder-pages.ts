/**
 * Every page of the gateway and of the sandbox bank that a cardholder can meet, and how to reach
 * it. Each is shown in English.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { waitingLocks } from "../databases/locks.ts";
import { cards } from "../threeds.ts";
import { bankIn, press, type Size } from "./browser.ts";
import { type Checkout, linkOf } from "./checkout.ts";

/** Shows the page, and returns the words by which it is recognised. */
type Show = (page: Page, checkout: Checkout, size: Size) => Promise<string>;

export type ShownPage = readonly [name: string, options: BrowserContextOptions, show: Show];

/** Without scripts, every page stays until its button is pressed. */
const still = { javaScriptEnabled: false };
const moving = {};

// biome-ignore format: a table
export const cardholderPages: readonly ShownPage[] = [
  ["method",            moving, showMethod],
  ["method-unscripted", still,  (page, checkout) => showStep(page, checkout, cards.frictionless, "Preparing your payment")],
  ["challenge",         still,  (page, checkout) => showStep(page, checkout, cards.challengeNoMethod, "Confirm your payment")],
  ["challenge-frame",   moving, showChallenge],
  ["pares",             still,  (page, checkout) => showStep(page, checkout, cards.v1Authenticated, "Confirm your payment")],
  ["return",            still,  showReturn],
  ["result-approved",   still,  (page, checkout) => showResult(page, checkout, "4000001000000018", "Payment approved")],
  ["result-declined",   still,  (page, checkout) => showResult(page, checkout, "4000004000000020", "Payment declined")],
  ["result-error",      still,  (page, checkout) => showResult(page, checkout, "4000001000000018", "Payment not completed", true)],
  ["done",              still,  showDone],
  ["unknown",           still,  showUnknown],
  ["unavailable",       still,  showUnavailable],
  ["receipt",           moving, (page, checkout) => showReceipt(page, checkout, [])],
  ["receipt-returned",  moving, (page, checkout) => showReceipt(page, checkout, ["3.15", "7.00"])],
  ["receipt-unknown",   still,  showNoReceipt],
  ["refused",           moving, showRefused],
  ["bank-silent",       still,  showSilence],
  ["bank-forward",      still,  showForward],
  ["bank-refusal",      still,  showBankRefusal],
  // This page is the last one, because nothing settles while its order is in flight.
  ["waiting",           still,  showWaiting],
];

async function showStep(page: Page, checkout: Checkout, card: string, title: string) {
  await page.goto((await checkout.begin(card)).link);
  return title;
}

async function showMethod(page: Page, checkout: Checkout): Promise<string> {
  await page.route("**/acs/method", () => undefined);
  const { link } = await checkout.begin(cards.frictionless);
  await page.goto(link, { waitUntil: "commit" });
  return "Preparing your payment";
}

/** Shows the challenge. On a phone it is the bank's own page. */
export async function showChallenge(page: Page, checkout: Checkout, size: Size): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeNoMethod)).link);
  await bankIn(page, size).locator("#code").fill("12");
  return size === "phone" ? "Confirm this payment" : "Confirm your payment";
}

/** Shows the page that waits while the bank does not answer and no time passes. */
async function showWaiting(page: Page, checkout: Checkout): Promise<string> {
  const { world } = checkout;
  const order = await world.merchant("plain").sale({ credit_card_number: "4000004000000129" });
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return "Please wait";
}

async function showReturn(page: Page, checkout: Checkout): Promise<string> {
  const { world } = checkout;
  const order = await world.merchant("plain").sale();
  await world.settle();
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return "Returning to the shop";
}

async function showResult(
  page: Page,
  checkout: Checkout,
  card: string,
  title: string,
  isHostDown = false,
) {
  const { world } = checkout;
  if (isHostDown) await world.stopHost();
  const fields = { credit_card_number: card, redirect_url: undefined };
  const order = await world.merchant("plain").sale(fields);
  await world.settle();
  if (isHostDown) await world.startHost();
  await page.goto(await linkOf(checkout, order["gw-order-id"]));
  return title;
}

async function showUnknown(page: Page, { world }: Checkout): Promise<string> {
  await page.goto(`${world.gateway.url}/gw/form/redirect/590450450000721448/nothing`);
  return "No payment here";
}

async function showRefused(page: Page, checkout: Checkout): Promise<string> {
  const { link } = await checkout.begin(cards.challengeNoMethod);
  await postFrom(page, checkout, { action: link.replace("redirect", "challenge"), cres: "e30" });
  return "That did not work";
}

async function showSilence(page: Page, checkout: Checkout): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeAbandoned)).link);
  await page.getByRole("button").click();
  await page.getByRole("button", { name: "Continue to your bank" }).click();
  await press(page, { code: "1234" });
  return "The bank stays silent";
}

async function showForward(page: Page, checkout: Checkout): Promise<string> {
  await page.goto((await checkout.begin(cards.challengeNoMethod)).link);
  await page.getByRole("button").click();
  await press(page, { code: "1234" });
  return "Back to the merchant";
}

async function showBankRefusal(page: Page, checkout: Checkout): Promise<string> {
  await postFrom(page, checkout, { action: `${checkout.world.bank.url}/acs/challenge`, creq: "" });
  return "This cannot be shown";
}

type Post = { readonly action: string; readonly [field: string]: string };

async function postFrom(page: Page, { shop }: Checkout, { action, ...fields }: Post) {
  const inputs = Object.entries(fields).map(([name, value]) => {
    return `<input type="hidden" name="${name}" value="${value}">`;
  });
  const form = `<form method="post" action="${action}">${inputs.join("")}<button>Post</button>`;
  await page.goto(shop.publish(`<title>Shop</title>${form}</form>`));
  await page.getByRole("button", { name: "Post" }).click();
}

/** Shows the page after the bank, in a window that cannot continue. */
async function showDone(page: Page, checkout: Checkout): Promise<string> {
  await showForward(page, checkout);
  await page.route("**/form/redirect/**", (route) => route.abort("aborted"));
  await page.getByRole("button").click();
  return "Thank you";
}

/** Shows the page after the connection was lost while the order was being looked up. */
async function showUnavailable(page: Page, checkout: Checkout): Promise<string> {
  const { world } = checkout;
  const order = await world.merchant("plain").sale();
  await world.settle();
  const link = await linkOf(checkout, order["gw-order-id"]);
  const { asked } = await world.whileOrdersWait(
    () => page.goto(link),
    async () => void (await world.installation.database.query(endWaiting)),
  );
  await asked;
  return "One moment";
}

const endWaiting = `select pg_terminate_backend(pid) ${waitingLocks}
  and relation = 'orders'::regclass`;

async function showReceipt(page: Page, checkout: Checkout, returned: readonly string[]) {
  const { world } = checkout;
  const merchant = world.merchant("plain");
  const order = await merchant.sale();
  await world.settle();
  for (const amount of returned) {
    await merchant.return(order, { amount });
    await world.settle();
  }
  await page.goto(await world.receiptLink(order));
  return "Receipt";
}

async function showNoReceipt(page: Page, { world }: Checkout): Promise<string> {
  await page.goto(`${world.gateway.url}/gw/view-receipt/${world.set.endpoints["plain"]}/1/`);
  return "No receipt here";
}
