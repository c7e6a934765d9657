/** Card information: the data of a registered card that may be shown. */
import { Failure } from "../../values/failure.ts";
import { asCardRefId } from "../../values/ids.ts";
import { cardRefId, line } from "../fields.ts";
import { operation } from "../operation.ts";

export const cardInformation = operation({
  name: "get-card-info",
  path: "/v2/get-card-info/{id}",
  purpose: "Returns cardholder's name, expiry date, BIN and last four digits of a registered card.",

  // biome-ignore format: a table
  request: {
    login:     line(20, "merchant login"),
    cardrefid: cardRefId("card reference id from registration"),
    control:   line(128, "checksum"),
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
