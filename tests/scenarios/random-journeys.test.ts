/**
 * Merchants send random requests while the bank misbehaves: in the end every order is final
 * and the books agree. The seed is printed; a journey that fails is shrunk to a short one.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Refused } from "@tollgate/client";
import fc from "fast-check";
import {
  assertBalancesAgree,
  orderPart,
  referenceOf,
  type StoredOrder,
  selectStoredOrders,
} from "../support/books.ts";
import {
  type Asking,
  type Begin,
  type Event,
  type Follow,
  isBegin,
  journey,
} from "../support/journey.ts";
import { type Acknowledged, saleFields } from "../support/merchant.ts";
import { seed, series } from "../support/series.ts";
import { startWorld, type World } from "../support/world.ts";

const acceptedMin = series(1_000, 20_000);

type Begun = { readonly begin: Begin; readonly order: Acknowledged };

test(`random journeys leave books that agree (TOLLGATE_SEED=${seed})`, async (t) => {
  const world = await startWorld(t);
  // Returns travel in both ways: as reversals, and as refunds.
  await world.changeGate("sandbox-binary", { refunds: { after: "1h", partial: true } });
  await world.changeGate("sandbox-iso93", { refunds: { after: "always" } });
  // Its answers are in the minor units of the amounts.
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
    await assertNothingBeyond(world, begun);
  });

  const total = () => Object.values(accepted).reduce((sum, count) => sum + count, 0);
  while (total() < acceptedMin) {
    // A journey that fails is shrunk for as long as this, and the shortest one is told.
    const limits = { numRuns: 5, interruptAfterTimeLimit: 90_000 };
    await fc.assert(property, { seed: seed + requests, ...limits });
  }
  t.diagnostic(`seed ${seed}: ${requests} requests; accepted: ${JSON.stringify(accepted)}`);
  for (const kind of ["sale", "preauth", "verify", "rebill", "capture", "return"]) {
    assert.ok(
      (accepted[kind] ?? 0) > acceptedMin / 40,
      `only ${accepted[kind]} of ${kind} were accepted`,
    );
  }
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
      });
      await Promise.all(sent);
      break;
    }
    case "bank":
      await world.bank.setSwitches({ lostAnswerShare: event.lost, declineShare: event.declined });
      break;
    case "time":
      await work(world, event.seconds);
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
  const fitting = begun.filter(({ begin }) => followable[asking.kind].includes(begin.kind));
  const target = fitting.at(-1 - asking.order);
  if (target === undefined) return undefined;
  const { begin, order } = target;
  const part =
    asking.percent === "all" ? undefined : Math.ceil((begin.minor * asking.percent) / 100);
  const much = part === undefined ? {} : { amount: written(part) };
  return world.merchant(begin.through)[asking.kind](order, much);
}

/** What a merchant would ask it of; whether it was approved and is left is another matter. */
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

/** A merchant may ask for the impossible: that is refused, and no other error may come. */
function expectRefusal(error: unknown): undefined {
  assert.ok(error instanceof Refused, String(error));
  assert.ok([9, 11].includes(error.code), error.message);
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

/** The bank behaves again, and time goes on until every order has ended. */
async function calmDown(world: World): Promise<void> {
  await world.bank.setSwitches({ lostAnswerShare: 0, declineShare: 0, hostDown: false });
  await world.linksUp();
  for (let tries = 0; ; tries += 1) {
    const open = await openIn(world);
    if (open.length === 0) return;
    assert.ok(tries < 2_000, `never final: ${JSON.stringify(open.slice(0, 3))}`);
    await work(world, 5);
  }
}

function openIn({ installation }: World): Promise<readonly { readonly id: string }[]> {
  return installation.database.query(
    "select id, stage, progress from orders where due_at is not null",
  );
}

function keptIn({ installation }: World): Promise<readonly StoredOrder[]> {
  return installation.database.query<StoredOrder>(selectStoredOrders);
}

/** Of this journey's orders alone: what an earlier one left must not hide what this one did. */
async function assertBooksAgree(world: World, begun: readonly Begun[]): Promise<void> {
  const own = new Set(begun.map(({ order }) => order["gw-order-id"]));
  const orders = (await keptIn(world)).filter(({ id }) => own.has(id));
  const parts = new Set(orders.map((order) => orderPart(referenceOf(order) ?? "")));
  const entries = world.bank.ledger().filter(({ reference }) => parts.has(orderPart(reference)));
  assertBalancesAgree(orders, entries);
}

/** As the merchant sees it: nothing open, never more taken than asked, nor returned than taken. */
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

function minorOf(amount = "0"): number {
  return Math.round(Number(amount) * 100);
}
