/** The laws of the transition tables. Some hold for every table, some for one kind of table. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventKind } from "./events.ts";
import type { Stage, TransactionKind } from "./order.ts";
import {
  type Effect,
  externalEffects,
  immediateEffects,
  isExternal,
  isFinal,
  isImmediate,
  outboxEffects,
  stagesInDoubt,
} from "./stages.ts";
import { events } from "./testing.ts";
import {
  anyStage,
  beginnings,
  type Cell,
  needsConditions,
  type TransitionTable,
  tables,
  tablesWithTriesLeft,
  whileOwingPrior,
} from "./transitions.ts";

type TableCell = { readonly stage: Stage; readonly kind: EventKind; readonly cell: Cell };

const charges: readonly TransactionKind[] = ["sale", "preauth", "account-verification"];

const withTriesLeft = charges.map(
  (kind) => [`${kind} with tries left`, kind, tablesWithTriesLeft[kind]] as const,
);
const every = [
  ...keysOf(tables).map((kind) => [kind as string, kind, tables[kind]] as const),
  ...withTriesLeft,
];

for (const [name, transaction, table] of every) {
  const isPage = tablesWithTriesLeft[transaction] === table && charges.includes(transaction);
  const stages = keysOf(table);
  const kinds = keysOf(events);
  const places: readonly TableCell[] = stages.flatMap((stage) =>
    kinds.flatMap((kind) => {
      const cell = table[stage]?.[kind];
      return cell === undefined ? [] : [{ stage, kind, cell }];
    }),
  );

  test(`${name}: it never waits for ever: every open stage can expire, and no other`, () => {
    for (const stage of stages) {
      assert.equal(table[stage]?.expired !== undefined, !isFinal(stage), stage);
    }
  });

  test(`${name}: the merchant is told of every end, and is told once`, () => {
    for (const { stage, kind, cell } of places) {
      const ends = !isFinal(stage) && isFinal(cell.stage);
      assert.equal(cell.effects.includes("notify_merchant"), ends, `${stage}, ${kind}`);
    }
  });

  test(`${name}: what has ended stays as it ended`, () => {
    for (const { stage, kind, cell } of places) {
      if (isFinal(stage)) assert.equal(cell.stage, stage, `${stage}, ${kind}`);
    }
  });

  test(`${name}: every stage can be reached from its beginning`, () => {
    const reached = new Set<Stage>([beginnings[transaction].stage]);
    if (charges.includes(transaction)) reached.add("awaiting_card");
    for (const stage of reached) {
      for (const place of places) if (place.stage === stage) reached.add(place.cell.stage);
    }

    // While tries are left, only the end of the page's time ends the order, and not a refusal.
    const ends = isPage ? stages.filter((each) => each !== "error" && each !== "filtered") : stages;
    assert.deepEqual([...reached].sort(), [...ends].sort());
  });

  test(`${name}: every open stage can be left`, () => {
    for (const stage of stages) {
      const leaves = places.some((place) => place.stage === stage && place.cell.stage !== stage);
      assert.equal(leaves, !isFinal(stage), stage);
    }
  });

  test(`${name}: every cell leads to a stage of the table and to a known effect`, () => {
    const effects: readonly string[] = [...immediateEffects, ...externalEffects, ...outboxEffects];
    for (const { stage, kind, cell } of places) {
      assert.ok(stages.includes(cell.stage), `${stage}, ${kind}`);
      for (const effect of cell.effects) assert.ok(effects.includes(effect), effect);
      assert.ok(cell.effects.filter((effect) => !isOutbox(effect)).length <= 1, kind);
    }
  });

  test(`${name}: an open stage without an effect waits for the cardholder`, () => {
    for (const { stage, kind, cell } of places) {
      if (isFinal(cell.stage) || cell.effects.length > 0) continue;
      assert.match(cell.stage, /^awaiting_/, `${stage}, ${kind}`);
    }
  });

  test(`${name}: doubt never ends by the clock`, () => {
    for (const stage of stages.filter((each) => stagesInDoubt.includes(each))) {
      assert.ok(stagesInDoubt.includes(table[stage]?.expired?.stage ?? "error"), stage);
    }
  });

  test(`${name}: an operator can look into any doubt, and settle it either way`, () => {
    for (const stage of stages.filter((each) => stagesInDoubt.includes(each))) {
      assert.equal(table[stage]?.asked_again?.stage, stage);
      assert.equal(table[stage]?.settled_as_done?.stage, "approved");
      assert.equal(table[stage]?.settled_as_not_done?.stage, isPage ? "awaiting_card" : "error");
    }
  });

  if (transaction === "payout") payoutLaws(places);
  else if (charges.includes(transaction)) chargeLaws(name, table, places);
  else followUpLaws(transaction, places);
}

function chargeLaws(name: string, table: TransitionTable, places: readonly TableCell[]): void {
  test(`${name}: a card is taken while nothing is in progress or in doubt, and never else`, () => {
    const taking = places.filter(({ kind }) => kind === "card_entered");

    assert.deepEqual(
      taking.map(({ stage }) => stage),
      ["awaiting_card"],
    );
  });

  test(`${name}: money is asked for on the way into authorizing, or anew by another charge`, () => {
    const anew: readonly EventKind[] = ["rerouted", "amount_refused"];
    for (const { stage, kind, cell } of places) {
      const enters = stage !== "authorizing" && cell.stage === "authorizing";
      const asks = enters || anew.includes(kind);
      assert.equal(cell.effects.includes("authorize"), asks, `${stage}, ${kind}`);
    }
  });

  test(`${name}: what may have left never goes to another gate`, () => {
    const rerouted = places.filter(({ kind }) => kind === "rerouted");
    assert.deepEqual(
      rerouted.map(({ stage }) => stage),
      ["authorizing"],
    );
  });

  test(`${name}: what is being taken back is approved by nobody but an operator`, () => {
    assert.equal(table.authorizing?.expired?.stage, "reversing");
    for (const { stage, kind, cell } of places) {
      if (stage !== "reversing" || cell.stage !== "approved") continue;
      assert.equal(kind, "settled_as_done");
    }
  });

  test(`${name}: only the host's word, or an operator's, ends a reversal`, () => {
    const ends = places.filter(
      ({ stage, cell }) =>
        table[stage]?.reversal_refused !== undefined && !cell.effects.some(isExternal),
    );
    const words = ["reversed", "part_reversed", "settled_as_done", "settled_as_not_done"];

    assert.deepEqual([...new Set(ends.map(({ kind }) => kind))].sort(), words.sort());
  });

  test(`${name}: whatever a reversal reports is understood wherever one is owed`, () => {
    const owing = places.filter(({ cell }) => cell.effects.includes("reverse"));
    const missing = [...new Set(owing.map(({ cell }) => cell.stage))].flatMap((stage) =>
      reportsIn(stage)
        .filter((kind) => table[stage]?.[kind] === undefined)
        .map((kind) => `${kind} in ${stage}`),
    );

    assert.deepEqual(missing, []);
  });
}

function payoutLaws(places: readonly TableCell[]): void {
  test("payout: no event leads to a reversal, and a late approval changes nothing", () => {
    for (const { stage, kind, cell } of places) {
      assert.ok(!cell.effects.includes("reverse"), `${stage}, ${kind}`);
      assert.ok(!["approved_late", "reversed", "authorized"].includes(kind), kind);
    }
  });

  test("payout: it is sent on the way into paying, and from doubt it never returns there", () => {
    for (const { stage, kind, cell } of places) {
      if (cell.stage !== "paying") continue;
      assert.deepEqual(cell.effects, ["pay_out"]);
      assert.ok(stage === "filtering" || kind === "rerouted", `${stage}, ${kind}`);
    }
    const rerouted = places.filter(
      ({ kind }) => kind === "rerouted" || kind === "gate_unavailable",
    );
    assert.ok(rerouted.every(({ stage }) => stage === "filtering" || stage === "paying"));
  });

  test("payout: only the host's word, or an operator's, ends its doubt", () => {
    const ends = places.filter(({ stage, cell }) => stage === "repeating" && isFinal(cell.stage));

    assert.deepEqual(
      ends.map(({ kind }) => kind).sort(),
      ["paid_out", "proved_unpaid", "settled_as_done", "settled_as_not_done"].sort(),
    );
  });
}

/** A partial approval can only decline an open order. */
const reportsIn = (stage: Stage): readonly EventKind[] => [
  ...(["reversed", "reversal_unanswered", "reversal_refused", "original_not_found"] as const),
  ...(stage === "reversing" ? (["part_reversed"] as const) : []),
];

function followUpLaws(name: TransactionKind, places: readonly TableCell[]): void {
  test(`${name}: what may have left is repeated, and only an answer or an operator ends it`, () => {
    const ends = places.filter(({ stage, cell }) => stage === "repeating" && isFinal(cell.stage));
    const done = name === "capture" ? "captured" : "returned";

    assert.deepEqual(
      ends.map(({ kind }) => kind).sort(),
      [done, "refused", "settled_as_done", "settled_as_not_done"].sort(),
    );
  });

  test(`${name}: what it asks for is the same at first and in doubt`, () => {
    const { effects } = beginnings[name];
    for (const { stage, kind, cell } of places) {
      if (cell.stage !== "repeating" || cell.effects.includes("alert_operator")) continue;
      assert.deepEqual(cell.effects, effects, `${stage}, ${kind}`);
    }
  });

  test(`${name}: it fails at once only while nothing has left`, () => {
    const failing = places.filter(({ kind }) => kind === "gate_unavailable");
    assert.deepEqual(
      failing.map(({ stage }) => stage),
      [beginnings[name].stage],
    );
  });
}

function keysOf<Key extends string>(record: { readonly [Name in Key]?: unknown }): readonly Key[] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
}

function isOutbox(effect: Effect): boolean {
  return outboxEffects.some((outbox) => outbox === effect);
}

const all: readonly Effect[] = [...immediateEffects, ...externalEffects, ...outboxEffects];

for (const [name, kind, table] of withTriesLeft) {
  test(`${name}: every refusal leads back to the page, without a word to the merchant`, () => {
    for (const stage of keysOf(table).filter((each) => !isFinal(each))) {
      for (const [event, plain] of Object.entries(tables[kind][stage] ?? {})) {
        const cell = table[stage]?.[event as EventKind];
        const isRefusal = ["declined", "filtered", "error"].includes(plain.stage);
        const isTime = stage === "awaiting_card";
        if (!isRefusal || isTime) assert.deepEqual(cell, plain, `${stage}, ${event}`);
        // A charge that the acquirer may still process is reversed first.
        else if (plain.effects.includes("reverse")) {
          assert.deepEqual(cell, { stage: "reversing", effects: ["reverse"] });
        } else assert.deepEqual(cell, { stage: "awaiting_card", effects: [] });
      }
    }
  });
}

test("every event stands in one place: in stages, in every stage, or at a beginning", () => {
  const inStages = Object.values(tables).flatMap((table) => Object.values(table).flatMap(keysOf));
  const beginning = Object.values(beginnings).map(({ event }) => event);
  const places = [inStages, beginning, keysOf(anyStage)].map((kinds) => [...new Set(kinds)]);

  assert.deepEqual(places.flat().sort(), [...keysOf(events)].sort());
});

test("while an earlier attempt is reversed, only an operator's events mean something else", () => {
  const own = keysOf(whileOwingPrior);

  assert.ok(own.length > 0);
  for (const kind of own) assert.ok("by" in events[kind], kind);
});

test("every effect is in exactly one list", () => {
  assert.equal(new Set(all).size, all.length);
});

test("every effect that a table names is in a list", () => {
  const cells = Object.values(tables).flatMap((table) =>
    Object.values(table).flatMap((row): Cell[] => Object.values(row)),
  );
  const named = new Set([...cells, ...Object.values(beginnings)].flatMap(({ effects }) => effects));

  assert.ok(named.size > 0);
  for (const effect of named)
    assert.ok(
      all.some((known) => known === effect),
      String(effect),
    );
});

test("an effect is immediate or external by its list", () => {
  const immediate: readonly string[] = immediateEffects;
  const external: readonly string[] = externalEffects;
  for (const effect of all) {
    assert.equal(isImmediate(effect), immediate.includes(effect), effect);
    assert.equal(isExternal(effect), external.includes(effect), effect);
  }
});

test("conditions are gathered for the few events that lead to an immediate effect", () => {
  const needing = Object.values(events).filter(needsConditions);

  assert.deepEqual(needing.map(({ kind }) => kind).sort(), [
    "authentication_demanded",
    "card_entered",
    "cleared_for_3ds",
  ]);
});
