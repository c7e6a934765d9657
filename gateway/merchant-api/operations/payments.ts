/** The operations of payments: charges, their follow-ups, and charges of a registered card. */
import type { ChargeKind, FollowUpTerms } from "../../orders/order.ts";
import { Failure } from "../../values/failure.ts";
import { asOrderId } from "../../values/ids.ts";
import { parseAmount } from "../../values/money.ts";
import { amountFaults } from "../control.ts";
import * as field from "../fields.ts";
import { type Context, type Operation, operation, type Repeats, type Reply } from "../operation.ts";
import { begin, charge, chargeSubject, withoutAmount } from "../purchase.ts";
import { paidFields, payerFields, purchaseRules, walletFields } from "../purchase-fields.ts";
import { rebill, rebillControl, rebillFields, rebillRules, rebillSubject } from "../recurring.ts";
import { acknowledge } from "../reply.ts";

const payment = {
  request: { ...paidFields, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  sync: true,
  rules: purchaseRules,
} as const;

function repeatsOf(kind: ChargeKind): Repeats {
  return { subjectOf: (endpoint) => chargeSubject(kind, endpoint), answer: acknowledge };
}

export const sale = operation({
  ...payment,
  name: "sale",
  path: "/v2/sale/{id}",
  purpose: "Charges a card. The request is acknowledged at once; poll status for the result.",
  repeats: repeatsOf("sale"),
  handle: (request, context) => charge("sale", request, context),
});

export const preauth = operation({
  ...payment,
  name: "preauth",
  path: "/v2/preauth/{id}",
  purpose: "Holds an amount on a card. A capture charges it; a return cancels it.",
  repeats: repeatsOf("preauth"),
  handle: (request, context) => charge("preauth", request, context),
});

export const accountVerification = operation({
  name: "account-verification",
  path: "/v2/account-verification/{id}",
  purpose: "Checks a card with its issuer for an amount of zero. Nothing is charged or held.",
  request: { client_orderid: paidFields.client_orderid, ...payerFields, ...walletFields },
  control: ["{id}", "client_orderid", "email"],
  sync: true,
  rules: purchaseRules,
  repeats: repeatsOf("account-verification"),

  async handle(request, context) {
    const priced = withoutAmount(context);
    return priced instanceof Failure ? priced : begin("account-verification", request, priced);
  },
});

const followUpFields = {
  login: field.line(20, "merchant login"),
  client_orderid: field.clientOrderId("merchant order id"),
  orderid: field.orderId("service order id"),
  amount: field.optional(
    field.amount("amount to capture or return; by default the whole remaining amount"),
  ),
  currency: field.conditional(field.currency("currency of the order; mandatory with an amount")),
  comment: field.optional(
    field.line(50, "short comment; two requests that differ only in it are different requests"),
  ),
  control: field.checksum(),
} as const;

/** The checksum does not cover amount and currency, so they only confirm the charge. */
const voidFields = {
  ...followUpFields,
  amount: field.optional(field.amount("confirms the charged amount; only all of it can be voided")),
} as const;

const following = {
  request: followUpFields,
  control: ["login", "client_orderid", "orderid", { moneyIfSent: "amount" }],
  sync: true,
  rules: followUpRules,
} as const;

export const capture = operation({
  ...following,
  name: "capture",
  goesOn: "for_disabled_endpoints",
  path: "/v2/capture/{id}",
  purpose: "Charges the amount that a preauthorisation holds, in full or in part, once.",
  handle: (request, context) => followUp("capture", request, context),
});

export const returnMoney = operation({
  ...following,
  name: "return",
  goesOn: "for_disabled_endpoints",
  path: "/v2/return/{id}",
  purpose:
    "Refunds a sale or a capture, in full or in parts up to the charged amount; cancels a " +
    "preauthorisation that is not captured.",
  handle: (request, context) => followUp("return", request, context),
});

export const voidCharge = operation({
  ...following,
  rules: voidRules,
  request: voidFields,
  control: ["login", "client_orderid", "orderid"],
  name: "void",
  goesOn: "for_disabled_endpoints",
  path: "/v2/void/{id}",
  purpose:
    "Takes an approved sale or capture back whole, before it is cleared. Later, or for a part of " +
    "it, use return.",
  handle: (request, context) => followUp("void", request, context),
});

const rebilling = {
  request: rebillFields,
  control: rebillControl,
  sync: true,
  rules: rebillRules,
} as const;

export const makeRebill: Operation = operation({
  ...rebilling,
  name: "make-rebill",
  path: "/v2/make-rebill/{id}",
  purpose:
    "Charges a registered card. The request is acknowledged at once; poll status for the result.",
  repeats: { subjectOf: (endpoint) => rebillSubject("sale", endpoint), answer: acknowledge },
  handle: (request, context) => rebill("sale", request, context),
});

/** The same operation under a second name, which matches make-rebill-preauth. */
export const makeRebillSale: Operation = {
  ...makeRebill,
  name: "make-rebill-sale",
  path: "/v2/make-rebill-sale/{id}",
};

export const makeRebillPreauth = operation({
  ...rebilling,
  name: "make-rebill-preauth",
  path: "/v2/make-rebill-preauth/{id}",
  purpose: "Holds an amount on a registered card, to be captured or cancelled later.",
  repeats: { subjectOf: (endpoint) => rebillSubject("preauth", endpoint), answer: acknowledge },
  handle: (request, context) => rebill("preauth", request, context),
});

type FollowUpValues = field.Values<typeof followUpFields>;

/** A currency without an amount is not signed and has no meaning. */
function followUpRules({ amount: sent, currency: code }: FollowUpValues) {
  const isAlone = code !== undefined && sent === undefined;
  return isAlone ? [new Failure("missing_parameter", "amount")] : [];
}

/** The checksum has not read the amount, so it may be unreadable or without a currency. */
function voidRules(_request: FollowUpValues, { sent, entryPoint }: Context): readonly Failure[] {
  return amountFaults([{ moneyIfSent: "amount" }], sent, entryPoint);
}

async function followUp(
  operation: FollowUpTerms["operation"],
  request: FollowUpValues,
  { entryPoint, serialNumber, services }: Context,
): Promise<Reply | Failure> {
  const { client_orderid: clientOrderId, amount: sent, currency: code, comment } = request;
  const money = sent === undefined || code === undefined ? undefined : parseAmount(sent, code);
  const accepted = await services.orders.followUp(entryPoint, {
    wanted: { clientOrderId, orderId: asOrderId(request.orderid) },
    serialNumber,
    request: {
      operation,
      amount: money,
      comment,
      ...(operation === "void" && code !== undefined && { currency: code.code }),
    },
  });
  return accepted instanceof Failure ? accepted : acknowledge(accepted);
}
