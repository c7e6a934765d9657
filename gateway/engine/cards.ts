/**
 * The cards of payments. A request brings a new card, or a reference to the card of an approved
 * payment. Other merchants cannot find the reference.
 */
import {
  type CardReference,
  type CardReferences,
  isDeviceNumber,
  type ReferencePurpose,
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
  readonly facts: Pick<
    CardReference,
    "card" | "networkId" | "isDevice" | "profile" | "updateDigests"
  >;
  readonly at: Instant;
  /** The ids of the card's new references. Ignored if the card already has references. */
  readonly ids: CardReferences;
};

/** If `removedBy` is set, the card's references were removed, so this order gets no new ones. */
export type Registration = {
  readonly ids: CardReferences;
  readonly removedBy: Remover | undefined;
};

export type CardOfMerchant = { readonly merchantId: MerchantId; readonly cardId: CardId };

export type MerchantReferences = {
  find(merchant: MerchantId, id: CardRefId): Promise<CardReference | undefined>;
  findByCard(merchant: MerchantId, card: CardId): Promise<Registration | undefined>;
  add(references: NewReferences): Promise<CardReferences>;
  /**
   * Removes all references to the card that this reference leads to. Returns the card, or undefined
   * if its references were removed before.
   */
  remove(
    reference: Pick<CardReference, "merchantId" | "id">,
    by: Remover,
    at: Instant,
  ): Promise<CardId | undefined>;
};

export type RemovedReferences = {
  /** Finds cards whose references were removed before `until` and that no order in flight needs. */
  findRemoved(until: Instant): Promise<readonly CardOfMerchant[]>;
  markDestroyed(cards: readonly CardOfMerchant[], at: Instant): Promise<void>;
};

type Dependencies = {
  readonly store: MerchantReferences;
  readonly findCard: Vault["findCard"];
  readonly fingerprint: Vault["fingerprint"];
  readonly newReferenceId: () => CardRefId;
  readonly clock: Pick<Clock, "now">;
  /** For how long a reference stays usable after its card has expired. */
  readonly graceMs: number;
};

export type Cards = ReturnType<typeof makeCards>;

export function makeCards(dependencies: Dependencies) {
  const { store, findCard, fingerprint, newReferenceId, clock, graceMs } = dependencies;
  return {
    findRegistered,

    /** The first call for a card creates its references, and later calls return them. */
    async register(order: Order): Promise<CardReferences | Failure> {
      const refusal = refuseRegistration(order);
      // A refunded order cannot register its card, but gets references that already exist.
      if (refusal !== undefined && initialOf(order).stage !== "approved") return refusal;
      const { merchantId, endpointId, id: orderId, card } = order;
      const { cardId } = card;
      const device = isDeviceNumber(order) ? { isDevice: true as const } : {};
      const known = await findRegistered(order);
      if (known !== undefined) return known;
      if (refusal !== undefined) return refusal;
      const stored = await findCard(merchantId, cardId);
      if (!isUsable(stored)) return cardDestroyed;
      // The order's hash id may come from an old fingerprint key, so the id is computed again.
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

    /** Returns a reference for a payment, or the reason why it cannot be used. */
    async find(
      { merchant }: EntryPoint,
      id: CardRefId,
      ...purposes: readonly ReferencePurpose[]
    ): Promise<CardReference | Failure> {
      const reference = await findUnremoved(
        merchant.id,
        id,
        purposes.length === 0 ? ["card"] : purposes,
      );
      if (reference instanceof Failure) return reference;
      if (reference.stoppedAt !== undefined)
        return new Failure("card_reference_removed", "stopped");
      const { expiryMonth, expiryYear } = reference.card;
      // A card that only received payouts may have no expiry date.
      const isDated = expiryMonth !== "";
      return isDated && isExpired(expiryMonth, expiryYear, clock.now(), graceMs)
        ? new Failure("card_reference_expired")
        : reference;
    },

    /** Returns the profile even if it is stopped. */
    findProfile: ({ merchant }: EntryPoint, id: CardRefId) =>
      findUnremoved(merchant.id, id, ["recurring", "destination_recurring"]),

    /** Fails if the card's references are already removed. */
    async remove({ merchant }: EntryPoint, id: CardRefId): Promise<CardReference | Failure> {
      const reference = await store.find(merchant.id, id);
      const missing = new Failure("card_reference_not_found");
      if (reference === undefined || !removable.has(reference.purpose)) return missing;
      const removed = await store.remove(reference, "merchant", clock.now());
      return removed === undefined ? missing : reference;
    },

    /** Returns undefined if the vault no longer has the card number. */
    async findCardData({ merchantId, card }: CardReference): Promise<CardData | undefined> {
      const found = await findCard(merchantId, card.cardId);
      return isUsable(found) ? { ...found, cvv: undefined } : undefined;
    },
  };

  async function findUnremoved(
    merchant: MerchantId,
    id: CardRefId,
    purposes: readonly ReferencePurpose[],
  ): Promise<CardReference | Failure> {
    const missing = new Failure("card_reference_not_found");
    const reference = await store.find(merchant, id);
    if (reference === undefined || !purposes.includes(reference.purpose)) return missing;
    // Only the removal of its card removes a profile, so a missing one has a removed card's error.
    const known = purposes.includes("card") ? missing : new Failure("card_reference_removed");
    return refuseRemoved(reference.removedBy, known) ?? reference;
  }

  async function findRegistered({ merchantId, card }: Pick<Order, "merchantId" | "card">) {
    const known = await store.findByCard(merchantId, card.cardId);
    return known && (refuseRemoved(known.removedBy, removedCard) ?? known.ids);
  }
}

/** A merchant may remove a card by its reference for payments or by its reference for payouts. */
const removable: ReadonlySet<CardReference["purpose"]> = new Set(["card", "destination"]);

/** No new order may use a condemned card. */
export function isUsable(card: StoredCard | undefined): card is StoredCard {
  return card !== undefined && !card.isCondemned;
}

export const cardDestroyed = new Failure("not_allowed_now", "the card number was destroyed");
const removedCard = new Failure("not_allowed_now", "the card was removed");

/** A merchant gets error 8 for a card that it has removed, and 15 for one that the operator has. */
function refuseRemoved(by: Remover | undefined, known: Failure): Failure | undefined {
  if (by === undefined) return undefined;
  return by === "merchant" ? known : new Failure("card_reference_removed");
}

export type NewCardDependencies = {
  readonly vault: Pick<Vault, "seal" | "fingerprint" | "cardDigest" | "cardNames">;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  /** `isForced` means that a screening rule demands 3-D Secure where the endpoint does not. */
  readonly findEnrolment: (
    endpoint: EndpointId,
    number: CardNumber,
    isForced?: boolean,
  ) => Enrolment | undefined;
};

/** `sealCard` is absent if the vault already has the card. */
export type NewCard = { readonly facts: CardFacts; readonly sealCard?: SealCard };

/** Makes the card of an order from the data in a merchant's request or on the payment page. */
export function makeNewCards({ vault, findIssuer, findEnrolment }: NewCardDependencies) {
  return {
    /** Looks up a registered card's enrolment again, and makes its hash id with the current key. */
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

    /** `card` is the same at all merchants, `request` the same for all repeats of the request. */
    digestsOf(merchantId: MerchantId, cardData: CardData | undefined, request: Uint8Array) {
      const number = cardData?.number;
      const cardNames = number === undefined ? [] : vault.cardNames(merchantId, number);
      const card = number && vault.cardDigest(number);
      return { card, cardNames, prefix: number?.issuerPrefix, request };
    },

    /** A screening rule may force 3-D Secure on an order whose endpoint does not use it. */
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
