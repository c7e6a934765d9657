/** Tries on the payment page: the order after a refused one, and when a try is the last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asCardId } from "../values/ids.ts";
import { later } from "../values/time.ts";
import { meetRecorded } from "./advance.ts";
import type { EventOf, OrderEvent } from "./events.ts";
import type { Order, Stage } from "./order.ts";
import { cardsOf, noCard, openPage, triesLeft } from "./payment-page.ts";
import { findOwingAttempt, orderOfAttempt } from "./prior-attempts.ts";
import { advance, answer, card, conditions, draft, events, gate, meet, start } from "./testing.ts";

const lifeMs = 1_800_000;
const over = later(start, lifeMs);
const opened: Order = meet(
  { ...draft, card: noCard, ...openPage(draft, { lifeMs, triesMax: 3 }) },
  events.received,
);

const cardNumbered = (number: number) => ({ ...card, cardId: asCardId(String(number)) });
const entered = (number: number): EventOf<"card_entered"> => ({
  ...events.card_entered,
  card: cardNumbered(number),
});

/** The handlers of these tests clear every order at once. */
function tried(order: Order, number = 1, at = start): Order {
  return meet(order, entered(number), at);
}

test("a page owes nothing until a card is entered, and its time is its deadline", () => {
  assert.equal(opened.transaction.stage, "awaiting_card");
  assert.equal(opened.owed, undefined);
  assert.equal(opened.deadlineAt, over);
  assert.equal(tried(opened).transaction.stage, "authorizing");
});

test("a refused try leaves the order as it was, with the try on record", () => {
  const refused = meet(tried(opened), events.refused);

  assert.equal(refused.transaction.stage, "awaiting_card");
  assert.equal(refused.transaction.identifiers, undefined);
  assert.equal(refused.transaction.reason, undefined);
  assert.equal(refused.card, noCard);
  assert.equal(refused.deadlineAt, over);
  const [kept = assert.fail()] = refused.page?.refused ?? [];
  assert.equal(kept.card.cardId, "1");
  assert.deepEqual(kept.reason, events.refused.reason);
  assert.equal(kept.attempts.length, 1);
});

test("each try has a reference of its own, also after a gate that could not send", () => {
  const first = tried(opened);
  const rerouted = meet(first, { kind: "rerouted", gate, cause: "" });
  const second = tried(meet(rerouted, events.refused), 2);
  const filtered = meet(meet(second, events.refused), entered(3));

  const attempts = [first, rerouted, second, filtered].map((order) => {
    return order.transaction.identifiers?.attempt;
  });
  assert.deepEqual(attempts, [1, 2, 3, 4]);
});

test("the last try ends the order, and tells the merchant", () => {
  let order = opened;
  for (const number of [1, 2]) order = meet(tried(order, number), events.refused);
  assert.equal(order.page && triesLeft(order.page), 1);
  const last = meet(tried(order, 3), events.refused);

  assert.equal(last.transaction.stage, "declined");
  assert.deepEqual(last.transaction.reason, events.refused.reason);
  assert.equal(last.card.cardId, "3");
  assert.deepEqual(
    cardsOf(last).map(({ cardId }) => cardId),
    ["1", "2", "3"],
  );
});

test("a refusal after the page's time is final; before it, another try is left", () => {
  const before = meet(tried(opened), events.refused, later(over, -1));
  const after = meet(tried(opened), events.refused, over);

  assert.equal(before.transaction.stage, "awaiting_card");
  assert.equal(after.transaction.stage, "declined");
});

test("when its time is over a page takes no card, and is declined with its own reason", () => {
  const refused = meet(tried(opened), events.refused);
  const late = advance(refused, entered(2), over, conditions);
  const ended = meet(refused, events.expired, over);

  assert.ok(late instanceof Failure);
  assert.equal(ended.transaction.stage, "declined");
  assert.equal(ended.transaction.reason?.code, "payment_page_expired");
  assert.equal(ended.card, noCard);
});

test("a closed page takes no card, expires at once, and makes the try in progress the last", () => {
  const at = later(start, 1_000);
  const closed = meet(opened, events.page_closed, at);
  const trying = meet(tried(opened), events.page_closed, at);
  const paid = meet(tried(opened), events.authorized);

  assert.ok(advance(closed, entered(1), at, conditions) instanceof Failure);
  assert.equal(closed.deadlineAt, at);
  assert.equal(meet(closed, events.expired, at).transaction.reason?.code, "payment_page_expired");
  assert.equal(trying.owed?.effect, "authorize");
  assert.equal(meet(trying, events.refused, at).transaction.stage, "declined");
  assert.ok(advance(paid, events.page_closed, at) instanceof Failure);
  const recorded = meetRecorded(opened, events.page_closed, at);
  assert.deepEqual({ ...recorded, changedAt: at }, closed);
});

test("a card is refused in every other stage", () => {
  const stages: readonly Stage[] = [
    ...(["filtering", "authenticating", "awaiting_method", "awaiting_challenge"] as const),
    ...(["awaiting_result", "awaiting_return", "awaiting_pares", "authorizing"] as const),
    ...(["inquiring", "reversing", "approved", "declined", "filtered", "error"] as const),
  ];
  for (const stage of stages) {
    const order = { ...opened, transaction: { ...opened.transaction, stage } };
    assert.ok(advance(order, entered(2), start, conditions) instanceof Failure, stage);
  }
});

test("what the acquirer may yet carry out is reversed before the next try", () => {
  const doubtful = meet(tried(opened), events.refused_in_doubt);
  const proved = meet(doubtful, events.part_reversed);

  assert.deepEqual([doubtful.transaction.stage, doubtful.owed?.effect], ["reversing", "reverse"]);
  assert.equal(proved.transaction.stage, "awaiting_card");
  assert.deepEqual(proved.page?.refused.at(-1)?.reason, events.refused_in_doubt.reason);
});

test("a late approval of an earlier try is reversed at once, with that try's card", () => {
  const refused = meet(tried(opened, 1), events.refused);
  const reference = refused.page?.refused[0]?.attempts[0]?.identifiers.reference ?? "";
  const approvedLate: OrderEvent = { kind: "prior_approved_late", reference, answer };
  const reversed: OrderEvent = {
    kind: "prior_reversed",
    reference,
    approvedAt: answer.processedAt,
  };
  const owing = meet(refused, approvedLate);

  assert.equal(owing.owed?.effect, "reverse_prior");
  assert.ok(advance(owing, entered(2), start, conditions) instanceof Failure);
  assert.equal(tried(meet(owing, reversed), 2).transaction.stage, "authorizing");

  // While the second try is in progress, the reversal of the first waits for its end.
  const second = meet(tried(refused, 2), approvedLate);
  const approved = meet(second, events.authorized);
  const attempt = findOwingAttempt(approved) ?? assert.fail();
  assert.equal(second.owed?.effect, "authorize");
  assert.equal(approved.owed?.effect, "reverse_prior");
  assert.equal(orderOfAttempt(approved, attempt).card.cardId, "1");
  assert.equal(approved.card.cardId, "2");
  assert.equal(meet(approved, reversed).owed, undefined);
});

test("a page that expires while an earlier try is reversed keeps reversing", () => {
  const refused = meet(tried(opened), events.refused);
  const reference = refused.page?.refused[0]?.attempts[0]?.identifiers.reference ?? "";
  const owing = meet(refused, { kind: "prior_approved_late", reference, answer });
  const ended = meet(owing, events.expired, over);

  assert.deepEqual([ended.transaction.stage, ended.owed?.effect], ["declined", "reverse_prior"]);
});

test("a wallet's data of one try does not colour the next", () => {
  const wallet = { type: "walletb_encrypted", isDevice: true } as const;
  const paid = { ...entered(1), payer: { ...events.card_entered.payer, wallet } };
  const refused = meet(meet(opened, paid), events.refused);
  const second = tried(refused, 2);

  assert.deepEqual(refused.page?.refused[0]?.wallet, wallet);
  assert.equal(second.purchase.wallet, undefined);
});
