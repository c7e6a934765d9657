/**
 * The cards of payments: those that come with one, and references to the card of an approved
 * payment, which are found again to pay with. A reference belongs to one merchant; another's is
 * never found.
 */
import {
  type CardReference,
  type CardReferences,
  isDeviceNumber,
  type Remover,
  refuseRegistration,
} from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { CardFacts, Enrolment, Finding, Issuer, Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { type CardNumber, isExpired } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { CardId, CardRefId, EndpointId, MerchantId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { SealCard, StoredCard, Vault } from "../vault/vault.ts";

export type NewReferences = Pick<CardReference, "merchantId" | "endpointId" | "orderId"> & {
  readonly cardId: CardId;
  readonly facts: Pick<CardReference, "card" | "networkId" | "isDevice">;
  readonly at: Instant;
  /** Used unless the card has its references already. */
  readonly ids: CardReferences;
};

/** The ids of a card that was registered before. A card whose ids were removed gets no new ones. */
export type Registration = {
  readonly ids: CardReferences;
  readonly removedBy: Remover | undefined;
};

export type CardOfMerchant = { readonly merchantId: MerchantId; readonly cardId: CardId };

export type MerchantReferences = {
  find(merchant: MerchantId, id: CardRefId): Promise<CardReference | undefined>;
  findByCard(merchant: MerchantId, card: CardId): Promise<Registration | undefined>;
  add(references: NewReferences): Promise<CardReferences>;
  /** All references to the card; false when they are removed already. */
  remove(card: CardOfMerchant, by: Remover, at: Instant): Promise<boolean>;
};

export type RemovedReferences = {
  /** Cards whose references were removed by then, and that no order in flight needs. */
  findRemoved(until: Instant): Promise<readonly CardOfMerchant[]>;
  markDestroyed(cards: readonly CardOfMerchant[], at: Instant): Promise<void>;
};

type Dependencies = {
  readonly store: MerchantReferences;
  readonly findCard: Vault["findCard"];
  readonly fingerprint: Vault["fingerprint"];
  readonly newReferenceId: () => CardRefId;
  readonly clock: Pick<Clock, "now">;
  /** How long after the card's expiry a reference may still be used. */
  readonly graceMs: number;
};

export type Cards = ReturnType<typeof makeCards>;

export function makeCards(dependencies: Dependencies) {
  const { store, findCard, fingerprint, newReferenceId, clock, graceMs } = dependencies;
  return {
    findRegistered,

    /** The references of an order's card: made by the first call, and returned by all others. */
    async register(order: Order): Promise<CardReferences | Failure> {
      const refusal = refuseRegistration(order);
      // An order that was paid may have been registered before it was refunded.
      if (refusal !== undefined && initialOf(order).stage !== "approved") return refusal;
      const { merchantId, endpointId, id: orderId, card } = order;
      const { cardId } = card;
      const device = isDeviceNumber(order) ? { isDevice: true as const } : {};
      const known = await findRegistered(order);
      if (known !== undefined) return known;
      if (refusal !== undefined) return refusal;
      const stored = await findCard(merchantId, cardId);
      if (!isUsable(stored)) return cardDestroyed;
      // The order's may be that of a key of fingerprints that is being replaced.
      const { hashId } = fingerprint(merchantId, stored.number);
      return store.add({
        merchantId,
        cardId,
        endpointId,
        orderId,
        facts: {
          card: { ...card, hashId },
          networkId: initialOf(order).answer?.networkId,
          ...device,
        },
        at: clock.now(),
        ids: {
          card: newReferenceId(),
          recurring: newReferenceId(),
          destination: newReferenceId(),
          destination_recurring: newReferenceId(),
        },
      });
    },

    /** A reference that can be paid with, or why it cannot. */
    async find({ merchant }: EntryPoint, id: CardRefId): Promise<CardReference | Failure> {
      const reference = await store.find(merchant.id, id);
      // The other ids of a registration are for other interfaces.
      if (reference === undefined || reference.purpose !== "card") {
        return new Failure("card_reference_not_found");
      }
      const removed = refuseRemoved(reference.removedBy, new Failure("card_reference_not_found"));
      if (removed !== undefined) return removed;
      const { expiryMonth, expiryYear } = reference.card;
      return isExpired(expiryMonth, expiryYear, clock.now(), graceMs)
        ? new Failure("card_reference_expired")
        : reference;
    },

    /** Ends all references to the card. A second call finds no reference. */
    async remove({ merchant }: EntryPoint, id: CardRefId): Promise<CardReference | Failure> {
      const reference = await store.find(merchant.id, id);
      const missing = new Failure("card_reference_not_found");
      if (reference === undefined || reference.purpose !== "card") return missing;
      const { merchantId, card } = reference;
      const removed = await store.remove(
        { merchantId, cardId: card.cardId },
        "merchant",
        clock.now(),
      );
      return removed ? reference : missing;
    },

    /** The card behind it; nothing when the vault no longer has it. */
    async findCardData({ merchantId, card }: CardReference): Promise<CardData | undefined> {
      const found = await findCard(merchantId, card.cardId);
      return isUsable(found) ? { ...found, cvv: undefined } : undefined;
    },
  };

  /** The references that the order's card has already, or undefined if none were made. */
  async function findRegistered({ merchantId, card }: Pick<Order, "merchantId" | "card">) {
    const known = await store.findByCard(merchantId, card.cardId);
    return known && (refuseRemoved(known.removedBy, removedCard) ?? known.ids);
  }
}

/** A condemned card begins no new order. */
export function isUsable(card: StoredCard | undefined): card is StoredCard {
  return card !== undefined && !card.isCondemned;
}

export const cardDestroyed = new Failure("not_allowed_now", "the card number was destroyed");
const removedCard = new Failure("not_allowed_now", "the card was removed");

/** A merchant that removed the card gets 8; one whose operator removed it gets 15, to know it. */
function refuseRemoved(by: Remover | undefined, known: Failure): Failure | undefined {
  if (by === undefined) return undefined;
  return by === "merchant" ? known : new Failure("card_reference_removed");
}

export type NewCardDependencies = {
  readonly vault: Pick<Vault, "seal" | "fingerprint" | "cardDigest" | "cardNames">;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  /** The card's 3-D Secure enrolment, where the endpoint or a rule authenticates cardholders. */
  readonly findEnrolment: (
    endpoint: EndpointId,
    number: CardNumber,
    isForced?: boolean,
  ) => Enrolment | undefined;
};

/** Sealed by the statement that writes it, or not at all where the vault has it already. */
export type NewCard = { readonly facts: CardFacts; readonly sealCard?: SealCard };

/**
 * A card that comes with a payment: what may be known of it outside the vault, how it is sealed,
 * and its 3-D Secure enrolment. Merchants' requests and the payment page bring cards alike.
 */
export function makeNewCards({ vault, findIssuer, findEnrolment }: NewCardDependencies) {
  return {
    /**
     * A registered card. The enrolment of the payment that registered it does not count here, and
     * the hash id may be that of a key of fingerprints that is being replaced.
     */
    readRegistered(
      { merchantId, endpointId }: Pick<Order, "merchantId" | "endpointId">,
      { enrolment: _, ...facts }: CardFacts,
      { number }: CardData,
    ): NewCard {
      const { hashId } = vault.fingerprint(merchantId, number);
      const enrolment = findEnrolment(endpointId, number);
      return { facts: { ...facts, hashId, ...(enrolment === undefined ? {} : { enrolment }) } };
    },

    read(
      { merchantId, endpointId }: Pick<Order, "merchantId" | "endpointId">,
      cardId: CardId,
      brought: Omit<CardFacts, "cardId" | "hashId">,
      cardData: CardData,
    ): NewCard {
      const { number } = cardData;
      const { fingerprint, hashId } = vault.fingerprint(merchantId, number);
      const issuer = findIssuer(number.issuerPrefix);
      const enrolment = findEnrolment(endpointId, number);
      const facts = {
        ...brought,
        cardId,
        hashId,
        ...(issuer === undefined ? {} : { issuer }),
        ...(enrolment === undefined ? {} : { enrolment }),
      };
      const card = { ...cardData, fingerprint };
      return { facts, sealCard: () => vault.seal(merchantId, cardId, card) };
    },

    /**
     * The digests of the card, which are the same at all merchants, and of the request, which are
     * the same for its repeats.
     */
    digestsOf(merchantId: MerchantId, cardData: CardData | undefined, request: Uint8Array) {
      const number = cardData?.number;
      const cardNames = number === undefined ? [] : vault.cardNames(merchantId, number);
      const card = number && vault.cardDigest(number);
      return { card, cardNames, prefix: number?.issuerPrefix, request };
    },

    /** A rule forces 3-D Secure, also where the endpoint has none. */
    withEnrolment(
      order: Order,
      cardData: CardData | undefined,
      findings: readonly Finding[],
    ): Order {
      const isForced = findings.some((each) => "action" in each && each.action === "force_3ds");
      if (!isForced || cardData === undefined || order.card.enrolment !== undefined) return order;
      const enrolment = findEnrolment(order.endpointId, cardData.number, true);
      return enrolment === undefined ? order : { ...order, card: { ...order.card, enrolment } };
    },
  };
}
