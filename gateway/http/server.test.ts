/** Health over HTTP, and the answers after a lost database connection. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { healthRoutes } from "./ports.ts";
import type { HttpReply } from "./router.ts";
import { makeServer, makeStorageGuard } from "./server.ts";
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
  state = { ready: true, missing: { "gate acme": "not signed on" } };
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
    [200, { status: "ready", missing: { "gate acme": "not signed on" } }],
  );
  assert.deepEqual(unready.json(), { status: "not ready", missing: state.missing });
  assert.equal(unready.headers["cache-control"], "no-store");
  assert.deepEqual(
    [metrics.headers["content-type"], metrics.body],
    ["text/plain; version=0.0.4", "up 1\n"],
  );
});

test("a server that closes answers what it has begun, and nothing new", async () => {
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<HttpReply>()];
  const server = makeServer({
    isSecure: true,
    answerError: ({ status }) => ({ contentType: "text/plain", body: String(status) }),
    routes: [
      {
        method: "POST",
        path: "/slow",
        answer() {
          begun.resolve();
          return answer.promise;
        },
      },
    ],
  });
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  const asked = fetch(`http://127.0.0.1:${port}/slow`, { method: "POST", body: "a=1" });
  await begun.promise;

  const closed = server.close();
  const refused = await fetch(`http://127.0.0.1:${port}/slow`).catch((error) => error.cause.code);
  answer.resolve({ status: 200, headers: { "content-type": "text/plain" }, body: "über" });
  const answered = await asked;
  await closed;

  assert.equal(refused, "ECONNREFUSED");
  const { headers } = answered;
  assert.deepEqual([answered.status, await answered.text()], [200, "über"]);
  assert.deepEqual([headers.get("connection"), headers.get("content-length")], ["close", "5"]);
  assert.match(headers.get("strict-transport-security") ?? "", /^max-age=31536000/);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});

test("a reply that cannot be sent, and a handler that throws, are internal errors", async (t) => {
  const errors: unknown[] = [];
  const fail = () => assert.fail("at once");
  const splitting = { status: 200, headers: { location: "a\r\nset-cookie: b" }, body: "" };
  const server = serveRoutes(t, {
    routes: [
      { method: "GET", path: "/splits", answer: async () => splitting },
      { method: "GET", path: "/rejects", answer: () => Promise.reject(new Error("broken")) },
      { method: "GET", path: "/throws", answer: fail, answerEarly: fail },
    ],
    answerError({ status, error }) {
      errors.push(error);
      return { contentType: "text/plain", body: String(status) };
    },
  });

  for (const url of ["/splits", "/rejects", "/throws"]) {
    const { statusCode, headers, body } = await server.inject(url);
    assert.deepEqual([statusCode, body, headers["set-cookie"]], [500, "500", undefined]);
  }
  assert.match(String(errors), /Invalid character in header.*broken.*at once/s);
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
