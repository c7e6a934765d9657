/** Recurrent payment: charges a card that was registered with an earlier payment. */

import { type Operation, operation } from "../operation.ts";
import { rebill, rebillRules } from "../rebill.ts";
import { rebillControl, rebillFields } from "../rebill-fields.ts";

export const makeRebill: Operation = operation({
  name: "make-rebill",
  path: "/v2/make-rebill/{id}",
  purpose:
    "Charges a registered card. The order is acknowledged at once and its result read by status.",
  request: rebillFields,
  control: rebillControl,
  kept: true,
  sync: true,
  rules: rebillRules,
  handle: (request, context) => rebill("sale", request, context),
});

/** The same under another name, beside the preauthorised form. */
export const makeRebillSale: Operation = {
  ...makeRebill,
  name: "make-rebill-sale",
  path: "/v2/make-rebill-sale/{id}",
};
