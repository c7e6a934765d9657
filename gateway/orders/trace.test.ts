/** References and trace numbers: derived from the order alone, and back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asOrderId, composeOrderId } from "../values/ids.ts";
import { parseReference, referenceOf, traceNumberOf } from "./trace.ts";

const sequences = fc.bigInt({ min: 1n, max: 9_223_372_036_854n });
const randoms = fc.integer({ min: 0, max: 999_999 });
const attempts = fc.integer({ min: 1, max: 36 * 36 - 1 });

test("a reference tells the sequence number and the attempt that it was made of", () => {
  fc.assert(
    fc.property(sequences, randoms, attempts, (sequence, random, attempt) => {
      const reference = referenceOf(composeOrderId(sequence, random), attempt);
      assert.match(reference, /^[0-9A-Z]{12}$/);
      assert.deepEqual(parseReference(reference), { sequence, attempt });
    }),
  );
});

test("two orders never share a reference, and neither do two attempts", () => {
  fc.assert(
    fc.property(sequences, attempts, attempts, (sequence, attempt, other) => {
      const order = composeOrderId(sequence, 5);
      const next = composeOrderId(sequence + 1n, 5);
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
  assert.throws(() => referenceOf(asOrderId("1000001"), 36 * 36));
});

test("a trace number has six digits and is never zero; charge and reversal differ", () => {
  fc.assert(
    fc.property(sequences, randoms, (sequence, random) => {
      const order = composeOrderId(sequence, random);
      const identifiers = traceNumberOf(order, 0);
      const reversal = traceNumberOf(order, 1);
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
  for (let sequence = 1n; sequence <= 1_000n; sequence += 1n) {
    for (const message of [0, 1]) seen.add(traceNumberOf(composeOrderId(sequence, 0), message));
  }
  assert.equal(seen.size, 2_000);
});

test("no two messages of an order share a trace number, whatever it tries and whatever follows", () => {
  const order = asOrderId("590323900000781909");
  const numbers: string[] = [];
  for (let attempt = 1; attempt <= 40; attempt += 1) {
    numbers.push(traceNumberOf(order, 0, attempt), traceNumberOf(order, 1, attempt));
  }
  for (let message = 2; message <= 60; message += 2) numbers.push(traceNumberOf(order, message));

  assert.equal(new Set(numbers).size, numbers.length);
});
