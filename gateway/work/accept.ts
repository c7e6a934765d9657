/**
 * Accepting an order: it is written with its first steps taken, claimed by this node, and carried
 * on from memory. A client order id can be charged once, so a request is either new, a repeat of an
 * earlier one, or a new attempt after attempts that ended unpaid; decision 0005.
 */
import { timingSafeEqual } from "node:crypto";
import type { Advance, Step } from "../orders/advance.ts";
import type { Accepted, AskedOrder } from "../orders/asked.ts";
import type { CardInHand } from "../orders/doer.ts";
import { initialOf, newTransaction } from "../orders/family.ts";
import type { CardFacts, Enrolment, Issuer, Order } from "../orders/order.ts";
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
import type { Carry } from "./carry.ts";

export type Accept = (asked: AskedOrder) => Promise<Accepted | Failure>;

/** The first step of a new order, with the request that made it. */
export type Beginning = {
  readonly step: Step;
  readonly digest: Uint8Array;
  readonly serialNumber: SerialNumber;
  /** Nothing when the order is paid with a card that the vault has already. */
  readonly card: SealedCard | undefined;
};

type HeldCard = { readonly facts: CardFacts; readonly sealed: SealedCard | undefined };

export type SealedCard = {
  readonly keyId: number;
  readonly sealed: Uint8Array;
  readonly fingerprint: Uint8Array;
};

/** `taken`: the merchant has an order with this client order id and attempt already. */
export type Begin = (beginning: Beginning) => Promise<"done" | "taken">;

/** An order with the digest of the request that made it. */
export type Known = { readonly order: Order; readonly digest: Buffer };

type Fingerprint = { readonly bytes: Buffer; readonly hashId: string };

type Vault = {
  seal(
    merchant: MerchantId,
    card: CardId,
    held: CardInHand & { readonly fingerprint: Fingerprint },
  ): SealedCard;
  fingerprint(merchant: MerchantId, number: CardNumber): Fingerprint;
  digest(text: Secret<string>): Buffer;
};

type Needs = {
  readonly advance: Advance;
  readonly begin: Begin;
  readonly findKnown: (merchant: MerchantId, clientOrderId: string) => Promise<readonly Known[]>;
  readonly vault: Vault;
  readonly nextOrderId: () => Promise<OrderId>;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  /** How the card takes part in 3-D Secure, where the endpoint wants it to. */
  readonly findEnrolment: (endpoint: EndpointId, number: CardNumber) => Enrolment | undefined;
  /** Until the cardholder has been authenticated, and no longer; answers how to let go of it. */
  readonly hold: (order: Order, card: CardInHand) => Promise<() => void>;
  readonly carry: Carry;
  readonly clock: Clock;
  readonly inFlightMax: number;
};

/** The order that an identical request has begun, for one that could begin none any more. */
export type FindRepeat = (
  asked: Pick<AskedOrder, "merchantId" | "clientOrderId" | "sameness">,
) => Promise<Accepted | undefined>;

export function makeFindRepeat(needs: Pick<Needs, "findKnown" | "vault">): FindRepeat {
  return async ({ merchantId, clientOrderId, sameness }) => {
    const known = await needs.findKnown(merchantId, clientOrderId);
    return repeatAmong(known, needs.vault.digest(sameness));
  };
}

function repeatAmong(known: readonly Known[], digest: Buffer): Accepted | undefined {
  const same = known.find((earlier) => timingSafeEqual(earlier.digest, digest));
  if (same === undefined) return undefined;
  return { order: same.order, transaction: initialOf(same.order), repeated: true };
}

export function makeAccept(needs: Needs): Accept {
  return async (asked) => {
    if (needs.carry.count >= needs.inFlightMax) {
      return new Failure("storage_unavailable", "", "too many orders in flight");
    }
    const digest = needs.vault.digest(asked.sameness);
    let attempt = 1;
    for (;;) {
      const order = await tryAttempt(asked, attempt, digest);
      if (order instanceof Failure) return order;
      if (order !== "taken") return { order, transaction: order.transaction, repeated: false };

      const known = await needs.findKnown(asked.merchantId, asked.clientOrderId);
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
    asked: AskedOrder,
    attempt: number,
    digest: Buffer,
  ): Promise<Order | "taken" | Failure> {
    const id = await needs.nextOrderId();
    const { facts, sealed } = cardOf(asked, id);
    const order = { ...draft(asked, id), attempt, card: facts };
    const step = needs.advance(order, { kind: "received" }, order.acceptedAt);
    if (step instanceof Failure) return step;

    const { serialNumber, inHand } = asked;
    // Whoever goes on with it may be another node. What a crash leaves is destroyed by its time.
    const isSecure = step.order.transaction.threeds !== undefined;
    const letGo =
      isSecure && inHand !== undefined ? await needs.hold(step.order, inHand) : () => undefined;
    const begun = await needs.begin({ step, digest, serialNumber, card: sealed });
    if (begun === "taken") {
      letGo();
      return "taken";
    }
    needs.carry.start(step.order, { startedBefore: false, inHand });
    return step.order;
  }

  /** A new card is sealed under the order's own id; a registered one is in the vault already. */
  function cardOf(asked: AskedOrder, order: OrderId): HeldCard {
    const { merchantId, endpointId, card, inHand } = asked;
    if (card.kind === "none" || inHand === undefined) return { facts: noCard, sealed: undefined };
    const enrolment = needs.findEnrolment(endpointId, inHand.number);
    const secure = enrolment === undefined ? {} : { enrolment };
    if (card.kind === "registered") {
      // How it took part when it was registered is of no interest now.
      const { enrolment: _, ...facts } = card.facts;
      return { facts: { ...facts, ...secure }, sealed: undefined };
    }
    const cardId = asCardId(order);
    const fingerprint = needs.vault.fingerprint(merchantId, inHand.number);
    const issuer = needs.findIssuer(inHand.number.issuerPrefix);
    const known = issuer === undefined ? {} : { issuer };
    const facts = { ...card.facts, cardId, hashId: fingerprint.hashId, ...known, ...secure };
    return { facts, sealed: needs.vault.seal(merchantId, cardId, { ...inHand, fingerprint }) };
  }

  function draft(asked: AskedOrder, id: OrderId): Omit<Order, "attempt" | "card"> {
    const { kind, serialNumber, merchantId, endpointId, clientOrderId, purchase } = asked;
    return {
      id,
      merchantId,
      endpointId,
      clientOrderId,
      version: 0,
      acceptedAt: needs.clock.now(),
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
