/** Account verification: asks the issuer whether a card is valid, for an amount of zero. */
import { Failure } from "../../values/failure.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Money } from "../../values/money.ts";
import { operation } from "../operation.ts";
import { begin } from "../purchase.ts";
import { paidFields, payerFields, purchaseRules } from "../purchase-fields.ts";

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
