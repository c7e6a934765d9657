/** Preauthorisation: holds an amount on a card, to be captured or cancelled later. */
import { operation } from "../operation.ts";
import { charge } from "../purchase.ts";
import { paidFields, payerFields, purchaseRules, walletFields } from "../purchase-fields.ts";

export const preauth = operation({
  name: "preauth",
  path: "/v2/preauth/{id}",
  purpose: "Holds an amount on a card. A capture charges it; a return cancels it.",
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  sync: true,
  rules: purchaseRules,
  handle: (request, context) => charge("preauth", request, context),
});
