/**
 * The operations of the payment page: the cardholder pays at the URL in the reply, so that the
 * merchant never has card data. The page asks for the customer fields that the endpoint wants and
 * the merchant has not sent.
 */
import type { ChargeKind } from "../../orders/order.ts";
import type { FoundOrder } from "../../orders/requests.ts";
import { Failure } from "../../values/failure.ts";
import type { EndpointId } from "../../values/ids.ts";
import * as field from "../fields.ts";
import { type Context, operation, type Repeats, type Reply } from "../operation.ts";
import {
  type PurchaseContext,
  readPurchase,
  refuseExtension,
  requestFingerprintOf,
  withAmount,
  withoutAmount,
} from "../purchase.ts";
import { addressFaults, paidFields, payerFields, stateFaults } from "../purchase-fields.ts";

const formFields = {
  email: field.optional(payerFields.email),
  first_name: payerFields.first_name,
  last_name: payerFields.last_name,
  address1: field.optional(payerFields.address1),
  city: field.optional(payerFields.city),
  zip_code: field.optional(payerFields.zip_code),
  country: field.optional(payerFields.country),
  state: payerFields.state,
  phone: field.optional(payerFields.phone),
  cell_phone: payerFields.cell_phone,
  birthday: payerFields.birthday,
  site_url: payerFields.site_url,
  purpose: payerFields.purpose,
  comment: payerFields.comment,
  redirect_url: field.optional(
    field.url(
      "the browser is redirected here at the end; without it, the payment page shows the result",
    ),
  ),
  redirect_success_url: payerFields.redirect_success_url,
  redirect_fail_url: payerFields.redirect_fail_url,
  server_callback_url: payerFields.server_callback_url,
  notify_url: payerFields.notify_url,
  merchant_data: payerFields.merchant_data,
  transaction_channel: payerFields.transaction_channel,
  three_ds_preference: payerFields.three_ds_preference,
  login: payerFields.login,
  control: payerFields.control,
} as const;

type FormRequest = field.Values<typeof formFields> & {
  readonly client_orderid: string;
  readonly order_desc?: string;
};

function formRules(request: FormRequest, context: Context): readonly Failure[] {
  const { country, state } = request;
  // The page asks for an absent country or state.
  const isWhole = country !== undefined && state !== undefined;
  const faults = isWhole ? stateFaults({ country }, context) : [];
  return [...faults, ...addressFaults(request, context)];
}

const payment = {
  request: { ...paidFields, ...formFields },
  control: ["{id}", "client_orderid", { minorUnitsOf: "amount" }, "email"],
  rules: formRules,
} as const;

export const saleForm = operation({
  ...payment,
  name: "sale-form",
  path: "/v2/sale-form/{id}",
  purpose: "Charges a card that the cardholder enters on the gateway's payment page.",
  repeats: repeatsOf("sale"),
  handle: (request, context) => open("sale", request, withAmount(request, context)),
});

export const preauthForm = operation({
  ...payment,
  name: "preauth-form",
  path: "/v2/preauth-form/{id}",
  purpose: "Holds an amount on a card that the cardholder enters on the gateway's payment page.",
  repeats: repeatsOf("preauth"),
  handle: (request, context) => open("preauth", request, withAmount(request, context)),
});

export const accountVerificationForm = operation({
  name: "account-verification-form",
  path: "/v2/account-verification-form/{id}",
  purpose:
    "Checks a card that the cardholder enters on the gateway's payment page, for an amount of " +
    "zero. Nothing is charged or held.",
  request: { client_orderid: paidFields.client_orderid, ...formFields },
  control: ["{id}", "client_orderid", "email"],
  rules: formRules,
  repeats: repeatsOf("account-verification"),
  handle: (request, context) => open("account-verification", request, withoutAmount(context)),
});

async function open(
  kind: ChargeKind,
  request: FormRequest,
  context: PurchaseContext | Failure,
): Promise<Reply | Failure> {
  if (context instanceof Failure) return context;
  const { endpoint, amount, serialNumber, services } = context;
  const refusal = refuseExtension(request, endpoint);
  if (refusal !== undefined) return refusal;
  const accepted = await services.orders.accept({
    kind,
    serialNumber,
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    requestFingerprint: requestFingerprintOf(formSubject(kind, endpoint.id), context),
    purchase: readPurchase(request, amount),
    card: { kind: "none" },
    cardData: undefined,
    page: services.paymentPages.termsOf(endpoint),
  });
  return accepted instanceof Failure ? accepted : showPage(accepted, context);
}

function showPage({ order, transaction }: FoundOrder, { services }: Context): Reply {
  return {
    type: "async-form-response",
    describes: { order, transaction },
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["redirect-url", services.paymentPages.urlOf(order)]],
  };
}

function formSubject(kind: ChargeKind, endpoint: EndpointId): string {
  return `${kind}-form/${endpoint}`;
}

function repeatsOf(kind: ChargeKind): Repeats {
  return { subjectOf: (endpoint) => formSubject(kind, endpoint), answer: showPage };
}
