/**
 * Accepting an order: it is written with its first steps taken, claimed by this node, and carried
 * on from memory. A client order id can be charged once, so a request is either new, a repeat of an
 * earlier one, or a new attempt after attempts that ended unpaid; decision 0005.
 */
import { timingSafeEqual } from "node:crypto";
import type { Advance, Step } from "../orders/advance.ts";
import type { CardData } from "../orders/effect-handler.ts";
import type { CardFacts, Enrolment, Issuer, Order } from "../orders/order.ts";
import type { Accepted, OrderRequest } from "../orders/requests.ts";
import { initialOf, newTransaction } from "../orders/transactions.ts";
import { isFinal } from "../orders/transitions.ts";
import type { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import {
  asCardId,
  type CardId,
  type EndpointId,
  type MerchantId,
  type OrderId,
  type SerialNumber,
} from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { Clock } from "../values/time.ts";
import type { OrderRunner } from "./run.ts";

export type Accept = (asked: OrderRequest) => Promise<Accepted | Failure>;

/** The first step of a new order, with the request that made it. */
export type Beginning = {
  readonly step: Step;
  readonly digest: Uint8Array;
  readonly serialNumber: SerialNumber;
  /** Nothing when the order is paid with a card that the vault has already. */
  readonly card: SealedCard | undefined;
};

type PendingCard = { readonly facts: CardFacts; readonly sealed: SealedCard | undefined };

export type SealedCard = {
  readonly keyId: number;
  readonly sealed: Uint8Array;
  readonly fingerprint: Uint8Array;
};

/** `taken`: the merchant has an order with this client order id and attempt already. */
export type Begin = (beginning: Beginning) => Promise<"done" | "taken">;

/** An order with the digest of the request that made it. */
export type ExistingOrder = { readonly order: Order; readonly digest: Buffer };

type Fingerprint = { readonly bytes: Buffer; readonly hashId: string };

type Vault = {
  seal(
    merchant: MerchantId,
    card: CardId,
    held: CardData & { readonly fingerprint: Fingerprint },
  ): SealedCard;
  fingerprint(merchant: MerchantId, number: CardNumber): Fingerprint;
  digest(text: Secret<string>): Buffer;
};

type Dependencies = {
  readonly advance: Advance;
  readonly begin: Begin;
  readonly findKnown: (
    merchant: MerchantId,
    clientOrderId: string,
  ) => Promise<readonly ExistingOrder[]>;
  readonly vault: Vault;
  readonly nextOrderId: () => Promise<OrderId>;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  /** How the card takes part in 3-D Secure, where the endpoint wants it to. */
  readonly findEnrolment: (endpoint: EndpointId, number: CardNumber) => Enrolment | undefined;
  /** Until the cardholder has been authenticated, and no longer; answers how to let go of it. */
  readonly hold: (order: Order, card: CardData) => Promise<() => void>;
  readonly runner: OrderRunner;
  readonly clock: Clock;
  readonly inFlightMax: number;
};

/** The order that an identical request has begun, for one that could begin none any more. */
export type FindRepeat = (
  asked: Pick<OrderRequest, "merchantId" | "clientOrderId" | "requestFingerprint">,
) => Promise<Accepted | undefined>;

export function makeFindRepeat(
  dependencies: Pick<Dependencies, "findKnown" | "vault">,
): FindRepeat {
  return async ({ merchantId, clientOrderId, requestFingerprint }) => {
    const known = await dependencies.findKnown(merchantId, clientOrderId);
    return repeatAmong(known, dependencies.vault.digest(requestFingerprint));
  };
}

function repeatAmong(known: readonly ExistingOrder[], digest: Buffer): Accepted | undefined {
  const same = known.find((earlier) => timingSafeEqual(earlier.digest, digest));
  if (same === undefined) return undefined;
  return { order: same.order, transaction: initialOf(same.order), repeated: true };
}

export function makeAccept(dependencies: Dependencies): Accept {
  return async (asked) => {
    if (dependencies.runner.count >= dependencies.inFlightMax) {
      return new Failure("storage_unavailable", "", "too many orders in flight");
    }
    const digest = dependencies.vault.digest(asked.requestFingerprint);
    let attempt = 1;
    for (;;) {
      const order = await tryAttempt(asked, attempt, digest);
      if (order instanceof Failure) return order;
      if (order !== "taken") return { order, transaction: order.transaction, repeated: false };

      const known = await dependencies.findKnown(asked.merchantId, asked.clientOrderId);
      const repeat = repeatAmong(known, digest);
      if (repeat !== undefined) return repeat;
      if (!known.every(({ order: earlier }) => endedUnpaid(earlier))) {
        return new Failure("duplicate_order");
      }
      // The next after the latest, and never further on: whoever else saw the same tries it too.
      attempt = Math.max(0, ...known.map(({ order: earlier }) => earlier.attempt)) + 1;
    }
  };

  async function tryAttempt(
    asked: OrderRequest,
    attempt: number,
    digest: Buffer,
  ): Promise<Order | "taken" | Failure> {
    const id = await dependencies.nextOrderId();
    const { facts, sealed } = cardOf(asked, id);
    const order = { ...draft(asked, id), attempt, card: facts };
    const step = dependencies.advance(order, { kind: "received" }, order.acceptedAt);
    if (step instanceof Failure) return step;

    const { serialNumber, cardData } = asked;
    // Whoever goes on with it may be another node. What a crash leaves is destroyed by its time.
    const isSecure = step.order.transaction.threeds !== undefined;
    const letGo =
      isSecure && cardData !== undefined
        ? await dependencies.hold(step.order, cardData)
        : () => undefined;
    const begun = await dependencies.begin({ step, digest, serialNumber, card: sealed });
    if (begun === "taken") {
      letGo();
      return "taken";
    }
    dependencies.runner.start(step.order, { startedBefore: false, cardData });
    return step.order;
  }

  /** A new card is sealed under the order's own id; a registered one is in the vault already. */
  function cardOf(asked: OrderRequest, order: OrderId): PendingCard {
    const { merchantId, endpointId, card, cardData } = asked;
    if (card.kind === "none" || cardData === undefined) return { facts: noCard, sealed: undefined };
    const enrolment = dependencies.findEnrolment(endpointId, cardData.number);
    const secure = enrolment === undefined ? {} : { enrolment };
    if (card.kind === "registered") {
      // How it took part when it was registered is of no interest now.
      const { enrolment: _, ...facts } = card.facts;
      return { facts: { ...facts, ...secure }, sealed: undefined };
    }
    const cardId = asCardId(order);
    const fingerprint = dependencies.vault.fingerprint(merchantId, cardData.number);
    const issuer = dependencies.findIssuer(cardData.number.issuerPrefix);
    const known = issuer === undefined ? {} : { issuer };
    const facts = { ...card.facts, cardId, hashId: fingerprint.hashId, ...known, ...secure };
    return {
      facts,
      sealed: dependencies.vault.seal(merchantId, cardId, { ...cardData, fingerprint }),
    };
  }

  function draft(asked: OrderRequest, id: OrderId): Omit<Order, "attempt" | "card"> {
    const { kind, serialNumber, merchantId, endpointId, clientOrderId, purchase } = asked;
    return {
      id,
      merchantId,
      endpointId,
      clientOrderId,
      version: 0,
      acceptedAt: dependencies.clock.now(),
      purchase,
      transaction: {
        ...newTransaction({ kind, serialNumber, amount: purchase.amount }),
        authentication: asked.authentication,
      },
      earlier: [],
      owed: undefined,
      deadlineAt: undefined,
    };
  }
}

/** A wallet's payment data was refused, and no card is known. */
const noCard: CardFacts = {
  cardId: asCardId("0"),
  ...{ bin: "", lastFour: "", network: undefined, holderName: "", hashId: "" },
  ...{ expiryMonth: "", expiryYear: "" },
};

/** An order that still owes a reversal may yet turn out to be paid. */
function endedUnpaid(order: Order): boolean {
  const { stage } = initialOf(order);
  return isFinal(stage) && stage !== "approved" && order.owed === undefined;
}
