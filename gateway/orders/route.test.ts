/**
 * The choice of a gate is fair by weight, respects ranks and never takes a gate that does not fit.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asGateId, asOrderId, type GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import type { EndpointGate } from "./merchant.ts";
import type { Order } from "./order.ts";
import { canSend, chooseGate, findUnreadyGates, lotOf } from "./route.ts";
import { draft } from "./testing.ts";

const none: ReadonlySet<GateId> = new Set();
const allReady = { isReady: () => true, passedOver: none };

test("an endpoint's only gate takes every order that it may, ready or not", () => {
  const [gate] = [gateOf("a", { currencies: ["USD"], amountMin: 100n, amountMax: 2_000n })];
  const conditions = { isReady: () => false, passedOver: none };

  const chosen = chooseGate(orderOf(1, 1_042n), { gates: [gate] }, conditions);

  assert.deepEqual(chosen, {
    id: gate.id,
    descriptor: "GATE",
    shownDescriptor: "SHOP",
    terminalId: "10000018",
    partialReversal: true,
    partialCapture: false,
    choice: "only gate",
  });
  assert.equal(chooseGate(orderOf(1, 99n), { gates: [gate] }, conditions), undefined);
  assert.equal(chooseGate(orderOf(1, 2_001n), { gates: [gate] }, conditions), undefined);
  assert.equal(chooseGate(orderOf(1, 1_042n, "JPY"), { gates: [gate] }, conditions), undefined);
});

test("what a payment costs goes with the order when the merchant is shown it", () => {
  const fees = { seller: { percent: "2.5" } };

  const chosen = chooseGate(draft, { gates: [gateOf("a", { fees })] }, allReady);

  assert.deepEqual(chosen?.fees, fees);
});

test("an account verification has no amount that a limit could mean", () => {
  const order: Order = {
    ...draft,
    transaction: { ...orderOf(1, 0n).transaction, kind: "account-verification" },
  };
  const gates = [gateOf("a", { amountMin: 100n })];

  assert.equal(chooseGate(order, { gates }, allReady)?.choice, "only gate");
});

test("a gate without a link is missed only where no other gate stands in for it", () => {
  const at = (gates: readonly EndpointGate[], enabled = true) => ({ gates, enabled });
  const isReady = (gate: GateId) => gate === c.id;

  const missing = (...endpoints: readonly { gates: readonly EndpointGate[]; enabled: boolean }[]) =>
    [...findUnreadyGates(endpoints, isReady)].sort();

  assert.deepEqual(missing(at([a, c]), at([c])), []);
  assert.deepEqual(missing(at([a, c]), at([a, b])), ["a", "b"]);
  assert.deepEqual(missing(at([a], false)), []);
});

const a = gateOf("a", { weight: 70 });
const b = gateOf("b", { weight: 30 });
const c = gateOf("c", { rank: 2 });
const jpyOnly = gateOf("jpy", { currencies: ["JPY"] });

type Expected = readonly [
  told: string,
  gates: readonly EndpointGate[],
  lot: number,
  ready: string,
  chosen: string,
  choice: string,
];
// biome-ignore format: a table
const choices: readonly Expected[] = [
  ["the lot falls to the first",        [a, b, c],       69, "abc", "a", "rank 1, weight 70 of 100"],
  ["the lot falls to the second",       [a, b, c],       70, "abc", "b", "rank 1, weight 30 of 100"],
  ["the drawn one is not ready",        [a, b, c],       69, "bc",  "b", "rank 1, because a was not ready"],
  ["another of the rank is not ready",  [a, b, c],       69, "ac",  "a", "rank 1, weight 70 of 100"],
  ["the whole rank is not ready",       [a, b, c],       69, "c",   "c", "rank 2, because a was not ready and b was not ready"],
  ["nothing is ready",                  [a, b, c],       70, "",    "b", "rank 1, weight 30 of 100, though none was ready"],
  ["one does not take the currency",    [jpyOnly, c],     0, "c",   "c", "rank 2, because jpy does not take USD"],
  ["one of several does not take it",   [a, b, jpyOnly],  0, "ab",  "a", "rank 1, weight 70 of 100, because jpy does not take USD"],
  ["an amount is too small for one",    [gateOf("d", { amountMin: 2_000n }), c], 0, "dc", "c", "rank 2, because d does not take so little"],
  ["an amount is too large for one",    [gateOf("d", { amountMax: 500n }), c],   0, "dc", "c", "rank 2, because d does not take so much"],
  ["a later rank is of no interest",    [a, b, gateOf("d", { rank: 2, amountMax: 5n })], 0, "ab", "a", "rank 1, weight 70 of 100"],
];

test("the operator is told why it was this gate", () => {
  for (const [told, gates, lot, ready, chosen, choice] of choices) {
    const isReady = (id: GateId) => ready.includes(nameOf(gates, id));

    const order = orderOf(numberWithLot(lot), 1_042n);
    const facts = chooseGate(order, { gates }, { isReady, passedOver: none });

    assert.equal(facts && nameOf(gates, facts.id), chosen, told);
    assert.equal(facts?.choice, choice, told);
  }
});

test("a gate that was tried in vain is not tried again, and when all were there is none left", () => {
  const priorAttempts = (...gates: readonly EndpointGate[]) => ({
    isReady: () => true,
    passedOver: new Set(gates.map(({ id }) => id)),
  });

  assert.equal(
    chooseGate(orderOf(0, 1_042n), { gates: [a, b, c] }, priorAttempts(a, b))?.choice,
    "rank 2, because a was tried before and b was tried before",
  );
  assert.equal(
    chooseGate(orderOf(0, 1_042n), { gates: [a, b, c] }, priorAttempts(a, b, c)),
    undefined,
  );
});

const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 6 });

test("gates of one rank share a merchant's orders by weight, also if one of them is not ready", () => {
  const count = 10_000;
  fc.assert(
    fc.property(weights, fc.boolean(), (shares, oneIsAway) => {
      const gates = shares.map((weight, index) => gateOf(`g${index}`, { weight }));
      const away = oneIsAway ? gates[0]?.id : undefined;
      const isReady = (id: GateId) => id !== away;
      const expected = gates.filter(({ id }) => isReady(id));
      const total = expected.reduce((sum, { weight }) => sum + weight, 0);

      const counts = new Map<GateId, number>();
      for (let index = 0; index < count; index += 1) {
        // The ids in between belong to another merchant.
        const order = orderOf(2 * index, 1_042n);
        const chosen = chooseGate(order, { gates }, { isReady, passedOver: none });
        if (chosen !== undefined) counts.set(chosen.id, (counts.get(chosen.id) ?? 0) + 1);
      }

      for (const { id, weight } of expected) {
        const share = (counts.get(id) ?? 0) / count;
        assert.ok(Math.abs(share - weight / total) < 0.05, `${share} for ${weight} of ${total}`);
      }
    }),
    { numRuns: 25 },
  );
});

type Case = {
  readonly gates: readonly EndpointGate[];
  readonly ready: ReadonlySet<GateId>;
  readonly passedOver: ReadonlySet<GateId>;
  readonly order: Order;
};

test("it is never a gate that may not have the order, and a ready one goes first", () => {
  fc.assert(
    fc.property(cases(), ({ gates, ready, passedOver, order }) => {
      const isReady = (id: GateId) => ready.has(id);
      const fitting = gates.filter((gate) => fits(order, gate) && !passedOver.has(gate.id));
      const able = fitting.filter(({ id }) => isReady(id));

      const chosen = chooseGate(order, { gates }, { isReady, passedOver });

      const gate = gates.find(({ id }) => id === chosen?.id);
      assert.equal(gate === undefined, fitting.length === 0);
      if (gate === undefined) return;
      assert.ok(fitting.includes(gate));
      assert.equal(isReady(gate.id), able.length > 0);
      const best = (able.length > 0 ? able : fitting).map(({ rank }) => rank);
      assert.equal(gate.rank, Math.min(...best));
      assert.deepEqual(chooseGate(order, { gates }, { isReady, passedOver }), chosen);
    }),
    { numRuns: 2_000 },
  );
});

test("a gate without room for the amount's digits is passed over when another has it", () => {
  const gates = [
    gateOf("narrow", { amountDigits: 12 }),
    gateOf("wide", { amountDigits: 13, rank: 2 }),
  ];
  const conditions = { isReady: () => true, passedOver: new Set<GateId>() };
  const choose = (minor: bigint) => {
    const chosen = chooseGate(orderOf(1, minor, "KWD"), { gates }, conditions);
    return chosen && nameOf(gates, chosen.id);
  };

  assert.equal(choose(999_999_999_999n), "narrow");
  assert.equal(choose(1_000_000_000_000n), "wide");
  assert.equal(choose(10_000_000_000_000n), undefined);
  const [narrow = assert.fail()] = gates;
  const fils = new Money(1_000_000_000_000n, getCurrency("KWD"));
  assert.deepEqual(
    [canSend({ gates }, fils), canSend({ gates: [narrow] }, fils), canSend({ gates: [] }, fils)],
    [true, false, true],
  );
});

function cases(): fc.Arbitrary<Case> {
  const gate = fc.record(
    {
      rank: fc.integer({ min: 1, max: 3 }),
      weight: fc.integer({ min: 1, max: 9 }),
      currencies: fc.constantFrom(["USD"], ["JPY"], ["USD", "JPY"]),
      amountMin: fc.bigInt({ min: 0n, max: 1_500n }),
      amountMax: fc.bigInt({ min: 500n, max: 3_000n }),
    },
    { requiredKeys: ["rank", "weight"] },
  );
  const some = fc
    .array(gate, { minLength: 1, maxLength: 6 })
    .map((each) =>
      each
        .map((options, index) => gateOf(String(index), options))
        .sort((left, right) => left.rank - right.rank),
    );
  const subset = fc.subarray(["0", "1", "2", "3", "4", "5"]);
  const ids = subset.map((names) => new Set(names.map(idOf)));
  const order = fc
    .tuple(fc.integer({ min: 0, max: 999_999 }), fc.bigInt({ min: 1n, max: 2_500n }))
    .map(([lot, minor]) => orderOf(lot, minor));
  return fc.record({ gates: some, ready: ids, passedOver: ids, order });
}

function fits({ transaction: { amount } }: Order, gate: EndpointGate): boolean {
  const { currencies = ["USD"], amountMin = 0n, amountMax = amount.minor } = gate;
  if (!currencies.includes(amount.currency.code)) return false;
  return amount.minor >= amountMin && amount.minor <= amountMax;
}

function gateOf(name: string, options: Partial<EndpointGate>): EndpointGate {
  return {
    id: idOf(name),
    name,
    rank: 1,
    weight: 1,
    terminalId: "10000018",
    descriptor: "GATE",
    shownDescriptor: "SHOP",
    worksWithoutCvv: false,
    amountDigits: 12,
    partialReversal: true,
    partialCapture: false,
    ...options,
  };
}

function idOf(name: string): GateId {
  return asGateId(`id-${name}`);
}

function nameOf(gates: readonly EndpointGate[], id: GateId): string {
  return gates.find((gate) => gate.id === id)?.name ?? "";
}

/** Finds the first order whose lot has this remainder when divided by a hundred. */
function numberWithLot(lot: number): number {
  for (let number = 0; ; number += 1) {
    if (lotOf(orderOf(number, 1n).id) % 100 === lot) return number;
  }
}

function orderOf(number: number, minor: bigint, currency = "USD"): Order {
  const amount = new Money(minor, getCurrency(currency));
  return {
    ...draft,
    id: asOrderId(String(42_000_000 + number)),
    transaction: { ...draft.transaction, amount },
  };
}
