/** Card registration, version 4: with OAuth, and with the ids for other interfaces. */
import { operation } from "../operation.ts";
import { registerCard, registrationFields } from "../recurring.ts";

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
