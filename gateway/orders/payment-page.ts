/**
 * Orders of the payment page, and payment links. The cardholder may try several cards. A try begins
 * with a card, as an order of the merchant interface does. It ends with the order's result or, if
 * it is refused and another try is left, back on the page.
 */
import { Failure } from "../values/failure.ts";
import { asCardId, type EndpointId, type LinkId, type MerchantId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import { type Instant, later } from "../values/time.ts";
import type { EventOf } from "./events.ts";
import type { CardFacts, Customer, Order, PaymentPage, RefusedTry } from "./order.ts";
import { findOwingAttempt } from "./prior-attempts.ts";
import type { PageTerms } from "./requests.ts";
import { newTransaction } from "./transactions.ts";
import { beginningOnPage } from "./transitions.ts";

/** No card was entered yet, or a wallet's payment data was refused. */
export const noCard: CardFacts = {
  cardId: asCardId("0"),
  bin: "",
  lastFour: "",
  network: undefined,
  holderName: "",
  hashId: "",
  expiryMonth: "",
  expiryYear: "",
};

export function openPage(
  { transaction, acceptedAt }: Pick<Order, "transaction" | "acceptedAt">,
  { lifeMs, ...terms }: PageTerms,
): Pick<Order, "transaction" | "page"> {
  const page = { ...terms, expiresAt: later(acceptedAt, lifeMs), refused: [] };
  return { page, transaction: { ...transaction, stage: beginningOnPage.stage } };
}

/** A try in progress is included. */
export function triesLeft({ triesMax, refused }: PaymentPage): number {
  return Math.max(0, triesMax - refused.length);
}

export function mayTryAgain(page: PaymentPage, at: Instant): boolean {
  return triesLeft(page) > 1 && at < page.expiresAt;
}

export function enterCard(
  order: Order,
  { card, payer, authentication }: EventOf<"card_entered">,
  at: Instant,
): Order | Failure {
  const { page, transaction } = order;
  if (page === undefined || at >= page.expiresAt) return pageOver;
  if (findOwingAttempt(order) !== undefined) return stillInDoubt;
  const { wallet: _, ...purchase } = order.purchase;
  const paid = { ...transaction, authentication };
  const entered = fieldsBeyond(customerSent(order), payer.customer);
  return {
    ...order,
    card,
    purchase: { ...purchase, ...payer },
    transaction: paid,
    page: entered.length === 0 ? page : { ...page, entered },
  };
}

type Entered = Pick<Order, "purchase"> & {
  readonly page?: Pick<PaymentPage, "entered"> | undefined;
};

/** The fields that the cardholder has entered on the page are left out. */
export function customerSent({ purchase, page }: Entered): Customer {
  const blank = page?.entered?.map((field) => [field, undefined]) ?? [];
  return { ...purchase.customer, ...Object.fromEntries(blank) };
}

function fieldsBeyond(sent: Customer, whole: Customer): readonly (keyof Customer)[] {
  const fields = Object.keys(whole) as (keyof Customer)[];
  return fields.filter((field) => whole[field] !== undefined && sent[field] === undefined);
}

/** An order that waits for a card expires at once. A try in progress is the last one. */
export function closePage(order: Order, at: Instant): Order | undefined {
  const { page, transaction, deadlineAt } = order;
  if (page === undefined) return undefined;
  const expiresAt = at < page.expiresAt ? at : page.expiresAt;
  return {
    ...order,
    version: order.version + 1,
    page: { ...page, expiresAt },
    deadlineAt: transaction.stage === "awaiting_card" ? expiresAt : deadlineAt,
  };
}

const pageOver = new Failure("not_allowed_now", "", "the payment page has expired");
const stillInDoubt = new Failure("not_allowed_now", "", "the try before is being reversed");

/** The order is as before the refused try, which stays on record. */
export function endTry(order: Order, at: Instant): Order {
  const { page, card, transaction } = order;
  if (page === undefined) return order;
  const { kind, serialNumber, identifiers, amount, priorAttempts = [] } = transaction;
  const { wallet } = order.purchase;
  const ended = {
    card,
    ...(wallet && { wallet }),
    at,
    ...challengeOf(transaction),
    reason: transaction.reason ?? { code: "declined" as const, detail: "" },
    attempts: identifiers ? [...priorAttempts, { identifiers, amount }] : priorAttempts,
  };
  const fresh = newTransaction({ kind, serialNumber, amount: order.purchase.amount });
  return {
    ...order,
    card: noCard,
    page: { ...page, refused: [...page.refused, ended] },
    transaction: { ...fresh, stage: beginningOnPage.stage },
  };
}

function challengeOf({
  threeds,
  authentication,
}: Order["transaction"]): Pick<RefusedTry, "threeds" | "authentication"> {
  if (threeds?.challenge === undefined) return {};
  const { directory, version, transactionId, challenge } = threeds;
  const { acsTransactionId, directoryTransactionId } = challenge;
  const ids = { acsTransactionId, directoryTransactionId };
  return {
    threeds: { directory, version, transactionId, challenge: ids },
    ...(authentication && { authentication }),
  };
}

/** Returns every card that the order has stored in the vault: its own, or one for each try. */
export function cardsOf({ card, page }: Order): readonly CardFacts[] {
  if (page === undefined) return [card];
  const tried = [...page.refused.map((each) => each.card), card];
  return tried.filter(({ cardId }) => cardId !== noCard.cardId);
}

/**
 * A payment link (decision 0056): an amount at an endpoint, which cardholders with the URL can pay
 * once, a number of times or any number of times. Each payment begins an order.
 */
export type PaymentLink = {
  readonly id: LinkId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly amount: Money;
  readonly description: string;
  /** The payment page is for the merchant's staff, who enter an order by mail or telephone. */
  readonly channel?: "MOTO" | undefined;
  /** Where the cardholder's browser goes at the end; the gateway's own page if absent. */
  readonly returnUrl?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly expiresAt?: Instant | undefined;
  readonly closedAt?: Instant | undefined;
  /** The maximum number of paid orders; any number if absent. */
  readonly usesMax?: number | undefined;
  /** The pages whose orders take a use. Unpaid ones are removed when another page needs a use. */
  readonly uses: readonly string[];
};

export type LinkKey = Pick<PaymentLink, "merchantId" | "id">;

/** The highest maximum. A larger number would be the same as no maximum. */
export const linkUsesMax = 100;

/** Returns why no payment can begin with the link any more, apart from its uses. */
export function findEnd(link: PaymentLink, now: Instant): "closed" | "expired" | undefined {
  if (link.closedAt !== undefined) return "closed";
  return link.expiresAt !== undefined && link.expiresAt <= now ? "expired" : undefined;
}

/** The id is unique for the merchant, and the same for a page that is posted twice. */
export function clientOrderIdOf({ id }: Pick<PaymentLink, "id">, page: string): string {
  return `link-${id}-${page}`;
}
