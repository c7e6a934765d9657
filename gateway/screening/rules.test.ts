/**
 * Each rule on its own: the payments that it finds or passes, and the parameters that it refuses.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../orders/order.ts";
import { draft, answer as someAnswer } from "../orders/testing.ts";
import { asOrderId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { asInstant } from "../values/time.ts";
import type { PaymentFacts, PaymentResult, Seen, Tally } from "./rule.ts";
import { findRule, rules } from "./rules/index.ts";

const now = 1_794_708_246_000;
const minute = 60_000;

type Past = Partial<Seen> & { readonly minutesAgo: number; readonly result?: PaymentResult };

/** Counted payments, the latest first. */
function facts(
  past: readonly Past[],
  more: Partial<Tally> & { minor?: bigint } = {},
): PaymentFacts {
  const { minor = 1_000n, ...tally } = more;
  const before = past.map(
    ({ minutesAgo, ...seen }, at): Seen => ({
      orderId: asOrderId(String(at)),
      at: asInstant(now - minutesAgo * minute),
      minor: 1_000n,
      currency: "USD",
      card: "aa",
      ...seen,
    }),
  );
  const amount = new Money(minor, getCurrency("USD"));
  return {
    order: { ...draft, transaction: { ...draft.transaction, amount } },
    at: asInstant(now),
    card: "aa",
    tally: { firstAt: asInstant(now), before, isFull: false, ...tally },
    findIpCountry: () => undefined,
    resultOf: ({ orderId }) => past[Number(orderId)]?.result ?? "other",
  };
}

function bind(kind: string, parameters: Readonly<Record<string, string>>) {
  const judge = findRule(kind)?.bind(parameters);
  assert.ok(judge !== undefined && !(judge instanceof Problem), JSON.stringify(judge));
  return judge;
}

function codeOf(kind: string, parameters: Readonly<Record<string, string>>, given: PaymentFacts) {
  const judgement = bind(kind, parameters).judge(given);
  if (judgement === undefined) return "passes";
  return "missing" in judgement ? `no ${judgement.missing}` : judgement.code;
}

const approved = { minutesAgo: 1, result: "approved" } as const;
const declined = { minutesAgo: 1, result: "declined" } as const;
const open = { minutesAgo: 1, result: "open" } as const;
const other = { minutesAgo: 1, result: "other" } as const;
const two = { per: "card", count: "2", window: "1h" };
const sum = { per: "card", sum: "25.00", currency: "USD", window: "1h" };

const approvedOnly = { ...two, of: "approved" };
const half = { per: "bin", count: "3", window: "1h", share: "50" };
const inEur = { minutesAgo: 1, currency: "EUR" };
const otherCard = { minutesAgo: 1, card: "bb" };
const third = { minutesAgo: 2, card: "cc" };

// biome-ignore format: a table
const cases: readonly (readonly [kind: string, parameters: Readonly<Record<string, string>>, facts: PaymentFacts, expected: string])[] = [
  ["velocity",   two,                                 facts([approved]),                                   "passes"],
  ["velocity",   two,                                 facts([approved, declined]),                         "velocity_exceeded"],
  ["velocity",   two,                                 facts([approved, { minutesAgo: 60 }]),               "passes"],
  ["velocity",   two,                                 { ...facts([]), tally: undefined },                  "no card"],
  ["velocity",   approvedOnly,                        facts([approved, declined, other]),                  "passes"],
  ["velocity",   approvedOnly,                        facts([approved, open]),                             "velocity_exceeded"],
  ["velocity",   sum,                                 facts([approved], { minor: 1_500n }),                "passes"],
  ["velocity",   sum,                                 facts([approved], { minor: 1_501n }),                "velocity_exceeded"],
  ["velocity",   sum,                                 facts([approved, inEur, inEur]),                     "passes"],
  ["velocity",   sum,                                 facts([inEur], { isFull: true }),                    "velocity_exceeded"],
  ["velocity",   sum,                                 facts([inEur, { minutesAgo: 60 }], { isFull: true }), "passes"],
  ["velocity",   approvedOnly,                        facts([declined, declined], { isFull: true }),       "velocity_exceeded"],
  ["velocity",   { ...sum, of: "approved" },          facts([approved, declined], { isFull: true }),       "velocity_exceeded"],
  ["velocity",   approvedOnly,                        facts([declined, { minutesAgo: 60 }], { isFull: true }), "passes"],

  ["cards",      { ...two, per: "ip" },               facts([otherCard, otherCard, approved]),             "passes"],
  ["cards",      { ...two, per: "ip" },               facts([otherCard, third]),                           "too_many_cards"],
  ["cards",      { ...two, per: "ip" },               facts([otherCard, { ...third, minutesAgo: 60 }]),    "passes"],

  ["declines",   two,                                 facts([declined]),                                   "passes"],
  ["declines",   two,                                 facts([declined, open, other, declined]),            "too_many_declines"],
  ["declines",   two,                                 facts([declined, approved, declined, declined]),     "passes"],
  ["declines",   two,                                 facts([declined, { ...declined, minutesAgo: 60 }]),  "passes"],

  ["declines",   half,                                facts([declined, approved]),                         "passes"],
  ["declines",   half,                                facts([approved, declined, open, declined, approved]), "too_many_declines"],
  ["declines",   half,                                facts([approved, declined, approved, other]),        "passes"],
  ["declines",   half,                                facts([declined, other, open, other]),               "passes"],

  ["duplicate",  { window: "10m" },                   facts([declined, other]),                            "passes"],
  ["duplicate",  { window: "10m" },                   facts([declined, open]),                             "duplicate_purchase"],
  ["duplicate",  { window: "10m" },                   facts([{ ...approved, minor: 1_001n }]),             "passes"],
  ["duplicate",  { window: "10m" },                   facts([{ ...approved, currency: "EUR" }]),           "passes"],
  ["duplicate",  { window: "10m" },                   facts([{ ...approved, minutesAgo: 10 }]),            "passes"],

  ["first-seen", { per: "email", age: "1d" },         facts([]),                                           "first_seen_recently"],
  ["first-seen", { per: "email", age: "1h" },         facts([], { firstAt: asInstant(now - 60 * minute) }), "passes"],

  ["amount",     { currency: "USD", max: "9.99" },    facts([]),                                           "amount_above_maximum"],
  ["amount",     { currency: "USD", max: "10" },      facts([]),                                           "passes"],
  ["amount",     { currency: "USD", min: "10.01" },   facts([]),                                           "amount_below_minimum"],
  ["amount",     { currency: "EUR", max: "1.00" },    facts([]),                                           "passes"],
];

const anyAddress = { address: "unless-match" };
const anyPostcode = { postcode: "unless-match" };

// biome-ignore format: a table
const answers: readonly (readonly [parameters: Readonly<Record<string, string>>, letters: Pick<Answer, "avs" | "cvvResult">, expected: string])[] = [
  [{ address: "no-match" },      { avs: "Z" },       "address_refused"],
  [{ address: "no-match" },      { avs: "A" },       "passes"],
  [{ address: "no-match" },      { avs: "U" },       "passes"],
  [{ address: "no-match" },      {},                 "passes"],
  [anyAddress,                   { avs: "U" },       "address_refused"],
  [anyAddress,                   {},                 "address_refused"],
  [anyAddress,                   { avs: "B" },       "passes"],
  [anyPostcode,                  { avs: "B" },       "address_refused"],
  [anyPostcode,                  { avs: "P" },       "passes"],
  [{ cvv: "no-match" },          { cvvResult: "N" }, "cvv_refused"],
  [{ cvv: "no-match" },          { cvvResult: "P" }, "passes"],
  [{ cvv: "unless-match" },      { cvvResult: "P" }, "cvv_refused"],
  [{ cvv: "unless-match" },      {},                 "passes"],
  [{ cvv: "unless-match" },      { cvvResult: "M" }, "passes"],
];

for (const [parameters, letters, expected] of answers) {
  test(`checks ${JSON.stringify(parameters)} of ${JSON.stringify(letters)}: ${expected}`, () => {
    const given = facts([]);
    const answered = (approvalCode: string | undefined) => {
      const answer = { ...someAnswer, approvalCode, ...letters };
      return { ...given, order: { ...given.order, transaction: { ...draft.transaction, answer } } };
    };

    assert.equal(codeOf("checks", parameters, answered("A1B2C3")), expected);
    assert.equal(codeOf("checks", parameters, answered(undefined)), "passes");
    assert.equal(codeOf("checks", parameters, given), "passes");
  });
}

for (const [kind, parameters, given, expected] of cases) {
  const past = given.tally?.before.length ?? 0;
  test(`${kind} ${Object.values(parameters).join(" ")} after ${past} payments: ${expected}`, () => {
    assert.equal(codeOf(kind, parameters, given), expected);
  });
}

test("results are asked for only when the count alone does not decide", () => {
  const asks = (kind: string, parameters: Readonly<Record<string, string>>, given: PaymentFacts) =>
    (bind(kind, parameters).asks?.(given) ?? []).length;

  assert.equal(asks("velocity", approvedOnly, facts([approved])), 0);
  assert.equal(asks("velocity", approvedOnly, facts([approved, declined])), 2);
  assert.equal(asks("velocity", two, facts([approved, declined])), 0);
  assert.equal(asks("declines", two, facts([declined])), 0);
  assert.equal(asks("duplicate", { window: "10m" }, facts([{ ...approved, minor: 1n }])), 0);
});

// biome-ignore format: a table
const refused: readonly (readonly [kind: string, parameters: Readonly<Record<string, string>>])[] = [
  ["velocity",   { per: "card", window: "1h" }],
  ["velocity",   { ...two, count: "101" }],
  ["velocity",   { ...two, count: "0" }],
  ["velocity",   { ...two, per: "phone" }],
  ["velocity",   { ...two, window: "401d" }],
  ["velocity",   { ...two, window: "1 hour" }],
  ["velocity",   { ...two, colour: "red" }],
  ["velocity",   { ...sum, sum: "25.50", currency: "JPY" }],
  ["velocity",   { per: "card", sum: "1", window: "1h" }],
  ["velocity",   { ...two, currency: "USD" }],
  ["duplicate",  { window: "25h" }],
  ["amount",     { currency: "USD" }],
  ["checks",     {}],
  ["checks",     { cvv: "match" }],
  ["amount",     { currency: "USD", max: "1.001" }],
];

test("parameters that make no sense are refused with a sentence", () => {
  for (const [kind, parameters] of refused) {
    const problem = findRule(kind)?.bind(parameters);
    assert.ok(problem instanceof Problem, `${kind} ${JSON.stringify(parameters)}`);
    assert.match(problem.sentence, /\.$/);
  }
  assert.equal(new Set(rules.map(({ kind }) => kind)).size, rules.length);
});
