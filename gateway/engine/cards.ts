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
import type { Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { isExpired } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { CardId, CardRefId, MerchantId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";

export type NewReferences = Pick<CardReference, "merchantId" | "endpointId" | "orderId"> & {
  readonly cardId: CardId;
  readonly facts: Pick<CardReference, "card" | "networkId">;
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

type Dependencies = {
  readonly store: ReferenceStore;
  readonly findCard: Vault["findCard"];
  readonly newReferenceId: () => CardRefId;
  readonly clock: Clock;
  /** How long after the card's expiry a reference may still be used. */
  readonly graceMs: number;
};

export type Cards = ReturnType<typeof makeCards>;

export function makeCards(dependencies: Dependencies) {
  const { store, findCard, newReferenceId, clock, graceMs } = dependencies;
  return {
    /** The references of an order's card: made by the first call, and returned by all others. */
    async register(order: Order): Promise<CardReferences | Failure> {
      const refusal = refuseRegistration(order);
      if (refusal !== undefined) return refusal;
      const { merchantId, endpointId, id: orderId, card } = order;
      const { cardId } = card;
      const known = await store.findByCard(merchantId, cardId);
      if (known !== undefined) {
        return known.removed ? new Failure("card_reference_removed") : known.ids;
      }
      if ((await findCard(merchantId, cardId)) === undefined) {
        return new Failure("not_allowed_now", "the card is no longer held");
      }
      return store.add({
        ...{ merchantId, cardId, endpointId, orderId },
        facts: { card, networkId: initialOf(order).answer?.networkId },
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
      if (reference.removedAt !== undefined) return new Failure("card_reference_removed");
      const { expiryMonth, expiryYear } = reference.card;
      return isExpired(expiryMonth, expiryYear, clock.now(), graceMs)
        ? new Failure("card_reference_expired")
        : reference;
    },

    /** The card behind it; nothing when the vault no longer has it. */
    async findCardData({ merchantId, card }: CardReference): Promise<CardData | undefined> {
      const found = await findCard(merchantId, card.cardId);
      return found && { ...found, cvv: undefined };
    },
  };
}
