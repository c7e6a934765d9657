/** Helps the tests of this folder: an order that was just accepted, and events for it. */
import assert from "node:assert/strict";
import { endpointWith } from "../merchant-api/testing.ts";
import { Failure } from "../values/failure.ts";
import {
  asCardId,
  asEndpointId,
  asGateId,
  asMerchantId,
  asOrderId,
  asReceiptId,
  asSerialNumber,
} from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { asInstant, type Instant } from "../values/time.ts";
import {
  type Advance,
  type Conditions,
  type Deadlines,
  makeAdvance,
  type Step,
} from "./advance.ts";
import {
  type EventKind,
  type EventOf,
  type FollowUpEvent,
  followUpEvents,
  type OrderEvent,
} from "./events.ts";
import {
  type Answer,
  type CardFacts,
  type ChargeKind,
  type FollowUpTerms,
  type GateFacts,
  noCustomer,
  type Order,
  type Stage,
  type ThreeDSecure,
  type TransactionKind,
} from "./order.ts";

export const start = asInstant(1_794_708_246_000);
export const amount = new Money(1042n, getCurrency("USD"));
const smaller = new Money(500n, getCurrency("USD"));

export const clockAt = (at: Instant) => ({ now: () => at, earliest: () => at });

export const deadlines: Deadlines = {
  stageMs: {
    filtering: 1_000,
    authenticating: 2_000,
    awaiting_method: 3_000,
    awaiting_challenge: 4_000,
    awaiting_result: 4_200,
    awaiting_return: 4_500,
    awaiting_pares: 5_000,
    authorizing: 6_000,
    inquiring: 6_500,
    reversing: 7_000,
    capturing: 8_000,
    returning: 8_500,
    paying: 8_700,
    repeating: 9_000,
  },
  leaseMs: 45_000,
  answerTimeoutMs: 30_000,
  repeatGapsMs: [2_000, 5_000, 10_000],
};

export const conditions: Conditions = {
  endpoint: endpointWith([]),
  readyGates: new Set(),
  entropy: new Uint8Array(16),
};

export const gate: GateFacts = {
  id: asGateId("1"),
  descriptor: "GATE",
  shownDescriptor: "SHOP",
  terminalId: "10000018",
  partialReversal: true,
  partialCapture: true,
  choice: "only gate",
};

export const answer: Answer = {
  responseCode: "00",
  approvalCode: "731904",
  networkId: "107073092653001",
  approvedAmount: undefined,
  processedAt: start,
};

export const card: CardFacts = {
  cardId: asCardId("42000001"),
  bin: "400000",
  lastFour: "0018",
  network: "VISA",
  holderName: "JANE DOE",
  expiryMonth: "12",
  expiryYear: "2030",
  hashId: "613942",
};

const nowhere = {
  redirect: undefined,
  redirectSuccess: undefined,
  redirectFail: undefined,
  serverCallback: undefined,
  notify: undefined,
};

/** A draft of an order, before its first event. */
export const draft: Order = {
  id: asOrderId("42000001"),
  sequence: 590_000_000_042,
  merchantId: asMerchantId("7"),
  endpointId: asEndpointId("1001"),
  clientOrderId: "invoice-1",
  attempt: 1,
  version: 0,
  acceptedAt: start,
  purchase: {
    amount,
    description: "Two tickets",
    ipAddress: "203.0.113.7",
    customer: noCustomer,
    urls: nowhere,
    merchantData: undefined,
    purpose: undefined,
    comment: undefined,
    siteUrl: undefined,
    browser: undefined,
  },
  card,
  transaction: {
    kind: "sale",
    serialNumber: asSerialNumber("s-1"),
    amount,
    stage: "filtering",
    identifiers: undefined,
    answer: undefined,
    authentication: undefined,
    reason: undefined,
    receiptId: undefined,
    tries: 0,
    finishedAt: undefined,
  },
  earlier: [],
  owed: undefined,
  deadlineAt: undefined,
};

export function inStage(stage: Stage, kind: TransactionKind = "sale"): Order {
  return { ...draft, version: 3, transaction: { ...draft.transaction, kind, stage } };
}

export function approved(kind: ChargeKind = "sale"): Order {
  const asked = { ...draft, transaction: { ...draft.transaction, kind } };
  return meet(meet(asked, events.received), events.authorized);
}

export function asks(
  operation: FollowUpTerms["operation"],
  minor?: bigint,
  { comment, currency = "USD" }: { readonly comment?: string; readonly currency?: string } = {},
): FollowUpEvent {
  const part = minor === undefined ? undefined : new Money(minor, getCurrency(currency));
  const request = { operation, amount: part, comment };
  return { kind: followUpEvents[operation], serialNumber: asSerialNumber("s-2"), request };
}

/** Every order is cleared, and no card is enrolled in 3-D Secure. */
const clearing = makeAdvance(deadlines, {
  screen: () => ({ kind: "cleared", gate }),
  look_up_3ds: () => ({ kind: "left_unauthenticated", authentication: unsupported }),
});
export const advance: Advance = (order, event, at, given = conditions) =>
  clearing(order, event, at, given);

/** Returns the step of an event that the order cannot refuse. */
export function step(order: Order, event: OrderEvent, at: Instant = start): Step {
  const taken = advance(order, event, at);
  assert.ok(!(taken instanceof Failure), `${event.kind} was refused`);
  return taken;
}

export function meet(order: Order, event: OrderEvent, at: Instant = start): Order {
  return step(order, event, at).order;
}

export const unsupported = { status: "UNSUPPORTED", eci: "07" } as const;
const authenticated = { status: "AUTHENTICATED", eci: "05" } as const;
export const threeds: ThreeDSecure = {
  directory: "sandbox",
  version: "2.2.0",
  transactionId: "6afa6072-9412-446b-9673-2f98b3ee98a2",
  methodUrl: "https://issuer.example/method",
};
const challenge = {
  acsUrl: "https://issuer.example/challenge",
  acsTransactionId: "375d90ad-3873-498b-9133-380cbbc8d99d",
  directoryTransactionId: "0b470d4d-d79b-4a1b-8a4a-1a5a3b0f6a11",
  creq: "e30",
};
const payerRequest = {
  acsUrl: "https://issuer.example/pareq",
  pareq: "eJw",
  date: "20261115 09:00:00",
  acquirerBin: "400001",
  merchantCode: "TG1",
};
const wanted = { code: "authentication_required", detail: "[1A]" } as const;
const funds = { code: "insufficient_funds", detail: "[51]" } as const;
const noWallet = { code: "wallet_refused", detail: "" } as const;
const tooMuch = { code: "amount_above_maximum", detail: "" } as const;
const notThem = { code: "authentication_failed", detail: "" } as const;
const noGate = { code: "gate_unavailable", detail: "" } as const;
const seen = { code: "duplicate_transmission", detail: "[94]" } as const;
const wrongCvv = { code: "cvv_refused", detail: "" } as const;
const inPart = { code: "partial_approval_refused", detail: "[10]" } as const;

// biome-ignore format: a table
export const events: { readonly [Kind in EventKind]: EventOf<Kind> } = {
  received:              { kind: "received" },
  card_entered:          { kind: "card_entered", card, payer: { ipAddress: "198.51.100.7", customer: noCustomer, browser: undefined } },
  page_closed:           { kind: "page_closed", cause: "restored" },
  wallet_refused:        { kind: "wallet_refused", reason: noWallet },
  cleared:               { kind: "cleared", gate },
  cleared_for_3ds:       { kind: "cleared_for_3ds", gate },
  filtered_out:          { kind: "filtered_out", reason: tooMuch },

  method_requested:      { kind: "method_requested", threeds },
  authentication_due:    { kind: "authentication_due", threeds },
  enrolment_due:         { kind: "enrolment_due", threeds: { ...threeds, version: "1.0.2" } },
  method_uploaded:       { kind: "method_uploaded", browser: { completion: "Y", properties: {} } },
  challenge_requested:   { kind: "challenge_requested", challenge },
  challenge_passed:      { kind: "challenge_passed", authentication: authenticated },
  challenge_returned:    { kind: "challenge_returned" },
  pareq_requested:       { kind: "pareq_requested", payerRequest },
  authenticated:         { kind: "authenticated", authentication: authenticated },
  left_unauthenticated:  { kind: "left_unauthenticated", authentication: unsupported },
  authentication_failed: { kind: "authentication_failed", reason: notThem },
  authentication_demanded: { kind: "authentication_demanded", answer: { ...answer, responseCode: "1A" }, reason: wanted },

  authorized:            { kind: "authorized", answer, receiptId: asReceiptId("814660") },
  refused:               { kind: "refused", answer: { ...answer, responseCode: "51" }, reason: funds },
  refused_in_doubt:      { kind: "refused_in_doubt", answer: { ...answer, responseCode: "94" }, reason: seen },
  amount_in_doubt:       { kind: "amount_in_doubt", answer: { ...answer, responseCode: "94" }, reason: seen },
  amount_refused:        { kind: "amount_refused", answer: { ...answer, responseCode: "51" }, reason: funds, next: smaller },
  amount_reversed:       { kind: "amount_reversed", next: smaller },
  rerouted:              { kind: "rerouted", gate: { ...gate, id: asGateId("2") }, cause: "not signed on" },
  gate_unavailable:      { kind: "gate_unavailable", reason: noGate },
  outcome_unknown:       { kind: "outcome_unknown", cause: "no_answer" },
  outcome_in_question:   { kind: "outcome_in_question", cause: "no_answer" },
  charge_not_found:      { kind: "charge_not_found", cause: "not_found" },
  approved_in_part:      { kind: "approved_in_part", answer, reason: inPart },
  approval_refused:      { kind: "approval_refused", answer, reason: wrongCvv, findings: [] },
  approved_late:         { kind: "approved_late", answer },
  reversed:              { kind: "reversed" },
  part_reversed:         { kind: "part_reversed" },
  reversal_refused:      { kind: "reversal_refused", code: "12", mayHelp: false },
  original_not_found:    { kind: "original_not_found", code: "25" },
  reversal_unanswered:   { kind: "reversal_unanswered", cause: "no_answer" },

  prior_approved_late:   { kind: "prior_approved_late", reference: "none", answer },
  prior_reversed:        { kind: "prior_reversed", reference: "none", approvedAt: start },
  prior_unreversed:      { kind: "prior_unreversed", reference: "none", answered: { kind: "reversal_unanswered", cause: "no_answer" } },

  capture_asked:         { kind: "capture_asked", serialNumber: asSerialNumber("s-2"), request: allOf("capture") },
  return_asked:          { kind: "return_asked", serialNumber: asSerialNumber("s-2"), request: allOf("return") },
  void_asked:            { kind: "void_asked", serialNumber: asSerialNumber("s-2"), request: allOf("void") },
  captured:              { kind: "captured", answer },
  returned:              { kind: "returned", answer },
  paid_out:              { kind: "paid_out", answer, receiptId: asReceiptId("814662") },
  proved_unpaid:         { kind: "proved_unpaid" },
  repeat_unanswered:     { kind: "repeat_unanswered", cause: "no_answer" },
  repeat_refused:        { kind: "repeat_refused", code: "12" },

  charged_back:          { kind: "charged_back", chargeback: { caseId: "C1", stage: "first", amount, reason: "10.4", at: start, serialNumber: asSerialNumber("d-1") }, notify: true },
  operator_alerted:      { kind: "operator_alerted" },
  asked_again:           { kind: "asked_again", by: "jo", why: "the host is back" },
  settled_as_done:       { kind: "settled_as_done", by: "jo", why: "seen in the acquirer's report", receiptId: asReceiptId("814661") },
  settled_as_not_done:   { kind: "settled_as_not_done", by: "jo", why: "not in the acquirer's report" },

  expired:               { kind: "expired" },
  claimed:               { kind: "claimed", node: "b" },
  dispute_decided:       { kind: "dispute_decided", caseId: "C1", outcome: "contested", who: "ann", why: "delivered" },
  noted:                 { kind: "noted", what: "pares_uploaded", detail: "" },
};

function allOf(operation: FollowUpTerms["operation"]): FollowUpTerms {
  return { operation, amount: undefined, comment: undefined };
}
