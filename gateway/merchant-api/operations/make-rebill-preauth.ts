/** Recurring payment, preauthorised: holds an amount on a registered card. */
import { operation } from "../operation.ts";
import { rebill, rebillControl, rebillFields, rebillRules } from "../recurring.ts";

export const makeRebillPreauth = operation({
  name: "make-rebill-preauth",
  path: "/v2/make-rebill-preauth/{id}",
  purpose: "Holds an amount on a registered card, to be captured or cancelled later.",
  request: rebillFields,
  control: rebillControl,
  sync: true,
  rules: rebillRules,
  handle: (request, context) => rebill("preauth", request, context),
});
