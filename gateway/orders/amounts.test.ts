/** Several amounts: each is tried as a charge of its own, in the order of the list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { nextAmount } from "./amounts.ts";
import type { Order } from "./order.ts";
import { amount, answer, draft, events, meet } from "./testing.ts";
import { totalsOf } from "./transactions.ts";

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
