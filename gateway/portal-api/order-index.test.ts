/** Tests the words that find an order, what it adds to figures, and a session's states. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { amount, approved, asks, draft, events, inStage, meet, start } from "../orders/testing.ts";
import { asSerialNumber } from "../values/ids.ts";
import type { Role } from "../values/roles.ts";
import { asInstant } from "../values/time.ts";
import { stateOf } from "./account.ts";
import { percentilesOf } from "./home.ts";
import {
  bandOf,
  describeOrder,
  figuresOf,
  moneyStateOf,
  personInSearch,
  wordsOfSearch,
} from "./order-index.ts";
import { list, optional, record, ShapeFault, text, whole } from "./schema.ts";

// biome-ignore format: a table
const searches: readonly (readonly [typed: string, words: readonly string[]])[] = [
  [" Ann@Example.com ", ["e:ann@example.com"]],
  ["10.15",             ["o:10.15", "c:10.15", "r:10.15", "a:10.15"]],
  ["0018",              ["o:0018", "c:0018", "r:0018", "l:0018", "a:18"]],
  ["Order-7",           ["o:order-7", "c:order-7", "r:order-7"]],
];

for (const [typed, words] of searches) {
  test(`a search for ${typed} may mean ${words.join(" or ")}`, () => {
    assert.deepEqual(wordsOfSearch(typed), words);
  });
}

// biome-ignore format: a table
const persons: readonly (readonly [typed: string, query: string])[] = [
  ["Doe",         "('doe':* | '@doe':*)"],
  [" Jane  MÜL ", "('jane':* | '@jane':*) & ('mul':* | '@mul':*)"],
  ["o'Brien",     "('o''brien':* | '@o''brien':* | ('o':* & 'brien':*))"],
  ["Ann@Exam",    "'ann@exam':*"],
  ["a\\b",        "('a\\\\b':* | '@a\\\\b':* | ('a':* & 'b':*))"],
  ["10.42",       ""],
  ["J",           ""],
];

for (const [typed, query] of persons) {
  test(`a search for ${typed} asks for the person ${query}`, () => {
    assert.equal(personInSearch(typed), query);
  });
}

test("an order's person is found by names, by the email address, its host and its words", () => {
  const card = { ...draft.card, holderName: "JANE M. DOE" };
  const customer = {
    ...draft.purchase.customer,
    lastName: "Müller",
    email: "j.Doe+x.7@Shop.example",
  };

  const { name, people } = describeOrder({
    ...draft,
    card,
    purchase: { ...draft.purchase, customer },
  });

  assert.equal(name, "JANE M. DOE");
  assert.deepEqual(people, [
    ...["jane", "m", "doe", "muller", "j.doe+x.7@shop.example", "x", "@shop.example"],
  ]);
  // This character folds into eighteen characters, and PostgreSQL refuses a word of 2 kB.
  const long = { ...draft, card: { ...card, holderName: "\ufdfa".repeat(128) } };
  assert.ok(describeOrder(long).people.every((word) => word.length <= 64));
});

const returned = (order: Order, minor?: bigint) =>
  meet(meet(order, asks("return", minor)), events.returned);
const chargedBack = (order: Order) => {
  const facts = { reason: "10.4", at: start, serialNumber: asSerialNumber("d-1") };
  const chargeback = { caseId: "C1", stage: "first" as const, amount, ...facts };
  return meet(order, { kind: "charged_back", chargeback, notify: false });
};
const hold = approved("preauth");

// biome-ignore format: a table
const moneys: readonly (readonly [what: string, order: Order, state: string, net: number | null])[] = [
  ["a sale that is being authorised",   inStage("authorizing"),                                        "processing",      null],
  ["a sale without an answer",          inStage("reversing"),                                          "in_doubt",        null],
  ["a declined sale",                   inStage("declined"),                                           "declined",        null],
  ["a filtered sale",                   inStage("filtered"),                                           "filtered",        null],
  ["an approved sale",                  approved(),                                                    "captured",        1042],
  ["a refund that is on its way",       meet(approved(), asks("return")),                              "captured",        1042],
  ["a refund that was refused",         meet(meet(approved(), asks("return")), events.refused),        "captured",        1042],
  ["a refund without an answer",        meet(meet(approved(), asks("return")), events.outcome_unknown), "in_doubt",       1042],
  ["a refund of a part",                returned(approved(), 42n),                                     "partly_refunded", 1000],
  ["a refund of all",                   returned(returned(approved(), 42n)),                           "refunded",        0],
  ["a chargeback",                      chargedBack(approved()),                                       "charged_back",    0],
  ["a chargeback after a refund",       chargedBack(returned(approved(), 42n)),                        "charged_back",    0],
  ["a hold",                            hold,                                                          "held",            0],
  ["a capture that was refused",        meet(meet(hold, asks("capture")), events.refused),             "held",            0],
  ["a capture of a part",               meet(meet(hold, asks("capture", 700n)), events.captured),      "captured",        700],
  ["a cancelled hold",                  returned(hold),                                                "cancelled",       0],
  ["an account verification",           approved("account-verification"),                              "verified",        0],
];

for (const [what, order, state, net] of moneys) {
  test(`${what} is shown as ${state} and counts ${net}`, () => {
    const { status, words, net: counted } = describeOrder(order);

    assert.deepEqual([moneyStateOf(order), status, counted], [state, state, net]);
    assert.deepEqual(
      words.filter((word) => word.startsWith("s:")),
      [`s:${state}`, ...(net === null ? [] : ["s:approved"])],
    );
  });
}

test("an order adds its outcome once, its reason only when refused, its net amount only when approved", () => {
  const paid = {
    outcome: "approved",
    reason: "",
    threeds: "AUTHENTICATED",
    overheadMs: 3,
  } as const;
  const declined = {
    outcome: "declined",
    reason: "lost_card",
    threeds: "",
    overheadMs: null,
  } as const;
  const places = { amount: 1_015, gate: "7", network: "VISA", issuerCountry: "" };
  const currency = "USD";
  const keysOf = (row: Parameters<typeof figuresOf>[0]) =>
    figuresOf(row).map(({ name, key, count }) => `${name} ${key} ${count}`);

  const wanted = [
    "outcome approved 1",
    "threeds AUTHENTICATED 1",
    "overhead 5 1",
    "by gate approved 7 1",
    "by network approved VISA 1",
    "by band approved USD 10..50 1",
    "amount USD 1015",
  ];
  assert.deepEqual(keysOf({ ...paid, ...places, net: 1015, currency }), wanted);
  const refused = { ...declined, ...places, gate: "", issuerCountry: "DEU" };
  assert.deepEqual(keysOf({ ...refused, net: null, currency }), [
    ...["outcome declined 1", "reason lost_card 1"],
    ...["by network refused VISA 1", "by country refused DEU 1", "by band refused USD 10..50 1"],
  ]);
  const open = { ...declined, ...places, outcome: "processing", reason: "", net: null } as const;
  assert.deepEqual(keysOf({ ...open, currency }), ["outcome processing 1"]);
});

test("a band has the amounts from its lower end up to its upper end, in whole units", () => {
  // biome-ignore format: a table
  const amounts = [
    [999, "USD", "USD 0..10"], [1_000, "USD", "USD 10..50"], [99_999, "EUR", "EUR 200..1000"],
    [100_000, "EUR", "EUR 1000.."], [49, "JPY", "JPY 10..50"], [50_000, "KWD", "KWD 50..200"],
  ] as const;

  for (const [amount, currency, band] of amounts) assert.equal(bandOf({ amount, currency }), band);
});

test("a percentile is the bound of the class in which it lies", () => {
  assert.deepEqual(percentilesOf({ 2: 90, 10: 8, 100: 2 }), {
    p50: 2,
    p95: 10,
    p99: 100,
    count: 100,
  });
  assert.equal(percentilesOf({}), undefined);
});

// biome-ignore format: a table
const states: readonly (readonly [role: Role, hasTotp: boolean, secondFactor: boolean, temporary: boolean, staging: string, production: string])[] = [
  ["admin",           false, false, false, "in",            "enrolment"],
  ["admin",           true,  false, false, "second_factor", "second_factor"],
  ["admin",           true,  true,  false, "in",            "in"],
  ["admin",           false, false, true,  "new_password",  "new_password"],
  ["admin",           true,  false, true,  "second_factor", "second_factor"],
  ["merchant-viewer", false, false, false, "in",            "in"],
  ["finance",         false, false, false, "in",            "enrolment"],
];

for (const [role, hasTotp, secondFactor, isPasswordTemporary, staging, production] of states) {
  const name = `${role}${hasTotp ? " with an app" : ""}${isPasswordTemporary ? ", new" : ""}`;
  test(`${name}${secondFactor ? ", code shown" : ""}: ${staging}, in production ${production}`, () => {
    const account = {
      id: "1",
      login: "ann",
      role,
      merchantId: undefined,
      merchant: undefined,
      hasTotp,
      passkeys: 0,
      recoveryCodes: 0,
      isPasswordTemporary,
      isFactorDemanded: false,
    };
    const session = {
      digest: new Uint8Array(),
      account,
      beganAt: asInstant(0),
      seenAt: asInstant(0),
      secondFactor,
      challenge: undefined,
      pendingTotp: undefined,
    };
    assert.equal(stateOf(session, "staging"), staging);
    assert.equal(stateOf(session, "production"), production);
    assert.equal(stateOf(session, "rehearsal"), production);
  });
}

const shape = record({
  name: text("", { min: 1, max: 3 }),
  count: optional(whole("", 1, 5)),
  tags: optional(list(text(), 2)),
});

// biome-ignore format: a table
const inputs: readonly (readonly [given: unknown, fault: string | undefined])[] = [
  [{ name: "ann" },                         undefined],
  [{ name: "ann", count: "3", tags: "a,b" }, undefined],
  [{},                                      "input.name"],
  [{ name: "anna" },                        "input.name"],
  [{ name: 7 },                             "input.name"],
  [{ name: "ann", count: 1.5 },             "input.count"],
  [{ name: "ann", count: "1e9" },           "input.count"],
  [{ name: "ann", tags: ["a", "b", "c"] },  "input.tags"],
  [{ name: "ann", tags: [{}] },             "input.tags[0]"],
  [{ name: "ann", more: 1 },                "input.more"],
  [JSON.parse('{"name":"ann","__proto__":1}'), "input.__proto__"],
  [["ann"],                                 "input"],
  [null,                                    "input"],
];

for (const [given, fault] of inputs) {
  test(`the input ${JSON.stringify(given)} is ${fault === undefined ? "read" : `refused at ${fault}`}`, () => {
    const read = shape.read(given, "input");
    assert.equal(read instanceof ShapeFault ? read.at : undefined, fault);
  });
}
