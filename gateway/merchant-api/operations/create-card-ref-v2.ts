/** Card registration, version 2: makes a reference to the card of an approved payment. */
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
