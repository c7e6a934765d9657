/** Tests calls of the portal API: the request for a route, and the meaning of a failure. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallError,
  call,
  describeRefusalsWith,
  isSessionEnd,
  mayTryAgain,
  requestFor,
} from "./call.ts";

test("a query has the given fields, and lists separated by commas", () => {
  const input = { status: ["declined", "error"], search: "a&b", after: undefined };

  assert.deepEqual(requestFor("GET /orders", input), {
    address: "/portal/api/orders?status=declined%2Cerror&search=a%26b",
    method: "GET",
  });
});

test("a field of the path is encoded and not sent twice", () => {
  const input = { order: "1/2", reason: "broken cup", amount: "49.00" };

  const { body = "", ...rest } = requestFor("POST /orders/preview/:order", input);

  assert.deepEqual(rest, { address: "/portal/api/orders/preview/1%2F2", method: "POST" });
  assert.deepEqual(JSON.parse(body), { reason: "broken cup", amount: "49.00" });
});

test("a route without fields has no query, and a body only when it changes something", () => {
  assert.deepEqual(requestFor("GET /session", {}), {
    address: "/portal/api/session",
    method: "GET",
  });
  assert.equal(requestFor("POST /sign-out", {}).body, "{}");
});

test("a call without an answer says in the user's language that the gateway is unreachable", async () => {
  describeRefusalsWith((code, sentence) => `${code}: ${sentence}`);

  // Outside of a browser, a relative address cannot be reached.
  const failure = await call("GET /session", {}).catch((error: unknown) => error);

  describeRefusalsWith((_code, sentence) => sentence);
  assert.ok(failure instanceof CallError);
  assert.deepEqual([failure.status, failure.code], [0, "unreachable"]);
  assert.equal(failure.message, "unreachable: The gateway cannot be reached.");
});

// biome-ignore format: a table
const failures = [
  ["a lost connection",     new CallError(0, "unreachable", ""),    0, true,  false],
  ["a lost connection",     new CallError(0, "unreachable", ""),    2, false, false],
  ["a refusal",             new CallError(403, "not_allowed", ""),  0, false, false],
  ["the end of a session",  new CallError(401, "signed_out", ""),   0, false, true],
  ["a fault of the page",   new Error("no such thing"),             1, true,  false],
] as const;

for (const [name, error, count, isRepeated, isEnd] of failures) {
  test(`${name} is ${isRepeated ? "" : "not "}repeated after ${count} repeats`, () => {
    assert.equal(mayTryAgain(count, error), isRepeated);
    assert.equal(isSessionEnd(error), isEnd);
  });
}
