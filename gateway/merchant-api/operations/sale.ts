/** Card sale: charges a card. */
import { operation } from "../operation.ts";
import { charge } from "../purchase.ts";
import { paidFields, payerFields, purchaseRules, walletFields } from "../purchase-fields.ts";

export const sale = operation({
  name: "sale",
  path: "/v2/sale/{id}",
  purpose: "Charges a card. The request is acknowledged at once; poll status for the result.",
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  sync: true,
  rules: purchaseRules,
  handle: (request, context) => charge("sale", request, context),
});
