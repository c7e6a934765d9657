/** The cards of approved payments: registration, and the data of a registered card. */
import { shownHashId } from "../../orders/card-reference.ts";
import type { Order } from "../../orders/order.ts";
import { initialOf } from "../../orders/transactions.ts";
import { Failure } from "../../values/failure.ts";
import { asCardRefId, type CardRefId } from "../../values/ids.ts";
import { cardRefId, checksum, line } from "../fields.ts";
import { operation } from "../operation.ts";
import { registerCard, registrationFields } from "../recurring.ts";

export const createCardRefV2 = operation({
  name: "create-card-ref",
  path: "/v2/create-card-ref/{id}",
  purpose: "Registers the card of an approved payment for recurring payments.",
  request: {
    login: line(20, "merchant login"),
    ...registrationFields,
    control: checksum(),
  },
  control: ["login", "client_orderid", "orderid"],
  versions: ["v2"],
  handle: (request, context) =>
    registerCard(request, context, ({ references, order }) => [
      ["status", "approved"],
      ["card-ref-id", ifCharged(order, references.card)],
      ["unq-card-ref-id", shownHashId(order)],
      ["dst-card-ref-id", isPayout(order) ? references.destination : undefined],
      ["end-point-id", order.endpointId],
    ]),
});

/** A card that was only paid out to is registered for payouts alone. */
function ifCharged(order: Order, id: CardRefId): CardRefId | undefined {
  return isPayout(order) ? undefined : id;
}

function isPayout(order: Order): boolean {
  return initialOf(order).kind === "payout";
}

/** Signed by OAuth, with the ids for other interfaces in its reply. */
export const createCardRefV4 = operation({
  name: "create-card-ref-v4",
  path: "/v4/create-card-ref/{id}",
  purpose:
    "Registers the card of an approved payment for recurring payments; authenticated by OAuth.",
  request: registrationFields,
  control: [],
  versions: ["v4"],
  handle: (request, context) =>
    registerCard(request, context, ({ references, order }) => [
      ["status", "approved"],
      ["card-ref-id", ifCharged(order, references.card)],
      ["recurring-payment-id", ifCharged(order, references.recurring)],
      ["dst-card-ref-id", references.destination],
      ["dst-recurring-payment-id", references.destination_recurring],
      ["end-point-id", order.endpointId],
    ]),
});

export const removeCardRef = operation({
  name: "remove-card-ref",
  path: "/v2/remove-card-ref/{id}",
  purpose: "Removes a registered card: no payment can be made with it any more.",

  request: {
    login: line(20, "merchant login"),
    cardrefid: cardRefId("card reference id from registration"),
    control: checksum(),
  },

  control: ["login", "cardrefid"],

  async handle({ cardrefid }, { entryPoint, services }) {
    const removed = await services.cards.remove(entryPoint, asCardRefId(cardrefid));
    if (removed instanceof Failure) return removed;
    return { type: "remove-card-ref-response", fields: [["card-ref-id", removed.id]] };
  },
});

export const cardInformation = operation({
  name: "get-card-info",
  path: "/v2/get-card-info/{id}",
  purpose: "Returns cardholder's name, expiry date, BIN and last four digits of a registered card.",

  request: {
    login: line(20, "merchant login"),
    cardrefid: cardRefId("card reference id from registration"),
    control: checksum(128),
  },

  control: ["login", "cardrefid"],
  isQuery: true,

  async handle({ cardrefid }, { entryPoint, services }) {
    const reference = await services.cards.find(entryPoint, asCardRefId(cardrefid));
    if (reference instanceof Failure) return reference;
    const { card } = reference;
    return {
      type: "get-card-info-response",
      fields: [
        ["card-printed-name", card.holderName],
        ["expire-year", card.expiryYear],
        ["expire-month", card.expiryMonth],
        ["bin", card.bin],
        ["last-four-digits", card.lastFour],
      ],
    };
  },
});
