/** Capture: charges the amount that a preauthorisation holds, or a part of it, once. */
import { followUp, followUpControl, followUpFields, followUpRules } from "../existing-order.ts";
import { operation } from "../operation.ts";

export const capture = operation({
  name: "capture",
  path: "/v2/capture/{id}",
  purpose: "Charges the amount that a preauthorisation holds, in full or in part, once.",
  request: followUpFields,
  control: followUpControl,
  sync: true,
  rules: followUpRules,
  handle: (request, context) => followUp("capture", request, context),
});
