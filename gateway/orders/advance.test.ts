/** How an order changes when an event arrives, and which events it refuses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { later } from "../values/time.ts";
import { makeAdvance } from "./advance.ts";
import type { EventKind, OrderEvent } from "./events.ts";
import type { Order, Stage, TransactionKind } from "./order.ts";
import { isFinal } from "./stages.ts";
import {
  advance,
  answer,
  approved,
  asks,
  conditions,
  deadlines,
  draft,
  events,
  gate,
  inStage,
  meet,
  start,
  step,
  unsupported,
} from "./testing.ts";
import { anyStage, beginnings, tables } from "./transitions.ts";

test("an accepted order is screened and cleared in one step", () => {
  const { from, order, events: met } = step(draft, events.received);

  assert.equal(from, 0);
  assert.deepEqual(
    met.map(({ kind }) => kind),
    ["received", "cleared"],
  );
  assert.equal(order.version, met.length);
  assert.equal(order.transaction.stage, "authorizing");
  assert.deepEqual(order.owed, { effect: "authorize", claimableAt: later(start, 45_000) });
});

test("with 3-D Secure the look-up is folded in as well", () => {
  const secure = makeAdvance(deadlines, {
    screen: () => ({ kind: "cleared_for_3ds", gate }),
    look_up_3ds: () => ({ kind: "left_unauthenticated", authentication: unsupported }),
  });

  const taken = secure(draft, events.received, start, conditions);

  assert.ok(!(taken instanceof Failure));
  assert.equal(taken.events.length, 3);
  assert.equal(taken.order.version, 3);
  assert.equal(taken.order.transaction.stage, "authorizing");
  assert.deepEqual(taken.order.transaction.authentication, unsupported);
});

test("an order that is filtered out is final and owes no external effect", () => {
  const strict = makeAdvance(deadlines, {
    screen: () => events.filtered_out,
    look_up_3ds: () => events.left_unauthenticated,
  });

  const taken = strict(draft, events.received, start, conditions);

  assert.ok(!(taken instanceof Failure));
  const { transaction, owed, deadlineAt } = taken.order;
  assert.equal(transaction.stage, "filtered");
  assert.equal(transaction.finishedAt, start);
  assert.deepEqual([owed, deadlineAt], [undefined, undefined]);
});

test("a result goes to the order's URL and to those of its endpoint, each once", () => {
  const order = approved();
  const immediate = {
    screen: () => events.filtered_out,
    look_up_3ds: () => events.left_unauthenticated,
  };
  const told = (own: string | undefined, urls: readonly string[]) => {
    const purchase = { ...order.purchase, urls: { ...order.purchase.urls, notify: own } };
    const decide = makeAdvance(deadlines, immediate, () => urls);
    const met = decide({ ...order, purchase }, asks("return"), start);
    assert.ok(!(met instanceof Failure));
    const done = decide(met.order, events.returned, start);
    assert.ok(!(done instanceof Failure));
    return done.callbacks?.map(({ url, sequence }) => [sequence, url]);
  };
  const [own, books] = ["https://shop.example", `https://books.example/?id=\${orderid}`];

  assert.deepEqual(told(own, []), [[2, own]]);
  assert.deepEqual(told(undefined, [books]), [[10_002, books]]);
  assert.deepEqual(told(own, [`${own}/`, books]), [
    [2, own],
    [10_002, books],
  ]);
});

test("an event that the stage does not know is refused, and the order stays as it is", () => {
  for (const stage of stagesOf()) {
    const order = { ...inStage(stage), owed: resting };
    const before = structuredClone({ ...order, purchase: undefined, transaction: undefined });
    for (const event of refusedIn(stage)) {
      const refusal = advance(order, event, start);
      assert.ok(refusal instanceof Failure, `${event.kind} in ${stage}`);
      assert.equal(refusal.code, "not_allowed_now");
      assert.equal(refusal.cause, `${event.kind} in stage ${stage}`);
    }
    assert.deepEqual(
      structuredClone({ ...order, purchase: undefined, transaction: undefined }),
      before,
    );
  }
});

test("an order that meets an event is a new order; the old one is untouched", () => {
  const frozen: Order = Object.freeze({
    ...inStage("authorizing"),
    transaction: Object.freeze(inStage("authorizing").transaction),
  });

  const next = meet(frozen, events.authorized);

  assert.equal(frozen.transaction.stage, "authorizing");
  assert.equal(next.transaction.stage, "approved");
  assert.equal(next.version, frozen.version + 1);
});

test("a claim changes nothing but version and time, and takes the lease anew", () => {
  const owing = meet(draft, events.received);
  const at = later(start, 60_000);

  const claimed = meet(owing, events.claimed, at);

  const owed = { effect: "authorize", claimableAt: later(at, deadlines.leaseMs) };
  assert.deepEqual(claimed, { ...owing, version: owing.version + 1, changedAt: at, owed });
});

test("a note changes nothing but version and time, in every stage", () => {
  for (const stage of stagesOf()) {
    const order = inStage(stage);
    const noted = { ...order, version: order.version + 1, changedAt: start };
    assert.deepEqual(meet(order, events.noted), noted);
  }
});

test("the time of the end is that of the first end", () => {
  const declined = meet(inStage("authorizing"), events.refused, later(start, 5));

  const again = meet(declined, events.approved_late, later(start, 900));
  assert.equal(declined.transaction.finishedAt, later(start, 5));
  assert.equal(again.transaction.finishedAt, later(start, 5));
  assert.equal(again.owed?.effect, "reverse");
});

const resting = { effect: "reverse", claimableAt: start, resting: true } as const;

function stagesOf(): readonly Stage[] {
  const stages: Stage[] = [];
  let stage: keyof typeof tables.sale;
  for (stage in tables.sale) stages.push(stage);
  return stages;
}

function refusedIn(stage: Stage): readonly OrderEvent[] {
  // Whether an event begins a transaction is decided by the whole order.
  const beginning: readonly EventKind[] = Object.values(beginnings).map(({ event }) => event);
  return Object.values(events).filter(
    ({ kind }) =>
      tables.sale[stage]?.[kind] === undefined &&
      anyStage[kind]?.in !== "every stage" &&
      !beginning.includes(kind),
  );
}

const { identifiers = assert.fail() } = meet(draft, events.received).transaction;
const owes = { approvedAt: start, approvalCode: answer.approvalCode, tries: 0 };
const { reference } = identifiers;
const about = { reference, answer, approvedAt: start };

for (const [kind, cell] of Object.entries(anyStage)) {
  test(`${kind} leaves the transaction in its stage, with its deadline, in ${cell.in}`, () => {
    for (const [transaction, stage] of placesOf()) {
      const order = busyIn(stage, transaction);
      const event = { ...events[kind as EventKind], ...about } as OrderEvent;

      const taken = advance(order, event, start);

      const isOpenCharge = order.earlier.length === 0 && !isFinal(stage);
      if (cell.in !== "every stage" && !isOpenCharge) {
        assert.ok(taken instanceof Failure, stage);
        continue;
      }
      assert.ok(!(taken instanceof Failure), stage);
      const { owed, deadlineAt, version } = taken.order;
      assert.deepEqual([taken.order.transaction.stage, deadlineAt], [stage, order.deadlineAt]);
      assert.equal(version, order.version + 1);
      const renewed = { effect: "capture", claimableAt: later(start, deadlines.leaseMs) };
      assert.deepEqual(owed, cell.owes === "renewed" ? renewed : order.owed);
    }
  });
}

function placesOf(): readonly (readonly [TransactionKind, Stage])[] {
  return Object.entries(tables).flatMap(([kind, table]) =>
    Object.keys(table).map((stage) => [kind as TransactionKind, stage as Stage] as const),
  );
}

/** The order owes an effect and is disputed. Its page has expired, and an attempt was approved. */
function busyIn(stage: Stage, kind: TransactionKind): Order {
  const { chargeback } = events.charged_back;
  const order = {
    ...inStage(stage, kind),
    chargebacks: [{ ...chargeback, stage: "retrieval" }] as const,
  };
  const priorAttempts = [{ identifiers, amount: order.transaction.amount, owes }];
  const charge = { ...order.transaction, priorAttempts };
  const paid = { ...charge, kind: "sale", stage: "approved" } as const;
  const isCharge = beginnings[kind].event === "received";
  return {
    ...order,
    transaction: isCharge ? charge : order.transaction,
    earlier: isCharge ? [] : [paid],
    page: { triesMax: 3, expiresAt: start, refused: [] },
    owed: { effect: "capture", claimableAt: later(start, 7) },
    deadlineAt: start,
  };
}

test("a deadline is set when a stage is entered, and a final stage has none", () => {
  const at = later(start, 50);

  const authorizing = meet(draft, events.received, at);
  const reversing = meet(authorizing, events.outcome_unknown, later(at, 10));
  const ended = meet(reversing, events.reversed, later(at, 20));

  assert.equal(authorizing.deadlineAt, later(at, 6_000));
  assert.equal(reversing.deadlineAt, later(at, 10 + 7_000));
  assert.equal(ended.deadlineAt, undefined);
});

test("it is kept while events lead back to the same stage", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);

  const unanswered = meet(reversing, events.reversal_unanswered, later(start, 100));
  const claimed = meet(unanswered, events.claimed, later(start, 200));
  const noted = meet(claimed, events.noted, later(start, 300));
  const late = meet(noted, events.approved_late, later(start, 400));

  assert.equal(late.deadlineAt, reversing.deadlineAt);
});

test("it begins again when it has passed and the order is still there", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);
  const at = later(start, 7_000);

  const alarmed = meet(reversing, events.expired, at);

  assert.equal(alarmed.owed?.effect, "alert_operator");
  assert.equal(alarmed.deadlineAt, later(at, 7_000));
});

test("the order itself rests for the gap after each unanswered try", () => {
  let order = meet(inStage("authorizing"), events.outcome_unknown);
  assert.deepEqual(order.owed, { effect: "reverse", claimableAt: later(start, 45_000) });

  for (const gapMs of [2_000, 5_000, 10_000, 10_000]) {
    order = meet(order, events.reversal_unanswered);
    const claimableAt = later(start, gapMs);
    assert.deepEqual(order.owed, { effect: "reverse", claimableAt, resting: true });
  }
});

test("without a table of gaps an unanswered reversal waits for the lease", () => {
  const eager = makeAdvance(
    { ...deadlines, repeatGapsMs: [] },
    { screen: () => events.cleared, look_up_3ds: () => events.left_unauthenticated },
  );
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);

  const unanswered = eager(reversing, events.reversal_unanswered, start);

  assert.ok(!(unanswered instanceof Failure));
  assert.equal(unanswered.order.owed?.claimableAt, later(start, deadlines.leaseMs));
});

test("after a late approval the gaps begin from the first", () => {
  const reversing = meet(inStage("authorizing"), events.outcome_unknown);
  const tired = meet(meet(reversing, events.reversal_unanswered), events.reversal_unanswered);

  const late = meet(tired, events.approved_late);
  assert.equal(late.transaction.tries, 0);
  assert.deepEqual(late.owed, { effect: "reverse", claimableAt: later(start, 45_000) });

  const unanswered = meet(late, events.reversal_unanswered);
  const claimableAt = later(start, 2_000);
  assert.deepEqual(unanswered.owed, { effect: "reverse", claimableAt, resting: true });
});
