/** Card information: what may be known of the card behind a reference. */

import { Failure } from "../../values/failure.ts";
import { asCardRefId } from "../../values/ids.ts";
import { cardRefId, line } from "../fields.ts";
import { operation } from "../operation.ts";

export const cardInformation = operation({
  name: "get-card-info",
  path: "/v2/get-card-info/{id}",
  purpose: "Tells what may be known of a registered card.",

  // biome-ignore format: a table
  request: {
    login:     line(20, "merchant login"),
    cardrefid: cardRefId("card reference id from registration"),
    control:   line(128, "checksum"),
  },

  control: ["login", "cardrefid"],
  kept: false,
  sync: false,
  rules: () => [],

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
