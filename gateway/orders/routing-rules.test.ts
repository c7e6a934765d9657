/** Routing rules: what each condition means, which rule decides, and how long ten of them take. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asGateId, asOrderId, type GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { asInstant } from "../values/time.ts";
import type { EndpointGate, Routed, RouteTexts } from "./merchant.ts";
import type { Authentication, Issuer } from "./order.ts";
import { chooseGate, reasonWithoutGate } from "./route.ts";
import { compileRoutes, findRoute, printRoute, readRoute } from "./routing-rules.ts";
import { card, draft } from "./testing.ts";

const eur = getCurrency("EUR");
const gateOf = (name: string, more: Partial<EndpointGate> = {}): EndpointGate => ({
  id: asGateId(name),
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
  ...more,
});
const a = gateOf("a", { cost: { percent: "2.5" } });
const b = gateOf("b", { rank: 2, cost: { percent: "1", fixed: "100" } });
const c = gateOf("c", { rank: 3 });
const gates = [a, b, c];
const place = { gates, currency: eur };
const conditions = { isReady: () => true, passedOver: new Set<GateId>() };

type Facts = {
  readonly minor?: bigint;
  readonly issuer?: Issuer;
  readonly at?: string;
  readonly purchase?: Routed["purchase"];
  readonly authentication?: Authentication;
  readonly id?: string;
};

function paymentOf(facts: Facts = {}): Routed {
  const { minor = 10_000n, issuer, at = "12:00", purchase = {}, authentication } = facts;
  return {
    id: asOrderId(facts.id ?? "42000001"),
    acceptedAt: asInstant(Date.parse(`2030-01-31T${at}:59Z`)),
    transaction: { ...draft.transaction, amount: new Money(minor, eur), authentication },
    card: issuer === undefined ? card : { ...card, issuer },
    purchase,
  };
}

const credential = { scenario: "REGULAR", networkId: undefined } as const;
const merchants = { credential: { ...credential, initiator: "MERCHANT" } } as const;
const wallet = { wallet: { type: "walletb_encrypted" } } as const;
const proved = { status: "AUTHENTICATED", eci: "05" } as const;

type Row = readonly [condition: RouteTexts, met: readonly Facts[], unmet: readonly Facts[]];
// biome-ignore format: a table
const meanings: readonly Row[] = [
  [{ network: "MASTERCARD,VISA" },         [{}],                                  []],
  [{ network: "MASTERCARD" },              [],                                    [{}]],
  [{ bin: "400000..400099,512345" },       [{}],                                  []],
  [{ bin: "..399999,400001.." },           [],                                    [{}]],
  [{ bin: "400000" },                      [{}],                                  []],
  [{ "issuer-country": "DEU,AUT" },        [{ issuer: { country: "AUT" } }],      [{}, { issuer: { country: "FRA" } }]],
  [{ funding: "debit" },                   [{ issuer: { typeName: "Visa DEBIT" } }, { issuer: { typeCode: "D" } }], [{}, { issuer: { typeName: "Credit" } }]],
  [{ funding: "credit,prepaid" },          [{ issuer: { typeName: "CHARGE" } }, { issuer: { typeCode: "P" } }, { issuer: { typeName: "prepaid debit", typeCode: "D" } }], [{ issuer: { typeCode: "D" } }, { issuer: {} }]],
  [{ currency: "EUR" },                    [{}],                                  []],
  [{ currency: "USD" },                    [],                                    [{}]],
  [{ amount: "100.." },                    [{}, { minor: 10_001n }],              [{ minor: 9_999n }]],
  [{ amount: "..99.99" },                  [{ minor: 9_999n }],                   [{}]],
  [{ amount: "50..100" },                  [{}, { minor: 5_000n }],               [{ minor: 4_999n }, { minor: 10_001n }]],
  [{ initiator: "merchant" },              [{ purchase: merchants }],             [{}]],
  [{ initiator: "cardholder" },            [{}],                                  [{ purchase: merchants }]],
  [{ wallet: "walletb" },                  [{ purchase: wallet }],                [{}]],
  [{ wallet: "card" },                     [{}],                                  [{ purchase: wallet }]],
  [{ "3ds": "authenticated" },             [{ authentication: proved }],          [{}]],
  [{ "3ds": "not_tried,unsupported" },          [{}],                                  [{ authentication: proved }]],
  [{ time: "09:00..17:00" },               [{ at: "09:00" }, { at: "16:59" }],    [{ at: "08:59" }, { at: "17:00" }]],
  [{ time: "22:00..06:00" },               [{ at: "23:00" }, { at: "05:59" }],    [{ at: "06:00" }, { at: "21:59" }]],
];

test("each condition is met by exactly the payments that it describes", () => {
  for (const [texts, met, unmet] of meanings) {
    const routes = compileRoutes([{ ...texts, to: "b" }], place);
    const decides = (facts: Facts) => findRoute({ routes }, paymentOf(facts)) !== undefined;

    assert.deepEqual(
      met.filter((facts) => !decides(facts)),
      [],
      printRoute(texts),
    );
    assert.deepEqual(unmet.filter(decides), [], printRoute(texts));
  }
});

test("a payment without a card, or to a card, is decided by no rule about cards", () => {
  const routes = compileRoutes([{ bin: "..999999", to: "b" }], place);
  const without = { ...paymentOf(), card: { bin: "", network: undefined } };
  const payout = { ...paymentOf(), transaction: { ...paymentOf().transaction, kind: "payout" } };

  assert.equal(findRoute({ routes }, without), undefined);
  assert.equal(findRoute({ routes }, payout as Routed), undefined);
});

test("the first rule whose conditions are all met decides, and says so with the order", () => {
  const routes = compileRoutes(
    [
      { network: "VISA", amount: "1000..", to: "refuse" },
      { network: "VISA", amount: "100..", to: "c:1:2,b:1:1" },
      { to: "cheapest" },
    ],
    place,
  );
  const choose = (facts: Facts) => {
    const { id, choice = "" } = chooseGate(paymentOf(facts), { gates, routes }, conditions) ?? {};
    return [id, choice];
  };

  assert.deepEqual(choose({ minor: 100_000n }), [undefined, ""]);
  assert.deepEqual(choose({ id: "42000004" }), [
    "c",
    "rule 2: network=VISA amount=100..; rank 1, weight 2 of 3",
  ]);
  // 2.5 % of 10.00 costs less than 1 % and 1.00 more; at 99.00 it is the other way round.
  assert.deepEqual(choose({ minor: 1_000n }), ["a", "rule 3: every payment; by cost; rank 1"]);
  assert.deepEqual(choose({ minor: 9_900n }), ["b", "rule 3: every payment; by cost; rank 1"]);
  assert.deepEqual(reasonWithoutGate(paymentOf({ minor: 100_000n }), { gates, routes }), {
    code: "no_gate",
    detail: "routing rule 1",
  });
  assert.deepEqual(reasonWithoutGate(paymentOf(), { gates: [] }).detail, "");
});

test("without a rule that is met, ranks and weights decide as without rules", () => {
  const routes = compileRoutes([{ network: "JCB", to: "c" }], place);

  const chosen = chooseGate(paymentOf(), { gates, routes }, conditions);

  assert.deepEqual(chosen, chooseGate(paymentOf(), { gates }, conditions));
});

test("a condition on 3-D Secure is not met while the outcome is open", () => {
  const routes = compileRoutes([{ "3ds": "not_tried", to: "b" }], place);

  assert.equal(findRoute({ routes }, paymentOf(), true), undefined);
  assert.equal(findRoute({ routes }, paymentOf())?.knowsOutcome, true);
});

// biome-ignore format: a table
const faults: readonly (readonly [RouteTexts, RegExp])[] = [
  [{ to: "d" },                          /no gate d/],
  [{ to: "a,a:2" },                      /a is named twice/],
  [{ to: "a:0" },                        /to is cheapest, refuse, or gates/],
  [{ to: "a:1:1001" },                   /to is cheapest/],
  [{},                                   /to is cheapest/],
  [{ colour: "red", to: "a" },           /no condition colour/],
  [{ network: "VISSA", to: "a" },        /network is written like VISA,MASTERCARD, not VISSA/],
  [{ bin: "4000", to: "a" },             /bin is written like/],
  [{ bin: "400099..400000", to: "a" },   /bin is written like/],
  [{ bin: "..", to: "a" },               /bin is written like/],
  [{ "issuer-country": "DE", to: "a" },  /issuer-country is written like DEU,AUT, not DE/],
  [{ funding: "gift", to: "a" },         /funding/],
  [{ amount: "50..10", to: "a" },        /amount/],
  [{ amount: "1.234..", to: "a" },       /amount/],
  [{ time: "25:00..26:00", to: "a" },    /time/],
  [{ time: "09:00..", to: "a" },         /time/],
];

test("a rule that cannot be read is refused with what is wrong, and decides nothing", () => {
  for (const [texts, expected] of faults) {
    const read = readRoute(texts, 1, place);
    assert.ok(read instanceof Problem, JSON.stringify(texts));
    assert.match(read.sentence, expected);
  }
  const routes = compileRoutes([{ to: "d" }, { to: "b" }], place);
  assert.equal(findRoute({ routes }, paymentOf())?.number, 2);
});

test("ten rules that are not met cost a payment a few microseconds", () => {
  const texts = { network: "JCB,AMEX", bin: "400000..500000", amount: "5..", to: "b" };
  const routes = compileRoutes(
    Array.from({ length: 10 }, () => texts),
    place,
  );
  const payment = paymentOf();
  const runs = 20_000;
  const run = () => {
    const from = performance.now();
    for (let at = 0; at < runs; at += 1) findRoute({ routes }, payment);
    return ((performance.now() - from) * 1_000) / runs;
  };

  const microseconds = Math.min(run(), run(), run());

  assert.ok(microseconds < 50, `${microseconds} µs`);
});
