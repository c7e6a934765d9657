/** Return: gives money of a sale or a capture back, or lets go of what a preauthorisation holds. */

import { followUp, followUpControl, followUpFields, followUpRules } from "../follow-up.ts";
import { operation } from "../operation.ts";

export const returnMoney = operation({
  name: "return",
  path: "/v2/return/{id}",
  purpose:
    "Gives back what a sale or a capture took, all of it or a part, until nothing is left; of a " +
    "preauthorisation that is not captured it is a cancel.",
  request: followUpFields,
  control: followUpControl,
  kept: true,
  sync: true,
  rules: followUpRules,
  handle: (request, context) => followUp("return", request, context),
});
