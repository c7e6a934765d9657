/** Running orders: which are in flight, which wait for a run, and how long the CVV is kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../orders/advance.ts";
import { type Apply, LostCharge, LostOrder } from "../orders/apply.ts";
import type { EffectHandler, EffectHandlers, OrderEvent, RunContext } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { externalEffects } from "../orders/stages.ts";
import { answer, asks, draft, events, meet, start, step } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { Secret } from "../values/secret.ts";
import { later } from "../values/time.ts";
import { makeAnnouncing, makeOrderRunner } from "./run.ts";

const owing = meet(draft, events.received);
const fresh = { startedBefore: false, cardData: undefined };
const cardData = {
  number: new CardNumber("4000001000000018"),
  expiryYear: "31",
  expiryMonth: "12",
  cvv: new Secret("123"),
};

/** A runner with one handler for all effects. Every event is applied at once. */
function makeRunner(
  handler: EffectHandler,
  apply: Apply = async (order, event) => meet(order, event),
  watch: Partial<Pick<Parameters<typeof makeOrderRunner>[0], "onTrouble" | "onLostApproval">> = {},
) {
  const handlers = Object.fromEntries(
    externalEffects.map((effect) => [effect, handler]),
  ) as EffectHandlers;
  return makeOrderRunner({
    handlers,
    apply,
    onRefused: () => undefined,
    onTrouble: (_order, error) => assert.fail(String(error)),
    onLostApproval: () => assert.fail(),
    ...watch,
  });
}

test("an approval of a charge or a payout that a failover has lost is told", async () => {
  const approvals = [events.authorized, events.paid_out];
  const losses = [new LostCharge("not_allowed_now"), new LostOrder()];
  for (const [approval, gone] of approvals.flatMap((each) =>
    losses.map((loss) => [each, loss] as const),
  )) {
    const lost: Order[] = [];
    const runner = makeRunner(
      async () => approval,
      async () => {
        if (gone instanceof Error) throw gone;
        return gone;
      },
      { onTrouble: () => undefined, onLostApproval: (order) => void lost.push(order) },
    );

    runner.start(owing, fresh);
    while (runner.count > 0) await runner.idle();

    assert.deepEqual(lost, [owing]);
  }
});

test("a runner knows whether it runs the present step of an order, or still an earlier one", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<OrderEvent>();
  const runner = makeRunner(() => answered);
  runner.start(owing, fresh);

  const next = { ...owing, version: owing.version + 1 };
  assert.deepEqual(
    [runner.has(owing.id), runner.runs(owing), runner.runs(next)],
    [true, true, false],
  );

  answer(events.refused);
  await runner.idle();
  assert.equal(runner.runs(owing), false);
});

test("an order in flight is left alone, and a version that its run has not seen runs afterwards", async () => {
  const { promise, resolve } = Promise.withResolvers<OrderEvent>();
  const seen: Order[] = [];
  const runner = makeRunner(async (order) => {
    seen.push(order);
    return seen.length === 1 ? promise : events.reversed;
  });

  runner.start(owing, fresh);
  runner.start(owing, fresh);
  const late = { ...meet(meet(owing, events.outcome_unknown), events.approved_late), version: 99 };
  runner.start(late, fresh);
  resolve(events.authorized);
  while (runner.count > 0) await runner.idle();

  assert.deepEqual(seen, [owing, late]);
});

test("a step of the same version, which a standby has that took over, runs after the lost one", async () => {
  const { promise, resolve } = Promise.withResolvers<OrderEvent>();
  const seen: Order[] = [];
  const runner = makeRunner(
    async (order) => {
      seen.push(order);
      return seen.length === 1 ? promise : events.authorized;
    },
    async (order, event) =>
      order === owing ? new Failure("not_allowed_now", "", "it has moved on") : meet(order, event),
  );
  const instead = meet(draft, events.received, later(start, 1));

  runner.start(owing, fresh);
  runner.start(instead, fresh);
  resolve(events.authorized);
  while (runner.count > 0) await runner.idle();

  assert.deepEqual(seen, [owing, instead]);
});

test("a follow-up that begins while an earlier attempt is being reversed is sent once", async () => {
  const sending = meet(meet(owing, events.outcome_unknown), events.amount_reversed);
  const { reference = "" } = sending.transaction.priorAttempts?.[0]?.identifiers ?? {};
  const late = { kind: "prior_approved_late", reference, answer } as const;
  let stored = meet(meet(sending, events.authorized), late);
  const { promise, resolve } = Promise.withResolvers<OrderEvent>();
  const performed: (string | undefined)[] = [];
  const runner = makeRunner(
    async ({ owed }) => {
      performed.push(owed?.effect);
      return owed?.effect === "reverse_prior" ? promise : events.returned;
    },
    async (_order, event) => {
      stored = meet(stored, event);
      return stored;
    },
  );

  runner.start(stored, fresh);
  stored = meet(stored, asks("return"));
  runner.start(stored, fresh);
  resolve({ kind: "prior_reversed", reference, approvedAt: answer.processedAt });
  while (runner.count > 0) await runner.idle();

  assert.deepEqual(performed, ["reverse_prior", "refund"]);
  assert.equal(stored.owed, undefined);
});

// biome-ignore format: a table
const keeping: readonly (readonly [OrderEvent, cvv: boolean])[] = [
  [events.rerouted,        true],
  [events.amount_refused,  true],
  [events.outcome_unknown, false],
];

for (const [event, isKept] of keeping) {
  test(`after ${event.kind} the CVV is ${isKept ? "sent again" : "forgotten"}`, async () => {
    const told: RunContext[] = [];
    const runner = makeRunner(async ({ transaction }, context) => {
      told.push(context);
      if (told.length === 1) return event;
      return transaction.stage === "reversing" ? events.reversed : events.authorized;
    });

    runner.start(owing, { startedBefore: false, cardData });
    await runner.idle();

    assert.notEqual(told[0]?.cardData?.cvv, undefined);
    assert.equal(told[1]?.cardData?.cvv !== undefined, isKept);
  });
}

test("a listener that fails neither undoes a commit nor keeps the others from hearing of it", async () => {
  const heard: Order[] = [];
  const troubles: unknown[] = [];
  const failing = () => {
    throw new Error("no disk");
  };
  const announcing = makeAnnouncing(
    [failing, ({ order }) => void heard.push(order)],
    (_order, error) => void troubles.push(error),
  );
  const commit = announcing(async (_: Step) => "done" as const);

  const outcome = await commit(step(draft, events.received));

  assert.equal(outcome, "done");
  assert.deepEqual([heard.length, troubles.length], [1, 1]);
});
