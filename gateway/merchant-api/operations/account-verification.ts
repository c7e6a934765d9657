/** Account verification: asks the issuer whether a card is good, for no money at all. */

import { Failure } from "../../values/failure.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Money } from "../../values/money.ts";
import { begin } from "../begin-order.ts";
import { operation } from "../operation.ts";
import { purchaseRules } from "../purchase.ts";
import { paidFields, payerFields } from "../purchase-fields.ts";

export const accountVerification = operation({
  name: "account-verification",
  path: "/v2/account-verification/{id}",
  purpose: "Checks a card with its issuer for an amount of zero. Nothing is charged or held.",
  request: { client_orderid: paidFields.client_orderid, ...payerFields },
  control: ["{id}", "client_orderid", "email"],
  kept: true,
  sync: true,
  rules: purchaseRules,

  async handle(request, context) {
    // The request names no currency, so a group's first endpoint is as good as any.
    const [endpoint] = context.entryPoint.endpoints;
    if (endpoint === undefined) return new Failure("unknown_endpoint");
    const money = new Money(0n, getCurrency(endpoint.currency));
    return begin("account-verification", request, { ...context, endpoint, money });
  },
});
