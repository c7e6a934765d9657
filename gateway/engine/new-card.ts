/**
 * A card that comes with a payment: what may be known of it outside the vault, how it is sealed,
 * and its 3-D Secure enrolment. Merchants' requests and the payment page bring cards alike.
 */
import type { CardData } from "../orders/events.ts";
import type { CardFacts, Enrolment, Finding, Issuer, Order } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { CardId, EndpointId, MerchantId } from "../values/ids.ts";
import type { SealCard, Vault } from "../vault/vault.ts";

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
