/** What follows an approved charge: capture and return. */
import { followUp, followUpControl, followUpFields, followUpRules } from "../existing-order.ts";
import { operation } from "../operation.ts";

const shared = {
  request: followUpFields,
  control: followUpControl,
  sync: true,
  rules: followUpRules,
} as const;

export const capture = operation({
  ...shared,
  name: "capture",
  path: "/v2/capture/{id}",
  purpose: "Charges the amount that a preauthorisation holds, in full or in part, once.",
  handle: (request, context) => followUp("capture", request, context),
});

export const returnMoney = operation({
  ...shared,
  name: "return",
  path: "/v2/return/{id}",
  purpose:
    "Refunds a sale or a capture, in full or in parts up to the charged amount; cancels a " +
    "preauthorisation that is not captured.",
  handle: (request, context) => followUp("return", request, context),
});
