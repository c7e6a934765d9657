/** Card sale: takes an order for a payment and acknowledges it; the result is read by status. */

import { charge } from "../begin-order.ts";
import { operation } from "../operation.ts";
import { purchaseRules } from "../purchase.ts";
import { paidFields, payerFields, walletFields } from "../purchase-fields.ts";

export const sale = operation({
  name: "sale",
  path: "/v2/sale/{id}",
  purpose: "Charges a card. The order is acknowledged at once and its result read by status.",
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  kept: true,
  sync: true,
  rules: purchaseRules,
  handle: (request, context) => charge("sale", request, context),
});
