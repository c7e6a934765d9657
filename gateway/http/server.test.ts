/** Health over HTTP, and what a lost database connection becomes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { healthRoutes } from "./health.ts";
import { makeStorageGuard } from "./server.ts";
import { serveRoutes } from "./testing.ts";

test("the gateway is ready when nothing is missing, and says what is", async (t) => {
  let state = { ready: true, missing: {} };
  const server = serveRoutes(t, {
    routes: healthRoutes({
      checkReadiness: async () => state,
      registry: { contentType: "text/plain; version=0.0.4", metrics: async () => "up 1\n" },
    }),
  });

  const [live, ready] = [await server.inject("/health/live"), await server.inject("/health/ready")];
  state = { ready: true, missing: { "gate acme-bank": "not signed on" } };
  const named = await server.inject("/health/ready");
  state = { ready: false, missing: { database: "no answer within 2 s" } };
  const [alive, unready] = [
    await server.inject("/health/live"),
    await server.inject("/health/ready"),
  ];
  const metrics = await server.inject("/metrics");

  assert.deepEqual([live.statusCode, ready.statusCode], [200, 200]);
  assert.deepEqual(ready.json(), { status: "ready", missing: {} });
  assert.deepEqual([alive.statusCode, unready.statusCode], [200, 503]);
  assert.deepEqual(
    [named.statusCode, named.json()],
    [200, { status: "ready", missing: { "gate acme-bank": "not signed on" } }],
  );
  assert.deepEqual(unready.json(), { status: "not ready", missing: state.missing });
  assert.equal(unready.headers["cache-control"], "no-store");
  assert.deepEqual(
    [metrics.headers["content-type"], metrics.body],
    ["text/plain; version=0.0.4", "up 1\n"],
  );
});

test("a lost connection is a failure that may be tried again; other errors stay errors", async () => {
  const lost = new Error("connection terminated");
  const bug = new Error("not a function");
  const guard = makeStorageGuard((error) => error === lost);

  const answer = await guard(async (left: number, right: number) => left + right)(1, 2);
  const failure = await guard(() => Promise.reject(lost))();

  assert.equal(answer, 3);
  assert.ok(failure instanceof Failure);
  assert.equal(failure.code, "storage_unavailable");
  assert.match(failure.cause, /connection terminated/);
  await assert.rejects(guard(() => Promise.reject(bug))(), bug);
});

test("beyond a number of calls that wait for the database, the next is refused at once", async () => {
  const answer = Promise.withResolvers<string>();
  const guard = makeStorageGuard(() => true, 2);
  const find = guard(() => answer.promise);
  const fail = guard(() => Promise.reject(new Error("lost")));

  const waiting = [find(), find()];
  const refused = await find();
  answer.resolve("found");

  assert.ok(refused instanceof Failure);
  assert.match(refused.cause, /too many/);
  assert.deepEqual(await Promise.all(waiting), ["found", "found"]);
  for (let count = 0; count < 3; count += 1) assert.ok((await fail()) instanceof Failure);
  assert.equal(await find(), "found");
});
