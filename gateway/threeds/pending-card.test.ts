/** How long pending card data is kept, and when it is destroyed. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { OrderEvent } from "../orders/events.ts";
import type { Order, Stage } from "../orders/order.ts";
import { noCard } from "../orders/payment-page.ts";
import { answer, draft, threeds } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { asCardId } from "../values/ids.ts";
import { asInstant, systemClock } from "../values/time.ts";
import { authenticationLifeMs, makePendingCardData } from "./threeds.ts";

const context = `${draft.merchantId}/${draft.id}`;
const card = {
  number: new CardNumber("4000002000000016"),
  expiryYear: "31",
  expiryMonth: "12",
  cvv: undefined,
};

let stored: (readonly [context: string, expiresAt: number])[];
let destroyed: string[];
let warned: string[];
let isAway: boolean;

beforeEach(() => {
  stored = [];
  destroyed = [];
  warned = [];
  isAway = false;
});

const pending = makePendingCardData({
  pendingCards: {
    store: async (context, _, expiresAt) => void stored.push([context, expiresAt]),
    find: async () => card,
    async destroy(held) {
      if (isAway) throw new Error("away");
      destroyed.push(held);
    },
  },
  clock: { ...systemClock, now: () => asInstant(1_000) },
  lifeMs: 500,
  warn: (_, cause) => warned.push(cause),
});

test("a card is stored for its order, and destroyed when the order is not committed", async () => {
  const undo = await pending.storePendingCard(orderIn("awaiting_method"), card);
  assert.deepEqual([stored, destroyed], [[[context, 1_500]], []]);

  undo();
  assert.deepEqual(destroyed, [context]);
});

// biome-ignore format: a table
const steps: readonly (readonly [stage: Stage, event: OrderEvent, isDestroyed: boolean])[] = [
  ["awaiting_challenge", { kind: "received" },                                        false],
  ["authorizing",        { kind: "challenge_returned" },                              false],
  ["approved",           { kind: "reversed" },                                        true],
  ["declined",           { kind: "challenge_returned" },                              true],
  ["reversing",          { kind: "outcome_unknown", cause: "" },                      true],
  ["authenticating",     { kind: "authentication_demanded", answer, reason: { code: "declined", detail: "" } }, true],
];

for (const [stage, event, isDestroyed] of steps) {
  test(`after ${event.kind} in stage ${stage} it is ${isDestroyed ? "destroyed" : "kept"}`, () => {
    pending.onStep({ order: orderIn(stage), events: [event] });

    assert.deepEqual(destroyed, isDestroyed ? [context] : []);
  });
}

test("an order without 3-D Secure has none", async () => {
  await pending.destroyPendingCard(draft);

  assert.deepEqual(destroyed, []);
});

test("a vault that is unreachable is reported", async () => {
  isAway = true;
  await pending.destroyPendingCard(orderIn("authorizing"));

  assert.deepEqual(warned, ["Error: away"]);
});

test("pending card data lives as long as the longest authentication", () => {
  const limits = {
    methodDeadlineMs: 1,
    challengeDeadlineMs: 10,
    resultWaitMs: 20,
    resultGraceMs: 30,
    paresDeadlineMs: 50,
    processingDeadlineMs: 100,
  };

  assert.equal(authenticationLifeMs(limits), 1 + 60 + 200);
  assert.equal(authenticationLifeMs({ ...limits, paresDeadlineMs: 70 }), 1 + 70 + 200);
});

function orderIn(stage: Stage): Order {
  return { ...draft, transaction: { ...draft.transaction, stage, threeds } };
}

test("each try on the payment page has its own, and a refused one destroys its own alone", async () => {
  const { card: facts } = draft;
  const page = { expiresAt: asInstant(9_000), triesMax: 3, refused: [] };
  const order = { ...orderIn("awaiting_method"), page };
  const other = { ...order, card: { ...facts, cardId: asCardId("7") } };
  await pending.storePendingCard(order, card);
  const undo = await pending.storePendingCard(other, card);
  undo();

  const first = `${draft.merchantId}/${facts.cardId}`;
  const second = `${draft.merchantId}/7`;
  assert.deepEqual(
    stored.map(([held]) => held),
    [first, second],
  );
  assert.deepEqual(destroyed, [second]);

  const reason = { code: "declined", detail: "" } as const;
  const tried = { card: facts, reason, at: asInstant(2_000), attempts: [] };
  const waiting = {
    ...orderIn("awaiting_card"),
    card: noCard,
    page: { ...page, refused: [tried] },
  };
  const { threeds: _, ...fresh } = waiting.transaction;
  const step = {
    order: { ...waiting, transaction: fresh },
    events: [{ kind: "expired" } as const],
  };
  pending.onStep(step);
  assert.deepEqual(destroyed, [second, first]);
});
