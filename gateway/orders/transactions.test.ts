/** The follow-ups that an approved charge permits, and their amounts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, type FailureCode } from "../values/failure.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import type { Order, PriorAttempt, Transaction } from "./order.ts";
import {
  advance,
  amount,
  answer,
  approved,
  asks,
  draft,
  events,
  gate,
  inStage,
  meet,
  start,
} from "./testing.ts";
import {
  findRepeated,
  nextAmount,
  sentIdentifiersOf,
  totalsOf,
  transactionsOf,
} from "./transactions.ts";

/** Totals in minor units: held, charged, returned, cancelled, left. */
function totals(order: Order): readonly bigint[] {
  const { held, charged, returned, cancelled, left } = totalsOf(order);
  return [held, charged, returned, cancelled, left].map(({ minor }) => minor);
}

function refusal(order: Order, event: ReturnType<typeof asks>): number | string {
  const step = advance(order, event, start);
  return step instanceof Failure ? step.number : `begins ${step.order.transaction.kind}`;
}

function returned(order: Order, minor?: bigint, comment?: string): Order {
  const named = comment === undefined ? {} : { comment };
  return meet(meet(order, asks("return", minor, named)), events.returned);
}

test("a sale has charged what its issuer approved, and a preauthorisation only holds it", () => {
  assert.deepEqual(totals(approved("sale")), [0n, 1042n, 0n, 0n, 1042n]);
  assert.deepEqual(totals(approved("preauth")), [1042n, 0n, 0n, 0n, 0n]);
  assert.deepEqual(totals(inStage("declined")), [0n, 0n, 0n, 0n, 0n]);
});

test("a partial capture charges that part and releases the rest", () => {
  const captured = meet(meet(approved("preauth"), asks("capture", 700n)), events.captured);

  assert.deepEqual(totals(captured), [0n, 700n, 0n, 0n, 700n]);
  assert.equal(refusal(captured, asks("return", 701n)), 11);
  assert.equal(refusal(captured, asks("return", 700n)), "begins refund");
});

test("a void takes a whole charge back, and nothing else", () => {
  const captured = meet(meet(approved("preauth"), asks("capture", 700n)), events.captured);
  const voided = meet(meet(captured, asks("void")), events.returned);

  assert.deepEqual(totals(voided), [0n, 700n, 700n, 0n, 0n]);
  assert.equal(refusal(approved(), asks("void")), "begins void");
  assert.equal(refusal(approved(), asks("void", 1042n)), "begins void");
  assert.equal(refusal(approved(), asks("void", 1041n)), 11);
  assert.equal(refusal(approved(), asks("void", 1043n)), 11);
  assert.equal(refusal(approved(), asks("void", 1042n, { currency: "EUR" })), 10);
  for (const order of [
    approved("preauth"),
    approved("account-verification"),
    returned(approved(), 1n),
  ])
    assert.equal(refusal(order, asks("void")), 9);
  for (const operation of ["void", "return", "capture"] as const)
    assert.equal(refusal(voided, asks(operation)), 9, operation);
});

test("a charge that was ever charged back is not voided, and one whose void was refused stands", () => {
  const refused = meet(meet(approved(), asks("void")), events.refused);

  const disputed = meet(approved(), events.charged_back);
  const { chargeback } = events.charged_back;
  const won = { ...events.charged_back, chargeback: { ...chargeback, stage: "reversed" } } as const;

  assert.equal(refusal(disputed, asks("void")), 9);
  assert.equal(refusal(meet(disputed, won), asks("void")), 9);
  const noted = { ...events.charged_back, chargeback: { ...chargeback, stage: "fraud" } } as const;
  assert.equal(refusal(meet(approved(), noted), asks("void")), "begins void");
  assert.deepEqual(totals(refused), [0n, 1042n, 0n, 0n, 1042n]);
  assert.equal(refusal(refused, asks("void")), "begins void");
});

test("a capture that was refused leaves the hold as it was", () => {
  const refused = meet(meet(approved("preauth"), asks("capture", 700n)), events.refused);

  assert.deepEqual(totals(refused), [1042n, 0n, 0n, 0n, 0n]);
  assert.equal(refusal(refused, asks("capture", 700n)), "begins capture");
  assert.equal(refusal(refused, asks("return")), "begins cancel");
});

test("returns add up until nothing is left", () => {
  const once = returned(approved(), 42n);
  const twice = returned(once, 500n);
  assert.deepEqual(totals(twice), [0n, 1042n, 542n, 0n, 500n]);
  assert.equal(refusal(twice, asks("return", 501n)), 11);

  const all = returned(twice);
  assert.deepEqual(totals(all), [0n, 1042n, 1042n, 0n, 0n]);
  assert.equal(refusal(all, asks("return", 1n)), 9);
});

test("every follow-up has a trace number of its own and the reference of the charge", () => {
  const twice = returned(returned(approved(), 42n), 500n);

  const charges = transactionsOf(twice).map(({ identifiers }) => identifiers);
  assert.equal(new Set(charges.map((identifiers) => identifiers?.traceNumber)).size, 3);
  assert.equal(new Set(charges.map((identifiers) => identifiers?.reference)).size, 1);
});

test("a transaction has a name at the acquirer once a message may have left", () => {
  const reason = (code: FailureCode) => ({ code, detail: "" });
  const { transaction } = approved();
  const prior = { ...transaction, identifiers: { ...transaction.identifiers, attempt: 7 } };
  // biome-ignore format: a table
  const cases: readonly (readonly [change: Partial<Transaction>, attempt: number | undefined])[] = [
    [{ stage: "filtering", answer: undefined },                                         undefined],
    [{ stage: "awaiting_challenge", answer: undefined },                                undefined],
    [{ stage: "authorizing", answer: undefined },                                       1],
    [{ stage: "reversing", answer: undefined },                                         1],
    [{ stage: "approved" },                                                             1],
    [{ stage: "declined" },                                                             1],
    [{ stage: "declined", answer: undefined, reason: reason("challenge_expired") },     undefined],
    [{ stage: "error", answer: undefined, reason: reason("gate_unavailable") },         undefined],
    [{ stage: "error", answer: undefined, reason: reason("reversed_after_doubt") },     1],
    [{ stage: "error", answer: undefined, reason: reason("settled_by_operator") },      1],
    // An earlier amount of the list was sent and refused.
    [{ stage: "error", answer: undefined, reason: reason("gate_unavailable"), priorAttempts: [prior as PriorAttempt] }, 7],
  ];
  for (const [change, attempt] of cases) {
    const sent = sentIdentifiersOf({ ...transaction, ...change });
    assert.equal(sent?.attempt, attempt, JSON.stringify(change.stage));
  }
});

test("a sale that was approved for less has charged less", () => {
  const half = asks("return", 521n).request.amount;
  const authorized = { ...events.authorized, answer: { ...answer, approvedAmount: half } };
  const order = meet(inCharge(), authorized);

  assert.deepEqual(totals(order), [0n, 521n, 0n, 0n, 521n]);
  assert.equal(refusal(order, asks("return", 522n)), 11);
});

function inCharge(): Order {
  const { transaction } = approved();
  return { ...inStage("authorizing"), transaction: { ...transaction, stage: "authorizing" } };
}

// biome-ignore format: a table
const refusals: readonly (readonly [what: string, order: () => Order, event: ReturnType<typeof asks>, said: number | string])[] = [
  ["capture of a sale",                     () => approved("sale"),                 asks("capture"),                    9],
  ["capture of a declined preauth",         () => inStage("declined", "preauth"),   asks("capture"),                    9],
  ["capture of an open preauth",            () => inStage("authorizing", "preauth"), asks("capture"),                   9],
  ["capture of a verification",             () => approved("account-verification"), asks("capture"),                    9],
  ["return of a verification",              () => approved("account-verification"), asks("return"),                     9],
  ["return of a declined sale",             () => inStage("declined"),              asks("return"),                     9],
  ["return of a sale in doubt",             () => inStage("reversing"),             asks("return"),                     9],
  ["capture of more than is held",          () => approved("preauth"),              asks("capture", 1043n),             11],
  ["capture of nothing",                    () => approved("preauth"),              asks("capture", 0n),                11],
  ["capture in another currency",           () => approved("preauth"),              asks("capture", 1n, { currency: "EUR" }), 10],
  ["return of more than was charged",       () => approved(),                       asks("return", 1043n),              11],
  ["return in another currency",            () => approved(),                       asks("return", 1n, { currency: "EUR" }), 10],
  ["cancel of a part",                      () => approved("preauth"),              asks("return", 1n),                 11],
  ["cancel of more than is held",           () => approved("preauth"),              asks("return", 1043n),              11],
  ["cancel of the whole by its amount",     () => approved("preauth"),              asks("return", 1042n),              "begins cancel"],
  ["capture after a capture",               () => captured(),                       asks("capture", 1n),                9],
  ["capture after a cancel",                () => returned(approved("preauth")),    asks("capture"),                    9],
  ["return after a cancel",                 () => returned(approved("preauth")),    asks("return", 1042n),              9],
  ["return while another is on its way",    () => meet(approved(), asks("return", 1n)), asks("return", 2n),             9],
  ["return while a capture is in doubt",    () => meet(meet(approved("preauth"), asks("capture")), events.outcome_unknown), asks("return"), 9],
];

for (const [what, order, event, said] of refusals) {
  test(`${what}: ${said}`, () => assert.equal(refusal(order(), event), said));
}

function captured(): Order {
  return meet(meet(approved("preauth"), asks("capture")), events.captured);
}

test("a gate that does no parts refuses them, the rest after a part too, and takes the whole", () => {
  const whole = withGate({ partialReversal: false, partialCapture: false });
  assert.equal(refusal(whole(approved()), asks("return", 1041n)), 13);
  assert.equal(refusal(whole(approved()), asks("return", 1042n)), "begins refund");
  assert.equal(refusal(whole(approved("preauth")), asks("capture", 1041n)), 13);
  assert.equal(refusal(whole(approved("preauth")), asks("capture", 1042n)), "begins capture");
  assert.equal(refusal(whole(returned(approved(), 42n)), asks("return")), 13);
});

function withGate(changes: Partial<typeof gate>): (order: Order) => Order {
  const change = (transaction: Order["transaction"]) => {
    const { identifiers } = transaction;
    if (identifiers === undefined) return transaction;
    return { ...transaction, identifiers: { ...identifiers, gate: { ...gate, ...changes } } };
  };
  return (order) => ({
    ...order,
    transaction: change(order.transaction),
    earlier: order.earlier.map(change),
  });
}

test("the identical request is known again while it is open and when it was approved", () => {
  const open = meet(approved(), asks("return", 42n));
  for (const order of [open, meet(open, events.outcome_unknown), meet(open, events.returned)]) {
    assert.equal(findRepeated(order, asks("return", 42n).request)?.serialNumber, "s-2");
  }
});

test("a request that came to nothing may be made again", () => {
  const open = meet(approved(), asks("return", 42n));
  for (const order of [meet(open, events.refused), meet(open, events.gate_unavailable)]) {
    assert.equal(findRepeated(order, asks("return", 42n).request), undefined);
  }
});

test("another amount, comment or operation is another request", () => {
  const order = returned(approved(), 42n, "first");
  const { request } = asks("return", 42n, { comment: "first" });

  assert.notEqual(findRepeated(order, request), undefined);
  assert.equal(findRepeated(order, { ...request, comment: "second" }), undefined);
  assert.equal(findRepeated(order, { ...request, comment: undefined }), undefined);
  assert.equal(findRepeated(order, { ...request, amount: undefined }), undefined);
  assert.equal(findRepeated(order, { ...request, operation: "capture" }), undefined);
});

const [half, quarter] = [new Money(521n, amount.currency), new Money(260n, amount.currency)];
const listed: Order = { ...draft, purchase: { ...draft.purchase, otherAmounts: [half, quarter] } };

test("the list is walked from the amount itself to its end", () => {
  const at = (money: Money) => ({
    ...listed,
    transaction: { ...listed.transaction, amount: money },
  });

  assert.equal(nextAmount(at(amount)), half);
  assert.equal(nextAmount(at(half)), quarter);
  assert.equal(nextAmount(at(quarter)), undefined);
  assert.equal(nextAmount(draft), undefined);
});

test("amounts that are too small for the gate are passed over", () => {
  assert.equal(nextAmount(listed, half.minor), half);
  assert.equal(nextAmount(listed, half.minor + 1n), undefined);
});

test("an amount of another currency is not the same amount", () => {
  const euro = new Money(1042n, getCurrency("EUR"));
  const order = { ...listed, transaction: { ...listed.transaction, amount: euro } };

  assert.equal(nextAmount(order), amount);
});

test("the next amount is another charge: its own reference, no answer of the one before", () => {
  const first = meet(listed, events.received);
  const second = meet(first, { ...events.amount_refused, next: half });

  const { transaction } = second;
  assert.equal(transaction.stage, "authorizing");
  assert.equal(transaction.amount, half);
  assert.deepEqual([transaction.answer, transaction.reason], [undefined, undefined]);
  assert.notEqual(transaction.identifiers?.reference, first.transaction.identifiers?.reference);
  assert.equal(transaction.identifiers?.attempt, 2);
  assert.equal(second.owed?.effect, "authorize");
});

test("after doubt the next amount starts anew, and what it takes is what was charged", () => {
  const doubtful = meet(meet(listed, events.received), events.outcome_unknown);
  const tired = meet(doubtful, events.reversal_unanswered);
  const second = meet(tired, { ...events.amount_reversed, next: half });
  const paid = meet(second, { ...events.authorized, answer: { ...answer, approvedAmount: half } });

  assert.equal(second.transaction.tries, 0);
  assert.equal(totalsOf(paid).charged.minor, 521n);
  assert.equal(paid.purchase.amount, amount);
});
