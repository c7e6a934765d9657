/** Return: refunds a sale or a capture, or cancels a preauthorisation. */
import { followUp, followUpControl, followUpFields, followUpRules } from "../existing-order.ts";
import { operation } from "../operation.ts";

export const returnMoney = operation({
  name: "return",
  path: "/v2/return/{id}",
  purpose:
    "Refunds a sale or a capture, in full or in parts up to the charged amount; cancels a " +
    "preauthorisation that is not captured.",
  request: followUpFields,
  control: followUpControl,
  sync: true,
  rules: followUpRules,
  handle: (request, context) => followUp("return", request, context),
});
