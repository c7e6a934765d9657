/** Card registration: makes a reference to the card of an approved payment. */
import { line } from "../fields.ts";
import { operation } from "../operation.ts";
import { registerCard, registrationFields } from "../recurring.ts";

export const createCardRefV2 = operation({
  name: "create-card-ref",
  path: "/v2/create-card-ref/{id}",
  purpose: "Registers the card of an approved payment for recurring payments.",
  request: {
    login: line(20, "merchant login"),
    ...registrationFields,
    control: line(40, "checksum"),
  },
  control: ["login", "client_orderid", "orderid"],
  versions: ["v2"],
  handle: (request, context) =>
    registerCard(request, context, ({ references, order }) => [
      ["status", "approved"],
      ["card-ref-id", references.card],
      ["unq-card-ref-id", order.card.hashId],
      ["end-point-id", order.endpointId],
    ]),
});

/** With OAuth, and with the ids for other interfaces. */
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
      ["card-ref-id", references.card],
      ["recurring-payment-id", references.recurring],
      ["dst-card-ref-id", references.destination],
      ["dst-recurring-payment-id", references.destination_recurring],
      ["end-point-id", order.endpointId],
    ]),
});
