/**
 * Orders of the payment page, and the payment links that lead to it. The request brings no card,
 * and the cardholder may try several. A try begins with the card, as an order of the merchant
 * interface does, and ends with the order's result or, when it is refused and another is left, on
 * the page.
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

/** A new order begins on its page: it owes nothing until a card is entered. */
export function openPage(
  { transaction, acceptedAt }: Pick<Order, "transaction" | "acceptedAt">,
  { lifeMs, ...terms }: PageTerms,
): Pick<Order, "transaction" | "page"> {
  const page = { ...terms, expiresAt: later(acceptedAt, lifeMs), refused: [] };
  return { page, transaction: { ...transaction, stage: beginningOnPage.stage } };
}

/** How many tries may begin, the one in progress included. */
export function triesLeft({ triesMax, refused }: PaymentPage): number {
  return Math.max(0, triesMax - refused.length);
}

/** Whether another try may follow the one in progress. A refusal after the page's time is final. */
export function mayTryAgain(page: PaymentPage, at: Instant): boolean {
  return triesLeft(page) > 1 && at < page.expiresAt;
}

/** The order with the card of a new try. */
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

/** The customer as the merchant has sent it, without the fields of the page. */
export function customerSent({ purchase, page }: Entered): Customer {
  const blank = page?.entered?.map((field) => [field, undefined]) ?? [];
  return { ...purchase.customer, ...Object.fromEntries(blank) };
}

function fieldsBeyond(sent: Customer, whole: Customer): readonly (keyof Customer)[] {
  const fields = Object.keys(whole) as (keyof Customer)[];
  return fields.filter((field) => whole[field] !== undefined && sent[field] === undefined);
}

/** An order that waits for a card is due at once, and expires; a try in progress is the last. */
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

/** The order after a refused try, as it was before any; the try stays on record. */
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

/** Every card that the order has brought into the vault: one of its own, or one for each try. */
export function cardsOf({ card, page }: Order): readonly CardFacts[] {
  if (page === undefined) return [card];
  const tried = [...page.refused.map((each) => each.card), card];
  return tried.filter(({ cardId }) => cardId !== noCard.cardId);
}

/**
 * A payment link (decision 0056): an amount at an endpoint that cardholders with the URL can pay
 * once, a number of times, or any number of times. It is no order: each payment begins one.
 */
export type PaymentLink = {
  readonly id: LinkId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly amount: Money;
  readonly description: string;
  /** Where the cardholder's browser goes afterwards; to the gateway's own page when absent. */
  readonly returnUrl?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly expiresAt?: Instant | undefined;
  readonly closedAt?: Instant | undefined;
  /** Absent: any number. */
  readonly usesMax?: number | undefined;
  /** The pages whose orders count; those that ended unpaid leave when another page needs a use. */
  readonly uses: readonly string[];
};

export type LinkKey = Pick<PaymentLink, "merchantId" | "id">;

/** More than these are as good as any number. */
export const linkUsesMax = 100;

/** Why no payment begins with the link any more, apart from its uses. */
export function findEnd(link: PaymentLink, now: Instant): "closed" | "expired" | undefined {
  if (link.closedAt !== undefined) return "closed";
  return link.expiresAt !== undefined && link.expiresAt <= now ? "expired" : undefined;
}

/** Unique among the merchant's orders. A page of the link that is posted twice begins one order. */
export function clientOrderIdOf({ id }: Pick<PaymentLink, "id">, page: string): string {
  return `link-${id}-${page}`;
}
