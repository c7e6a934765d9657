/**
 * Card references: made from the card of an approved payment, and found again to pay with. A
 * reference belongs to one merchant; another's is never found.
 */
import {
  type CardReference,
  type CardReferences,
  refuseRegistration,
} from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { CardFacts, Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { isExpired } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { CardId, CardRefId, EndpointId, MerchantId, OrderId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";

export type NewReferences = {
  readonly merchantId: MerchantId;
  readonly cardId: CardId;
  readonly endpointId: EndpointId;
  readonly orderId: OrderId;
  readonly facts: { readonly card: CardFacts; readonly networkId: string | undefined };
  readonly at: Instant;
  /** Used unless the card has its references already. */
  readonly ids: CardReferences;
};

/** The ids of a card that was registered before; when they are removed, none is given anew. */
export type Registration = { readonly ids: CardReferences; readonly removed: boolean };

export type ReferenceStore = {
  find(merchant: MerchantId, id: CardRefId): Promise<CardReference | undefined>;
  findByCard(merchant: MerchantId, card: CardId): Promise<Registration | undefined>;
  add(references: NewReferences): Promise<CardReferences>;
  remove(merchant: MerchantId, card: CardId, at: Instant): Promise<boolean>;
};

export type Cards = {
  register(order: Order): Promise<CardReferences | Failure>;
  /** A reference that can be paid with, or why it cannot. */
  find(entryPoint: EntryPoint, id: CardRefId): Promise<CardReference | Failure>;
  /** The card behind it; nothing when the vault no longer has it. */
  findCardData(reference: CardReference): Promise<CardData | undefined>;
};

type Dependencies = {
  readonly store: ReferenceStore;
  readonly findCard: (
    merchant: MerchantId,
    card: CardId,
  ) => Promise<Omit<CardData, "cvv"> | undefined>;
  readonly newReferenceId: () => CardRefId;
  readonly clock: Clock;
  /** How long after the card's expiry a reference may still be used. */
  readonly graceMs: number;
};

export function makeCards({
  store,
  findCard,
  newReferenceId,
  clock,
  graceMs,
}: Dependencies): Cards {
  return {
    async register(order) {
      const refusal = refuseRegistration(order);
      if (refusal !== undefined) return refusal;
      const { merchantId, endpointId, card } = order;
      const known = await store.findByCard(merchantId, card.cardId);
      if (known !== undefined) {
        return known.removed ? new Failure("card_reference_removed") : known.ids;
      }
      if ((await findCard(merchantId, card.cardId)) === undefined) {
        return new Failure("not_allowed_now", "the card is no longer held");
      }
      return store.add({
        merchantId,
        cardId: card.cardId,
        endpointId,
        orderId: order.id,
        facts: { card, networkId: initialOf(order).answer?.networkId },
        at: clock.now(),
        ids: newReferences(newReferenceId),
      });
    },

    async find({ merchant }, id) {
      const reference = await store.find(merchant.id, id);
      // The other ids of a registration are for other interfaces.
      if (reference === undefined || reference.purpose !== "card") {
        return new Failure("card_reference_not_found");
      }
      if (reference.removedAt !== undefined) return new Failure("card_reference_removed");
      const { expiryMonth, expiryYear } = reference.card;
      return isExpired(expiryMonth, expiryYear, clock.now(), graceMs)
        ? new Failure("card_reference_expired")
        : reference;
    },

    async findCardData({ merchantId, card }) {
      const held = await findCard(merchantId, card.cardId);
      return held === undefined ? undefined : { ...held, cvv: undefined };
    },
  };
}

function newReferences(newId: () => CardRefId): CardReferences {
  return {
    card: newId(),
    recurring: newId(),
    destination: newId(),
    destination_recurring: newId(),
  };
}
