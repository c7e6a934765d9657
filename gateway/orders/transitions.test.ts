/** The laws of the transition table: true of every table, whatever stages it has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tables } from "./advance.ts";
import { carriedEffects, immediateEffects, plannedEffects } from "./effects.ts";
import type { EventKind } from "./events.ts";
import type { Stage } from "./order.ts";
import { events } from "./testing.ts";
import { type Cell, finalStages, isFinal } from "./transitions.ts";

type Place = { readonly stage: Stage; readonly kind: EventKind; readonly cell: Cell };

for (const [name, table] of Object.entries(tables)) {
  const stages = keysOf(table);
  const kinds = keysOf(events);
  const places: readonly Place[] = stages.flatMap((stage) =>
    kinds.flatMap((kind) => {
      const cell = table[stage][kind];
      return cell === undefined ? [] : [{ stage, kind, cell }];
    }),
  );

  test(`${name}: an order never waits for ever: every open stage can expire, and no other`, () => {
    for (const stage of stages) {
      assert.equal(table[stage].expired !== undefined, !isFinal(stage), stage);
    }
  });

  test(`${name}: the merchant is told of every end, and is told once`, () => {
    for (const { stage, kind, cell } of places) {
      const ends = !isFinal(stage) && isFinal(cell.stage);
      assert.equal(cell.effect === "notify_merchant", ends, `${stage}, ${kind}`);
    }
  });

  test(`${name}: what has ended stays as it ended`, () => {
    for (const { stage, kind, cell } of places) {
      if (isFinal(stage)) assert.equal(cell.stage, stage, `${stage}, ${kind}`);
    }
  });

  test(`${name}: every stage can be reached from filtering`, () => {
    const reached = new Set<Stage>(["filtering"]);
    for (const stage of reached) {
      for (const place of places) if (place.stage === stage) reached.add(place.cell.stage);
    }

    assert.deepEqual([...reached].sort(), [...stages].sort());
  });

  test(`${name}: every final stage can be reached, and every open stage can be left`, () => {
    for (const stage of stages) {
      const leaves = places.some((place) => place.stage === stage && place.cell.stage !== stage);
      assert.equal(leaves, !isFinal(stage), stage);
    }
    assert.deepEqual(
      [...finalStages].filter((stage) => !stages.includes(stage)),
      [],
    );
  });

  test(`${name}: every cell leads to a stage of the table and to a known effect`, () => {
    const effects: readonly string[] = [...immediateEffects, ...carriedEffects, ...plannedEffects];
    for (const { stage, kind, cell } of places) {
      assert.ok(stages.includes(cell.stage), `${stage}, ${kind}`);
      if (cell.effect !== undefined) assert.ok(effects.includes(cell.effect), cell.effect);
    }
  });

  test(`${name}: an open stage without an effect waits for the cardholder`, () => {
    for (const { stage, kind, cell } of places) {
      if (isFinal(cell.stage) || cell.effect !== undefined) continue;
      assert.match(cell.stage, /^awaiting_/, `${stage}, ${kind}`);
    }
  });

  test(`${name}: money is asked for on the way into authorizing, and nowhere else`, () => {
    for (const { stage, kind, cell } of places) {
      const enters = stage !== "authorizing" && cell.stage === "authorizing";
      assert.equal(cell.effect === "authorize", enters, `${stage}, ${kind}`);
    }
  });

  test(`${name}: a charge in doubt never ends by the clock, nor as approved`, () => {
    assert.equal(table.authorizing.expired?.stage, "reversing");
    assert.equal(table.reversing.expired?.stage, "reversing");
    for (const { stage, cell } of places) {
      if (stage === "reversing") assert.notEqual(cell.stage, "approved");
    }
  });

  test(`${name}: whatever a reversal reports is understood wherever one is owed`, () => {
    const owing = places.filter(({ cell }) => cell.effect === "reverse");
    const missing = [...new Set(owing.map(({ cell }) => cell.stage))].flatMap((stage) =>
      (["reversed", "part_reversed", "reversal_unanswered"] as const)
        .filter((kind) => table[stage][kind] === undefined)
        .map((kind) => `${kind} in ${stage}`),
    );

    assert.deepEqual(missing, []);
  });
}

function keysOf<Key extends string>(record: { readonly [Name in Key]?: unknown }): readonly Key[] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
}
