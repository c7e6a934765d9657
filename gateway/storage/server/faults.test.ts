/** Every error of a failing database, network or driver has the verdict of the table. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isServerInDoubt, isUnavailable, judge, type Verdict } from "./faults.ts";

// biome-ignore format: a table
const errors: readonly (readonly [code: string, verdict: Verdict])[] = [
  ["08000", "retry"], ["08003", "retry"], ["08006", "retry"], ["08P01", "retry"],
  ["25006", "retry"], ["40001", "retry"], ["40P01", "retry"], ["53100", "retry"],
  ["53200", "retry"], ["53300", "retry"], ["55P03", "retry"], ["57014", "retry"],
  ["57P01", "retry"], ["57P02", "retry"], ["57P03", "retry"], ["58030", "retry"],
  ["28000", "refuse"], ["28P01", "refuse"], ["3D000", "refuse"], ["42501", "refuse"],
  ["57P04", "refuse"],
  ["22P02", "bug"], ["23505", "bug"], ["25001", "bug"], ["25P02", "bug"], ["42703", "bug"],
  ["42P01", "bug"], ["XX000", "retry"], ["XX001", "retry"],
  ["EHOSTUNREACH", "retry"], ["ENETUNREACH", "retry"], ["ENOTFOUND", "retry"],
  ["EAI_AGAIN", "retry"], ["ECONNREFUSED", "retry"], ["ECONNRESET", "retry"], ["EPIPE", "retry"],
  ["ETIMEDOUT", "retry"], ["ENOENT", "retry"], ["EACCES", "refuse"], ["EINVAL", "bug"],
];

test("each code of PostgreSQL and of the operating system has one verdict", () => {
  for (const [code, verdict] of errors) {
    assert.equal(judge(Object.assign(new Error("any"), { code })), verdict, code);
  }
});

// biome-ignore format: a table
const sentences: readonly (readonly [said: string, verdict: Verdict])[] = [
  ["Query read timeout",                                                       "retry"],
  ["timeout expired",                                                          "retry"],
  ["timeout exceeded when trying to connect",                                  "retry"],
  ["Connection terminated",                                                    "retry"],
  ["Connection terminated unexpectedly",                                       "retry"],
  ["Connection terminated due to connection timeout",                          "retry"],
  ["Client was closed and is not queryable",                                   "retry"],
  ["Client has encountered a connection error and is not queryable",           "retry"],
  ["Cannot call write after a stream was destroyed",                           "retry"],
  ["The server does not support SSL connections",                              "refuse"],
  ["Hostname/IP does not match certificate's altnames",                        "refuse"],
  ["Cannot read properties of undefined",                                      "bug"],
];

test("each message of the driver has one verdict", () => {
  for (const [said, verdict] of sentences) assert.equal(judge(new Error(said)), verdict, said);
  assert.equal(judge("Query read timeout"), "bug");
});

test("a merchant is told that the database is unreachable only if it is", () => {
  assert.ok(isUnavailable(Object.assign(new Error("any"), { code: "28P01" })));
  assert.ok(!isUnavailable(Object.assign(new Error("any"), { code: "23505" })));
  // The node is ending: no statement is tried again, and the merchant is asked to try another node.
  const closed = new Error("Cannot use a pool after calling end on the pool");
  assert.deepEqual([judge(closed), isUnavailable(closed)], ["bug", true]);
});

test("silence and a refused write cast doubt on the server, a broken connection does not", () => {
  assert.ok(isServerInDoubt(new Error("Query read timeout")));
  assert.ok(isServerInDoubt(Object.assign(new Error("any"), { code: "25006" })));
  assert.ok(!isServerInDoubt(Object.assign(new Error("any"), { code: "ECONNRESET" })));
});
