/** The requests that are recorded with their answers, and their log entries and metrics. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeMetrics } from "../observability/metrics.ts";
import { approved } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { AccessDenied } from "./control.ts";
import type { RequestOutcome } from "./pipeline.ts";
import { acknowledge } from "./reply.ts";
import { logAnswer, type RequestRecord, recordRequest } from "./routes.ts";
import { entryPoint, group } from "./testing.ts";

const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const order = approved();
const acknowledged = acknowledge({ order, transaction: order.transaction });
const refused = new Failure("invalid_parameter", "email: not an email address", "the cause");
const sale = { name: "sale" };

test("repeats and refusals are recorded with what they were answered", async () => {
  const repeat = await record({ answer: acknowledged, entryPoint, authenticated: true });
  const refusal = await record({ answer: refused, entryPoint: group, authenticated: true });

  assert.deepEqual(repeat.records, [
    {
      merchantId: "7",
      endpointId: "1001",
      serialNumber,
      orderId: order.id,
      operation: "sale",
      at: 5000,
      answer: '{"type":"async-response","describes":"s-1"}',
    },
  ]);
  assert.equal(refusal.records[0]?.orderId, undefined);
  assert.deepEqual(JSON.parse(refusal.records[0]?.answer ?? ""), {
    "type": "validation-error",
    "error-code": "5",
    "error-message": "INVALID_PARAMETER: email: not an email address",
  });
});

test("queries, strangers, new transactions and what cannot be stored are not recorded", async () => {
  const transaction = { ...order.transaction, serialNumber };
  const stored = acknowledge({ order: { ...order, transaction }, transaction });
  const unavailable = new Failure("storage_unavailable");
  // biome-ignore format: a table
  const outcomes: readonly RequestOutcome[] = [
    { answer: stored,                       entryPoint, authenticated: true },
    { answer: unavailable,                  entryPoint, authenticated: true },
    { answer: refused,                      entryPoint, authenticated: false },
    { answer: new AccessDenied("nonce"),    entryPoint, authenticated: false },
    { answer: new Failure("internal_failure"),          authenticated: false },
  ];

  for (const outcome of outcomes) assert.deepEqual((await record(outcome)).records, []);
  const query = { answer: acknowledged, entryPoint, authenticated: true };
  assert.deepEqual((await record(query, { name: "status", isQuery: true })).records, []);
});

test("a record that cannot be stored does not change the answer", async () => {
  const error = new Error("the disk is full");
  const { lines } = await record({ answer: refused, entryPoint, authenticated: true }, sale, error);

  assert.deepEqual(lines, [["request.unrecorded", { serial: serialNumber, err: error }]]);
});

test("every answer is a line of the log and a count of the metrics", async () => {
  const metrics = makeMetrics();
  const denied = logOf(
    { answer: new AccessDenied("nonce"), entryPoint, authenticated: false },
    metrics,
  );
  const failed = logOf({ answer: refused, entryPoint, authenticated: true }, metrics);
  const answered = logOf({ answer: acknowledged, entryPoint, authenticated: true }, metrics);

  const facts = { serial: serialNumber, operation: "sale", version: "v2", entry: "1001", ms: 12.3 };
  const causes = [{ message: refused.message, cause: "the cause" }];
  assert.deepEqual(denied, [
    [
      "request.access_denied",
      { ...facts, order: undefined, type: "access-denied", check: "nonce" },
    ],
  ]);
  assert.deepEqual(failed, [
    ["request.refused", { ...facts, order: undefined, type: "validation-error", faults: causes }],
  ]);
  assert.deepEqual(answered, [
    ["request.answered", { ...facts, order: order.id, type: "async-response" }],
  ]);
  const { values } = await metrics.requests.get();
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.type, labels.code, value]),
    [
      ["access-denied", "", 1],
      ["validation-error", "5", 1],
      ["async-response", "", 1],
    ],
  );
  assert.match(await metrics.registry.metrics(), /request_duration_ms_count\{operation="sale"\} 3/);
});

test("all faults of a request are in its line", () => {
  const faults = [new Failure("missing_parameter", "email"), refused];
  const outcome = { answer: refused, entryPoint, authenticated: true, faults };

  const [[, facts = {}] = []] = logOf(outcome, makeMetrics());
  assert.ok("faults" in facts && Array.isArray(facts.faults));
  assert.equal(facts.faults.length, 2);
});

type Line = readonly [event: string, facts: object];

async function record(
  outcome: RequestOutcome,
  operation: { readonly name: string; readonly isQuery?: boolean } = sale,
  error?: Error,
) {
  const records: RequestRecord[] = [];
  const lines: Line[] = [];
  await recordRequest(
    { operation, version: "v2", serialNumber, outcome },
    {
      storeRequest: async (request) => {
        if (error !== undefined) throw error;
        records.push(request);
      },
      clock: { now: () => asInstant(5000) },
      log: (...line) => void lines.push(line),
      metrics: makeMetrics(),
    },
  );
  return { records, lines };
}

function logOf(outcome: RequestOutcome, metrics: ReturnType<typeof makeMetrics>): Line[] {
  const lines: Line[] = [];
  const log = (...line: Line) => void lines.push(line);
  logAnswer({ operation: sale, version: "v2", serialNumber, outcome }, 12.34, { log, metrics });
  return lines;
}
