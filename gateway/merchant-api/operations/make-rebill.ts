/** Recurring payments: charge, or hold an amount on, a card that an earlier payment registered. */
import { type Operation, operation } from "../operation.ts";
import { rebill, rebillControl, rebillFields, rebillRules } from "../recurring.ts";

export const makeRebill: Operation = operation({
  name: "make-rebill",
  path: "/v2/make-rebill/{id}",
  purpose:
    "Charges a registered card. The request is acknowledged at once; poll status for the result.",
  request: rebillFields,
  control: rebillControl,
  sync: true,
  rules: rebillRules,
  handle: (request, context) => rebill("sale", request, context),
});

/** The same operation under the name that pairs with make-rebill-preauth. */
export const makeRebillSale: Operation = {
  ...makeRebill,
  name: "make-rebill-sale",
  path: "/v2/make-rebill-sale/{id}",
};

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
