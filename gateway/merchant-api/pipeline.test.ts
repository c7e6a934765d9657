/** How the pipeline reads an operation's values from the sent pairs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { currency, line, optional } from "./fields.ts";
import { isSignedByOAuth, versionsOf } from "./operation.ts";
import { operations } from "./operations/index.ts";
import { sale } from "./operations/payments.ts";
import { status } from "./operations/status.ts";
import { collect, readFields, splitFields } from "./pipeline.ts";
import { endpointWith, entryPoint, entryPointOf } from "./testing.ts";

test("values are trimmed, and unknown fields are kept out of nobody's way", () => {
  const sent = collect([
    ["amount", " 10.42\r\n"],
    ["email", "\u00a0jane@example.com\t"],
    ["empty", "   "],
    ["whatever", "x"],
  ]);

  assert.ok(!(sent instanceof Failure));
  assert.deepEqual(
    [...sent],
    [
      ["amount", "10.42"],
      ["email", "jane@example.com"],
      ["empty", ""],
      ["whatever", "x"],
    ],
  );
});

test("a field that is sent twice is refused, whether it is known, empty or the same", () => {
  for (const [first, second] of [
    ["1", "2"],
    ["1", "1"],
    ["", ""],
    ["", "1"],
  ] as const) {
    for (const name of ["amount", "no_such_field", ""]) {
      const refusal = collect([
        [name, first],
        ["x", "y"],
        [name, second],
      ]);
      assert.ok(refusal instanceof Failure);
      assert.equal(refusal.code, "malformed_request");
    }
  }
});

test("names are told apart by case, and may be those of every object", () => {
  const sent = collect([
    ["Amount", "1"],
    ["amount", "2"],
    ["__proto__", "3"],
    ["toString", "4"],
  ]);

  assert.ok(!(sent instanceof Failure));
  assert.equal(sent.size, 4);
});

test("what the checksum covers is read first, an amount together with its currency", () => {
  const names = ({ signed }: ReturnType<typeof splitFields>) => signed.map(([name]) => name).sort();

  const expected = ["amount", "client_orderid", "control", "currency", "email"];
  assert.deepEqual(names(splitFields(sale)), expected);
  assert.deepEqual(names(splitFields(status)), ["client_orderid", "control", "login", "orderid"]);
});

test("every operation of v2 has a checksum, signs its own fields, and reads each field once", () => {
  for (const operation of operations) {
    const { signed, others } = splitFields(operation);
    const names = Object.keys(operation.request);
    const isChecked = versionsOf(operation).includes("v2") && !isSignedByOAuth(operation, "v2");
    const expected = isChecked ? "mandatory" : undefined;
    assert.equal(operation.request["control"]?.necessity, expected, operation.name);
    assert.deepEqual([...signed, ...others].map(([name]) => name).sort(), names.sort());
    for (const term of operation.control) {
      const [name = ""] = typeof term === "string" ? [term] : Object.values<string>(term);
      assert.ok(/^\{id\??\}$/.test(name) || names.includes(name), `${operation.name}: ${name}`);
    }
  }
});

const fields = [
  ["name", line(5, "")],
  ["currency", currency("")],
  ["comment", optional(line(5, ""))],
] as const;

test("all faults are found, in the order of the document", () => {
  const values: Record<string, unknown> = {};
  const sent = new Map([
    ["comment", "too long"],
    ["currency", "usd"],
  ]);

  const faults = readFields(fields, sent, entryPoint, values);

  assert.deepEqual(
    faults.map(({ message }) => message),
    [
      "MISSING_PARAMETER: name",
      "INVALID_PARAMETER: currency: not a currency of ISO 4217",
      "INVALID_PARAMETER: comment: longer than 5 characters",
    ],
  );
  assert.deepEqual(values, {});
});

test("an empty value counts as absent", () => {
  const values: Record<string, unknown> = {};
  const sent = new Map([
    ["name", ""],
    ["currency", "USD"],
    ["comment", ""],
  ]);

  const faults = readFields(fields, sent, entryPoint, values);

  assert.deepEqual(
    faults.map(({ message }) => message),
    ["MISSING_PARAMETER: name"],
  );
  assert.deepEqual(Object.keys(values), ["currency"]);
});

test("an endpoint may waive a field; a group only when all of its endpoints do", () => {
  const sent = new Map([["currency", "USD"]]);
  const [waives, insists] = [endpointWith(["name"]), endpointWith([])];
  const faultsAt = (place: typeof entryPoint) => readFields(fields, sent, place, {}).length;

  assert.equal(faultsAt(entryPointOf(waives)), 0);
  assert.equal(faultsAt(entryPointOf(waives, waives)), 0);
  assert.equal(faultsAt(entryPointOf(waives, insists)), 1);
});
