/**
 * References and trace numbers are derived from the order's sequence number, which can be read back
 * from them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseReference, referenceOf, traceNumberOf } from "./messages.ts";

const sequences = fc.integer({ min: 1, max: 36 ** 10 - 2 });
const attempts = fc.integer({ min: 1, max: 36 * 36 - 1 });

test("a reference tells the sequence number and the attempt that it was made of", () => {
  fc.assert(
    fc.property(sequences, attempts, (sequence, attempt) => {
      const reference = referenceOf({ sequence }, attempt);
      assert.match(reference, /^[0-9A-Z]{12}$/);
      assert.deepEqual(parseReference(reference), { sequence, attempt });
    }),
  );
});

test("two orders never share a reference, and neither do two attempts", () => {
  fc.assert(
    fc.property(sequences, attempts, attempts, (sequence, attempt, other) => {
      const order = { sequence };
      const next = { sequence: sequence + 1 };
      assert.notEqual(referenceOf(order, attempt), referenceOf(next, attempt));
      assert.equal(referenceOf(order, attempt) === referenceOf(order, other), attempt === other);
    }),
  );
});

test("a text that is no reference of ours is read as nothing", () => {
  for (const text of [
    "",
    "00000000001",
    "0000000000010",
    "00000000-R01",
    "00000000rt01",
    "ÄÄÄÄÄÄÄÄÄÄÄÄ",
  ]) {
    assert.equal(parseReference(text), undefined, text);
  }
});

test("an order whose numbers do not fit into a reference is a broken assumption", () => {
  assert.throws(() => referenceOf({ sequence: 1 }, 36 * 36));
});

test("a trace number has six digits and is never zero; charge and reversal differ", () => {
  fc.assert(
    fc.property(sequences, (sequence) => {
      const identifiers = traceNumberOf({ sequence }, 0);
      const reversal = traceNumberOf({ sequence }, 1);
      for (const number of [identifiers, reversal]) {
        assert.match(number, /^\d{6}$/);
        assert.notEqual(number, "000000");
      }
      assert.notEqual(identifiers, reversal);
    }),
  );
});

test("orders in a row have trace numbers of their own", () => {
  const seen = new Set<string>();
  for (let sequence = 1; sequence <= 1_000; sequence += 1) {
    for (const message of [0, 1]) seen.add(traceNumberOf({ sequence }, message));
  }
  assert.equal(seen.size, 2_000);
});

test("no two messages of an order share a trace number, whatever it tries and whatever follows", () => {
  const order = { sequence: 590_323_900_000 };
  const numbers: string[] = [];
  for (let attempt = 1; attempt <= 40; attempt += 1) {
    numbers.push(traceNumberOf(order, 0, attempt), traceNumberOf(order, 1, attempt));
  }
  for (let message = 2; message <= 60; message += 2) numbers.push(traceNumberOf(order, message));

  assert.equal(new Set(numbers).size, numbers.length);
});
