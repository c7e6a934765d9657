/** Card registration, version 2: turns the card of an approved payment into card references. */

import { registration, registrationFields } from "../card-registration.ts";
import { line } from "../fields.ts";
import { operation } from "../operation.ts";

export const createCardRefV2 = operation({
  name: "create-card-ref",
  path: "/v2/create-card-ref/{id}",
  purpose: "Turns the card of an approved payment into a reference for recurrent payments.",
  request: {
    login: line(20, "merchant login"),
    ...registrationFields,
    control: line(40, "checksum"),
  },
  control: ["login", "client_orderid", "orderid"],
  versions: ["v2"],
  kept: true,
  sync: false,
  rules: () => [],
  handle: (request, context) =>
    registration(request, context, ({ references, order }) => [
      ["status", "approved"],
      ["card-ref-id", references.card],
      ["unq-card-ref-id", order.card.hashId],
      ["end-point-id", order.endpointId],
    ]),
});
