/**
 * What the effect handlers share: whom and what to ask, whether there is a link and time enough to
 * ask it, and the events for what is never sent.
 */
import type { CardData, OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Answer, ChargeKind, Order, TransactionKind } from "../orders/order.ts";
import type { EndpointId, GateId, ReceiptId } from "../values/ids.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";
import type { Acquirer, AuthorizationRequest, ChargedCard, Found } from "./acquirer.ts";

export type AcquirerDependencies = {
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  /**
   * Finds the card in the vault, or returns undefined when it is destroyed. A condemned card begins
   * no new order.
   */
  readonly findCard: (
    order: Order,
  ) => Promise<(ChargedCard & { readonly isCondemned?: boolean }) | undefined>;
  /** The card with its CVV, stored while the cardholder was being authenticated. */
  readonly findPendingCard: (order: Order) => Promise<CardData | undefined>;
  readonly destroyPendingCard: (order: Order) => Promise<void>;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly receiptIdOf: (order: Order) => ReceiptId;
  /** Which is at least as late as `earliest` says: that proves something, `now` only warns. */
  readonly clock: Pick<Clock, "now"> & { readonly earliest: () => Instant };
  readonly answerTimeoutMs: number;
  readonly processingDeadlineMs: number;
  /** False when no link of any gate has come up by then. */
  readonly nextReady: (until: Instant) => Promise<boolean>;
  /** How long an order waits for a link while nothing of it has been sent. */
  readonly linkWaitMs: number;
};

/** What an inquiry says that found no approval. */
export function describeFound(found: Exclude<Found, { readonly answer: Answer }>): string {
  if (found.kind === "unknown") return found.cause;
  return found.kind === "other_answer" ? `answered ${found.code}` : found.kind;
}

export function acquirerOf(
  { transaction }: Order,
  { findAcquirer }: Pick<AcquirerDependencies, "findAcquirer">,
): Acquirer | undefined {
  const gate = transaction.identifiers?.gate.id;
  return gate === undefined ? undefined : findAcquirer(gate);
}

/** The smallest amount, in minor units, that the order's gate takes. */
export function leastOf(
  { endpointId, transaction }: Order,
  { getEndpoint }: Pick<AcquirerDependencies, "getEndpoint">,
): bigint | undefined {
  const { gates } = getEndpoint(endpointId);
  return gates.find(({ id }) => id === transaction.identifiers?.gate.id)?.amountMin;
}

/**
 * An order's charge as the acquirer gets it; nothing when the transaction is no charge, or has no
 * gate yet. The wallet's cryptogram leaves its secret here.
 */
export function authorizationRequestOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardData, "cvv" | "cryptogram">> = {},
): AuthorizationRequest | undefined {
  const { kind, identifiers, amount, authentication } = transaction;
  if (identifiers === undefined || !isCharge(kind)) return undefined;
  // What 3-D Secure proved replaces the cryptogram.
  const isAuthenticated = authentication?.status !== undefined;
  const proof = authentication && {
    eci: authentication.eci,
    value: isAuthenticated ? authentication.value : cryptogram?.reveal(),
  };
  const { credential, wallet } = purchase;
  const isDevice = wallet?.isDevice === true && !isAuthenticated;
  const charged = isDevice ? { ...card, isDevice } : card;
  return { kind, identifiers, amount, card: charged, cvv, authentication: proof, credential };
}

export function isCharge(kind: TransactionKind): kind is ChargeKind {
  return kind === "sale" || kind === "preauth" || kind === "account-verification";
}

/**
 * Returns whether another node may claim the order before the host could answer. A message that is
 * not sent now cannot cross one that the claiming node sends.
 */
export function isTooLate(
  { owed }: Order,
  { clock, answerTimeoutMs }: Pick<AcquirerDependencies, "clock" | "answerTimeoutMs">,
): boolean {
  return clock.now() + answerTimeoutMs >= (owed?.claimableAt ?? 0);
}

/**
 * Waits until there is a link to go on with, and no longer than the bound or than the order's
 * lease allows. Orders that wait count as in flight, so there are never more of them than these.
 */
export async function waitForLink(
  { owed }: Order,
  { clock, answerTimeoutMs, linkWaitMs, nextReady }: WaitDependencies,
  isThere: () => boolean,
): Promise<void> {
  const latest = (owed?.claimableAt ?? 0) - answerTimeoutMs - 1;
  const until = asInstant(Math.min(clock.now() + linkWaitMs, latest));
  while (!isThere() && clock.now() < until && (await nextReady(until)));
}

type WaitDependencies = Pick<
  AcquirerDependencies,
  "clock" | "answerTimeoutMs" | "linkWaitMs" | "nextReady"
>;

export function isReady(acquirer: Acquirer | undefined): acquirer is Acquirer {
  return acquirer?.isReady() === true;
}

/** No message was sent, and none will be. */
export const notSent: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "gate_unavailable", detail: "" },
};

/** The card is destroyed, or lost in a crash of the database: nothing was sent, nothing can be. */
export const cardLost: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "card_not_held", detail: "" },
};
