/** Preauthorisation: holds an amount on a card, to be captured or cancelled later. */

import { charge } from "../begin-order.ts";
import { operation } from "../operation.ts";
import { purchaseRules } from "../purchase.ts";
import { paidFields, payerFields, walletFields } from "../purchase-fields.ts";

export const preauth = operation({
  name: "preauth",
  path: "/v2/preauth/{id}",
  purpose: "Holds an amount on a card. Capture takes it; return lets go of it.",
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  kept: true,
  sync: true,
  rules: purchaseRules,
  handle: (request, context) => charge("preauth", request, context),
});
