/**
 * Merchants send random requests while the bank misbehaves. At the end every order is final and the
 * books agree. The seed is printed, and a failing journey is shrunk to a short one.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Refused } from "@tollgate/client";
import fc from "fast-check";
import { assertReconciled } from "../../support/bank/settlement.ts";
import {
  assertBalancesAgree,
  assertStatementAgrees,
  orderPart,
  referenceOf,
  type StoredOrder,
  selectStoredOrders,
} from "../../support/books.ts";
import {
  type Again,
  type Asking,
  type Begin,
  type Event,
  type Follow,
  isBegin,
  journey,
} from "../../support/journey.ts";
import { type Acknowledged, saleFields } from "../../support/merchant.ts";
import { seedOf, series } from "../../support/series.ts";
import { startWorld, type World } from "../../support/world.ts";

const seed = seedOf(20_261_118);
const acceptedMin = series(45, 5_000);
const indexedWithinMs = 5_000;
const kinds = ["sale", "preauth", "verify", "rebill", "capture", "return", "again"];
/** The number of requests of each kind that must be accepted. */
const ofKindMin = Math.ceil(acceptedMin / 100) + 1;
/** Far more than needed, so that the test ends if a kind is never accepted. */
const roundsMax = series(20, 1_000);

type Begun = { readonly begin: Begin; readonly order: Acknowledged };

test(`random journeys leave books that agree (TOLLGATE_SEED=${seed})`, async (t) => {
  const world = await startWorld(t);
  // Returns are sent both as reversals and as refunds.
  await world.changeGate("sandbox-binary", { refunds: { after: "1h", partial: true } });
  await world.changeGate("sandbox-iso93", { refunds: { after: "always" } });
  // This card's answers depend on the minor units of the amounts.
  const cardrefid = await world.registerCard("4000004000000202");
  let requests = 0;
  const accepted: Record<string, number> = {};

  const property = fc.asyncProperty(journey, async (events) => {
    const begun: Begun[] = [];
    for (const event of events) {
      if (event.kind === "wave") requests += event.requests.length;
      await take({ world, cardrefid, begun, accepted }, event);
    }
    await calmDown(world);
    await assertBooksAgree(world, begun);
    // The portal's index, whose writer books the statement, is written by the clock.
    await world.pass(indexedWithinMs);
    await assertStatementAgrees(world.readRows);
    await assertNothingBeyond(world, begun);
    await assertChargedOnce(world, begun);
  });

  const total = () => Object.values(accepted).reduce((sum, count) => sum + count, 0);
  const rare = () => kinds.filter((kind) => (accepted[kind] ?? 0) < ofKindMin);
  for (let rounds = 0; total() < acceptedMin || rare().length > 0; rounds += 1) {
    assert.ok(rounds < roundsMax, `few were accepted: ${JSON.stringify(accepted)}`);
    // A failing journey is shrunk for this time, and the shortest one is reported.
    const limits = { numRuns: series(2, 5), interruptAfterTimeLimit: 90_000 };
    await fc.assert(property, { seed: seed + requests, ...limits });
  }
  await assertReconciled(world);
  t.diagnostic(`seed ${seed}: ${requests} requests; accepted: ${JSON.stringify(accepted)}`);
});

type Course = {
  readonly world: World;
  readonly cardrefid: string;
  readonly begun: Begun[];
  readonly accepted: Record<string, number>;
};

async function take(course: Course, event: Event): Promise<void> {
  const { world, begun, accepted } = course;
  switch (event.kind) {
    case "wave": {
      const sent = event.requests.map(async (asking) => {
        const order = await ask(course, asking).catch(expectRefusal);
        if (order === undefined) return;
        accepted[asking.kind] = (accepted[asking.kind] ?? 0) + 1;
        if (isBegin(asking)) begun.push({ begin: asking, order });
        if (asking.kind === "again") {
          const { begin } =
            begun.find(
              ({ order: { "merchant-order-id": id } }) => id === order["merchant-order-id"],
            ) ?? assert.fail();
          begun.push({ begin, order });
        }
      });
      await Promise.all(sent);
      break;
    }
    case "bank":
      await world.bank.setSwitches({ lostAnswerShare: event.lost, declineShare: event.declined });
      break;
    case "codes": {
      const { kind: _, ...codes } = event;
      await world.bank.setSwitches(codes);
      break;
    }
    case "time":
      // Minutes pass in steps of ten seconds, as often as answers become overdue.
      await work(world, event.seconds, event.seconds > 60 ? 10 : 1);
      break;
    case "outage":
      await world.bank.setSwitches({ hostDown: true });
      await work(world, event.hours * 3_600, 300);
      await world.startHost();
      break;
    case "restart":
      await world.restart();
  }
}

async function ask(course: Course, asking: Asking): Promise<Acknowledged | undefined> {
  const { world, cardrefid, begun } = course;
  if (isBegin(asking)) {
    if (asking.kind === "rebill") {
      const smaller = [asking.minor, asking.minor / 2, asking.minor / 3].map(Math.ceil);
      const amounts = { amount: written(asking.minor), enumerate_amounts: list(smaller) };
      return world.merchant(asking.through).rebill({ cardrefid, ...amounts });
    }
    const fields = { credit_card_number: asking.card, amount: written(asking.minor) };
    const endpoint = world.merchant().endpoint(asking.through);
    if (asking.kind === "sale") return endpoint.sale(saleFields(fields));
    if (asking.kind === "preauth") return endpoint.preauth(saleFields(fields));
    return endpoint.accountVerification(saleFields(fields));
  }
  if (asking.kind === "again") return tryAgain(course, asking);
  const fitting = begun.filter(({ begin }) => followable[asking.kind].includes(begin.kind));
  const target = fitting.at(-1 - asking.order);
  if (target === undefined) return undefined;
  const { begin, order } = target;
  const part =
    asking.percent === "all" ? undefined : Math.ceil((begin.minor * asking.percent) / 100);
  const much = part === undefined ? {} : { amount: written(part) };
  return world.merchant(begin.through)[asking.kind](order, much);
}

/**
 * Makes a new attempt with the same client order id, which succeeds only if the earlier ones are
 * proved unpaid.
 */
async function tryAgain({ world, begun }: Course, { order }: Again) {
  const sales = begun.filter(({ begin }) => begin.kind === "sale");
  const target = sales.at(-1 - order);
  if (target === undefined) return undefined;
  const { begin, order: earlier } = target;
  const fields = {
    credit_card_number: begin.card,
    amount: written(begin.minor),
    client_orderid: earlier["merchant-order-id"],
    order_desc: randomUUID(),
  };
  return world.merchant().endpoint(begin.through).sale(saleFields(fields));
}

/**
 * The transactions on which a merchant would make a follow-up, whether or not they were approved.
 */
const followable: Readonly<Record<Follow["kind"], readonly Begin["kind"][]>> = {
  capture: ["preauth"],
  return: ["sale", "preauth", "rebill"],
};

function list(minors: readonly number[]): string {
  return minors.map(written).join(",");
}

function written(minor: number): string {
  return (minor / 100).toFixed(2);
}

/** Expects a refusal and no other error, because a merchant may request the impossible. */
function expectRefusal(error: unknown): undefined {
  assert.ok(error instanceof Refused, String(error));
  // Code 7 means that the client order id is charged, or may be.
  assert.ok([7, 9, 11].includes(error.code), error.message);
  return undefined;
}

/** Moves the clock, so that the gateway does what is due and gives up lost answers. */
async function work(world: World, seconds: number, step = 1): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) {
    world.clock.advance(step * 1_000);
    await world.gateway.claimDue();
    await setImmediate();
  }
}

/** Makes the bank behave again, and moves time until every order has ended. */
async function calmDown(world: World): Promise<void> {
  const asTheCardSays = { chargeCode: null, reversalCode: null, followUpCode: null };
  const calm = { lostAnswerShare: 0, declineShare: 0, hostDown: false, ...asTheCardSays };
  await world.bank.setSwitches(calm);
  await world.linksUp();
  for (let tries = 0; ; tries += 1) {
    const open = await openIn(world);
    if (open.length === 0) return;
    assert.ok(tries < 2_000, `never final: ${JSON.stringify(open.slice(0, 3))}`);
    await work(world, 30, 5);
  }
}

function openIn({ installation }: World): Promise<readonly { readonly id: string }[]> {
  return installation.database.query(
    "select id, stage, progress from orders where owes is not null or finished_at is null",
  );
}

function keptIn({ installation }: World): Promise<readonly StoredOrder[]> {
  return installation.database.query<StoredOrder>(selectStoredOrders);
}

/** Checks the orders of this journey only, so that earlier journeys hide no fault. */
async function assertBooksAgree(world: World, begun: readonly Begun[]): Promise<void> {
  const own = new Set(begun.map(({ order }) => order["gw-order-id"]));
  const orders = (await keptIn(world)).filter(({ id }) => own.has(id));
  const parts = new Set(orders.map((order) => orderPart(referenceOf(order) ?? "")));
  const entries = world.bank.ledger().filter(({ reference }) => parts.has(orderPart(reference)));
  assertBalancesAgree(orders, entries);
}

/**
 * Asserts from the merchant's side that nothing is open, and no more charged than requested or
 * returned than charged.
 */
async function assertNothingBeyond(world: World, begun: readonly Begun[]): Promise<void> {
  for (const { begin, order } of begun) {
    const status = await world.merchant(begin.through).status(order);
    const asked = begin.kind === "verify" ? 0 : begin.minor;
    const charged = minorOf(status["charged-amount"] ?? status.amount);
    assert.notEqual(status.status, "processing");
    assert.ok(charged <= asked, JSON.stringify(status));
    assert.ok(minorOf(status["total-reversal-amount"]) <= charged, JSON.stringify(status));
  }
}

/** Asserts that at most one attempt with the same client order id was ever approved. */
async function assertChargedOnce(world: World, begun: readonly Begun[]): Promise<void> {
  const attempts = Map.groupBy(begun, ({ order }) => order["merchant-order-id"]);
  const orders = new Map((await keptIn(world)).map((order) => [order.id, order]));
  for (const [id, same] of attempts) {
    const approved = same.filter(({ order }) => {
      const { earlier, transaction } = orders.get(order["gw-order-id"])?.progress ?? assert.fail();
      return (earlier[0] ?? transaction).stage === "approved";
    });
    assert.ok(approved.length <= 1, `${id} was charged ${approved.length} times`);
  }
}

function minorOf(amount = "0"): number {
  return Math.round(Number(amount) * 100);
}
