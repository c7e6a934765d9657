/** The three lists of effects: each name is in exactly one of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Effect,
  externalEffects,
  immediateEffects,
  isExternal,
  isImmediate,
  outboxEffects,
} from "./effects.ts";
import { beginnings, type Cell, tables } from "./transitions.ts";

const all: readonly Effect[] = [...immediateEffects, ...externalEffects, ...outboxEffects];

test("every effect is in exactly one list", () => {
  assert.equal(new Set(all).size, all.length);
});

test("every effect that a table names is in a list", () => {
  const cells = Object.values(tables).flatMap((table) =>
    Object.values(table).flatMap((row): Cell[] => Object.values(row)),
  );
  const named = new Set([...cells, ...Object.values(beginnings)].map(({ effect }) => effect));
  named.delete(undefined);

  assert.ok(named.size > 0);
  for (const effect of named)
    assert.ok(
      all.some((known) => known === effect),
      String(effect),
    );
});

test("an effect is immediate or carried by its list, and planned ones are neither", () => {
  const immediate: readonly string[] = immediateEffects;
  const carried: readonly string[] = externalEffects;
  for (const effect of all) {
    assert.equal(isImmediate(effect), immediate.includes(effect), effect);
    assert.equal(isExternal(effect), carried.includes(effect), effect);
  }
});
