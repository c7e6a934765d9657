/**
 * Recurring payment profiles: a card of the payer or of a receiver that the merchant registers
 * without a payment, and the charges of the payer's.
 */
import { operation } from "../operation.ts";
import { pluralOf } from "../profile-payload.ts";
import {
  createFields,
  createProfile,
  createRules,
  joinSpellings,
  processFields,
  processProfile,
  processRepeats,
  processRules,
  rewriteCreate,
  updateFields,
  updateProfile,
  updateRules,
} from "../profiles.ts";

/** Signed by OAuth only. */
const signed = { control: [], versions: ["v4"], isForEndpoints: true } as const;

export const createRecurringPayment = operation({
  ...signed,
  name: "create-recurring-payment",
  path: "/v4/create-recurring-payment/{id}",
  purpose:
    "Registers a card for recurring payments without a payment. Each field is taken with hyphens " +
    "in its name too.",
  request: createFields,
  rewrite: rewriteCreate,
  rules: createRules,
  handle: createProfile,
});

export const processRecurringPayment = operation({
  ...signed,
  name: "process-recurring-payment",
  path: "/v4/process-recurring-payment/{id}",
  purpose:
    "Charges the card of a recurring payment profile. The request is acknowledged at once; poll " +
    "status for the result. Each field is taken with hyphens in its name too.",
  request: processFields,
  rewrite: (sent) => joinSpellings(sent, processFields),
  rules: processRules,
  repeats: processRepeats,
  handle: processProfile,
});

export const updateRecurringPayment = operation({
  ...signed,
  name: "update-recurring-payment",
  path: "/v4/update-recurring-payment/{id}",
  purpose:
    "Changes the card or the values of a recurring payment profile, or stops it. Each field is " +
    "taken with hyphens in its name too.",
  request: updateFields,
  rewrite: (sent) => joinSpellings(sent, updateFields),
  rules: updateRules,
  handle: updateProfile,
});

export const cardColumns = ["recurring-payment-id", "card-ref-id", "dst-card-ref-id"];

export const createRecurringPayments = pluralOf(createRecurringPayment, {
  columns: cardColumns,
  hasSerialNumbers: true,
});

export const processRecurringPayments = pluralOf(processRecurringPayment, {
  columns: ["recurring-payment-id", "gw-order-id"],
  hasSerialNumbers: true,
});

/** The audit names the request of each change. */
export const updateRecurringPayments = pluralOf(updateRecurringPayment, {
  columns: cardColumns,
  hasSerialNumbers: false,
});
