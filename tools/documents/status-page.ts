/**
 * Renders the page of the status response from `templates/status-response.md`: every field, status
 * and stage that the gateway sends.
 */
import type { TransactionKind } from "../../gateway/orders/order.ts";
import { tables } from "../../gateway/orders/transitions.ts";
import { type Status, statusOf, wireStageOf, wireTypeOf } from "../../gateway/views/status.ts";
import type { Example } from "./examples.ts";
import { stagesOf, transactionKinds } from "./orders-page.ts";
import { mono, renderTemplate, sentence, table } from "./text.ts";

export function renderStatusPage({ reply }: Example): string {
  const names = new Set([...always, ...reply.fields.map(([name]) => name)]);
  const prefixes = transactionKinds.map((kind) => [
    sentence(kindMeanings[kind]),
    mono(wireTypeOf(kind)),
    mono(partsOf(wireStageOf(kind, "approved")).prefix),
  ]);
  return renderTemplate("status-response", "gateway/views", {
    fields: table(["Field", "Description"], [...names].map(fieldRow)),
    prefixes: table(["Transaction", "`transaction-type`", "`order-stage` begins with"], prefixes),
    endings: table(
      ["`order-stage` ends with", "`status`", "Of which transactions", "Meaning"],
      [...endings()].map(endingRow),
    ),
  });
}

function fieldRow(name: string): readonly string[] {
  const description = statusFields[name];
  if (description === undefined) throw new Error(`${import.meta.filename} lacks the field ${name}`);
  return [mono(name), sentence(description)];
}

type Ending = { readonly status: Status; readonly kinds: ReadonlySet<TransactionKind> };

/** Returns the stages by the suffix of their wire name, which several internal stages may share. */
function endings(): ReadonlyMap<string, Ending> {
  const found = new Map<string, { status: Status; kinds: Set<TransactionKind> }>();
  for (const kind of transactionKinds) {
    for (const stage of stagesOf(tables[kind])) {
      const { suffix } = partsOf(wireStageOf(kind, stage));
      const ending = found.get(suffix) ?? { status: statusOf(stage), kinds: new Set() };
      found.set(suffix, { ...ending, kinds: ending.kinds.add(kind) });
    }
  }
  return found;
}

function endingRow([suffix, { status, kinds }]: readonly [string, Ending]): readonly string[] {
  const meaning = suffixMeanings[suffix];
  if (meaning === undefined) throw new Error(`${import.meta.filename} lacks the ending ${suffix}`);
  const everyKind = kinds.size === transactionKinds.length;
  const shown = everyKind ? "all" : [...new Set([...kinds].map(wireTypeOf))].map(mono).join(", ");
  return [mono(`_${suffix}`), mono(status), shown, sentence(meaning)];
}

function partsOf(wireStage: string) {
  const at = wireStage.indexOf("_") + 1;
  return { prefix: wireStage.slice(0, at), suffix: wireStage.slice(at) };
}

const suffixMeanings: Readonly<Record<string, string>> = {
  filtering: "accepted; the gateway's own checks run",
  "3d_validating": "the cardholder is being authenticated by 3-D Secure",
  "3d_validated": "the cardholder has been authenticated",
  processing: "sent to the acquirer",
  unknown: "in doubt: the acquirer has not answered, and the gateway is settling the doubt",
  approved:
    "done: the money is taken, held, returned, released or paid out, or the card is verified",
  declined:
    "refused by the issuer or the acquirer, by 3-D Secure or because of the wallet's payment data",
  rejected: "refused by the acquirer: the charge stands",
  filtered: "refused by the gateway's own checks",
  error: "failed; nothing was done, or it has been reversed",
};

const kindMeanings: Readonly<Record<TransactionKind, string>> = {
  sale: "sale",
  preauth: "preauthorisation",
  "account-verification": "account verification",
  payout: "payout to a card",
  capture: "capture",
  refund: "return that refunds money",
  cancel: "return that releases the hold of a preauthorisation",
  void: "void of a sale or a capture",
};

/**
 * Every field of a status response, in the order of the interface. `gateway/views/status.ts`
 * decides which fields are sent. A field that is sent and not described here stops the generator.
 */
// biome-ignore format: a table
export const statusFields: Readonly<Record<string, string>> = {
  "type":                       "always `status-response`",
  "serial-number":              "number of this request, new for each request",
  "merchant-order-id":          "the merchant's order id",
  "gw-order-id":                "order id assigned by the gateway",
  "status":                     "order status: `processing`, or one of the final `approved`, `declined`, `error` and `filtered`",
  "order-stage":                "current stage of processing",
  "amount":                     "amount of the initial transaction, always present, with at least two fraction digits",
  "initial-amount":             "amount set in the initiating transaction without fees or commissions; it does not change",
  "charged-amount":             "total charged amount, when it is not `initial-amount`: less was approved, or a part was captured",
  "total-reversal-amount":      "sum of all returns so far, when a return is described",
  "currency":                   "currency of the initial transaction",
  "by-request-sn":              "serial number from the status request, when it was sent",
  "transaction-type":           "kind of the transaction that is described: the latest, unless `by-request-sn` names another",

  "processor-tx-id":            "acquirer's transaction identifier",
  "processor-rrn":              "reference of the charge at the acquirer",
  "approval-code":              "approval code of the issuer",
  "receipt-id":                 "receipt identifier, for approved orders; the receipt, for the cardholder to read and print, is at `{base_url}/gw/view-receipt/{endpoint_id}/{receipt_id}/`",
  "descriptor":                 "payment recipient as the cardholder's statement shows it",
  "original-gate-descriptor":   "descriptor set at gate level",
  "terminal-id":                "acquirer's terminal id, shown in the receipt",
  "gw-processing-date":         "when the acquirer processed it, `YYYY-MM-DD HH:MM:SS` and the zone",
  "transaction-date":           "when the final status was assigned, in the same format",

  "name":                       "cardholder's name",
  "cardholder-name":            "cardholder's name",
  "card-exp-month":             "month of the card's expiry",
  "card-exp-year":              "year of the card's expiry, four digits",
  "last-four-digits":           "last four digits of the card number",
  "bin":                        "bank identification number, six digits",
  "card-type":                  "card network in upper case",
  "bank-name":                  "name of the issuing bank by the card's BIN, or `UNKNOWN`",
  "card-hash-id":               "identifier that is equal for equal card numbers within one merchant, for loyalty programs and fraud checks; present after an issuer has approved or authenticated the card",
  "card-ref-id":                "card reference id, where the transaction registers the card",
  "card-country-alpha-three-code":             "country of the card's issuer, three letters",
  "dest-bin":                   "bank identification number of the card that a payout goes to; such an order has no fields of a card that is charged",
  "dest-last-four-digits":      "last four digits of that card's number",
  "dest-card-type":             "network of that card in upper case",
  "dest-bank-name":             "name of the bank that issued it, or `UNKNOWN`",
  "destination-card-country-alpha-three-code": "country of that card's issuer, three letters",
  "destination-hash-id":        "`card-hash-id` of that card; present once the payout is approved",

  "email":                      "customer's email address, as sent",
  "first-name":                 "customer's first name, as sent",
  "last-name":                  "customer's last name, as sent",
  "phone":                      "customer's phone number, as sent",
  "country":                    "customer's country, two letters",
  "state":                      "customer's state",
  "city":                       "customer's city",
  "zip_code":                   "customer's postal code",
  "address1":                   "customer's address",

  "gate-partial-reversal":      "whether the gate supports partial returns: `enabled` or `disabled`",
  "gate-partial-capture":       "whether the gate supports partial captures: `enabled` or `disabled`",
  "verified-3d-status":         "3-D Secure result: `AUTHENTICATED`, `NOT_AUTHENTICATED` or `UNSUPPORTED`; absent when not performed",
  "eci":                        "electronic commerce indicator",
  "sca-exemption":              "an extension: the exemption from authentication that the merchant has claimed; absent once the issuer has demanded authentication all the same",
  "avs-result":                 "the issuer's letter for the payer's address, as the acquirer sends it; with the next three fields an extension of this interface, absent where the acquirer sends no result",
  "avs-address":                "whether `address1` is the cardholder's: `match`, `no-match` or `not-checked`",
  "avs-postcode":               "whether `zip_code` is the cardholder's: `match`, `no-match` or `not-checked`",
  "cvv-result":                 "whether `cvv2` is the card's: `match`, `no-match` or `not-checked`",
  "ips-src-payment-product-code": "product code of the card",
  "ips-src-payment-product-name": "name of the card's product",
  "ips-src-payment-type-code":  "type code of the card",
  "ips-src-payment-type-name":  "name of the card's type",
  "merchantdata":               "the request's `merchant_data`, when it was sent",
  "loyalty-balance":            "loyalty program: balance",
  "loyalty-message":            "loyalty program: message",
  "loyalty-bonus":              "loyalty program: bonus",
  "loyalty-program":            "loyalty program: name",
  "chargeback-amount":          "amount that is charged back at present, if the order has a chargeback and the endpoint reports chargebacks; the amount of one stage if `by-request-sn` names it",
  "chargeback-reason":          "the reason that the latest chargeback message gives",
  "chargeback-stage":           "stage of the chargeback: `retrieval`, `first`, `representment`, `pre-arbitration`, `arbitration`, `reversed` (won, the money is available again) or `fraud` (a fraud report)",
  "case-id":                    "the acquirer's id of the dispute",
  "reason-code":                "the network's code of the dispute's reason, where the endpoint reports chargebacks as transactions",
  "seller-commission":          "seller's commission, when enabled for the merchant",
  "acquirer-commission":        "acquirer's commission, when enabled for the merchant",
  "motivational-message":       "extended reason of a decline, for the cardholder",
  "error-message":              "reason, when the status is `declined`, `error` or `filtered`",
  "error-code":                 "code of that reason",

  "html":                       "while a 3-D Secure step is pending: a page with a form that submits itself",
  "redirect-to":                "while a step is pending: where the cardholder's browser can be sent",
  "tds-status":                 "pending 3-D Secure step: `MethodUrlFrame`, `CReqForm` or `PaReqForm`",
  "tds-method-url-frame-3ds-server-trans-id": "transaction id of the 3-D Secure server, with `MethodUrlFrame`",
  "tds-method-url-frame-3ds-method-url":      "address from which the method frame is loaded, with `MethodUrlFrame`",
  "tds-creq-form-acs-url":      "address to which the challenge request is posted, with `CReqForm`",
  "tds-creq-form-creq":         "challenge request, with `CReqForm`",
  "tds-pareq-form-pareq":       "payer authentication request, with `PaReqForm`",
  "tds-pareq-form-acs-url":     "address to which the payer authentication request is posted, with `PaReqForm`",
  "tds-pareq-form-md":          "merchant data of the form, with `PaReqForm`",
};

/** The fields of every reply about an order. */
export const always: readonly string[] = [
  "type",
  "serial-number",
  "merchant-order-id",
  "gw-order-id",
];
