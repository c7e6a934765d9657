/** The charges: sale, preauthorisation and account verification. */
import { Failure } from "../../values/failure.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Money } from "../../values/money.ts";
import { operation } from "../operation.ts";
import { begin, charge } from "../purchase.ts";
import { paidFields, payerFields, purchaseRules, walletFields } from "../purchase-fields.ts";

const payment = {
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  sync: true,
  rules: purchaseRules,
} as const;

export const sale = operation({
  ...payment,
  name: "sale",
  path: "/v2/sale/{id}",
  purpose: "Charges a card. The request is acknowledged at once; poll status for the result.",
  handle: (request, context) => charge("sale", request, context),
});

export const preauth = operation({
  ...payment,
  name: "preauth",
  path: "/v2/preauth/{id}",
  purpose: "Holds an amount on a card. A capture charges it; a return cancels it.",
  handle: (request, context) => charge("preauth", request, context),
});

export const accountVerification = operation({
  name: "account-verification",
  path: "/v2/account-verification/{id}",
  purpose: "Checks a card with its issuer for an amount of zero. Nothing is charged or held.",
  request: { client_orderid: paidFields.client_orderid, ...payerFields },
  control: ["{id}", "client_orderid", "email"],
  sync: true,
  rules: purchaseRules,

  async handle(request, context) {
    // The request has no currency, so any endpoint of a group will do.
    const [endpoint] = context.entryPoint.endpoints;
    if (endpoint === undefined) return new Failure("unknown_endpoint");
    const amount = new Money(0n, getCurrency(endpoint.currency));
    return begin("account-verification", request, { ...context, endpoint, amount });
  },
});
