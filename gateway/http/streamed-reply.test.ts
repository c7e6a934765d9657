/** Replies in parts: as fast as the client reads, whole or visibly broken, and for no one else. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { serveRoutes, serveSockets, untilClosed } from "./testing.ts";

type Bounds = Parameters<typeof serveSockets>[1]["bounds"];
const ask = "GET /parts HTTP/1.1\r\nhost: x\r\n\r\n";
const lastChunk = "0\r\n\r\n";

/** Serves these parts to one client. `ended` resolves when no further part will be made. */
async function serve(t: TestContext, makeParts: () => AsyncGenerator<string>, bounds: Bounds = {}) {
  const ended = Promise.withResolvers<void>();
  async function* parts() {
    try {
      yield* makeParts();
    } finally {
      ended.resolve();
    }
  }
  const answer = async () => ({ status: 200, headers: {}, body: "", parts: parts() });
  const routes = [{ method: "GET", path: "/parts", answer } as const];
  const { server, open } = await serveSockets(t, { routes, bounds });
  return { server, client: await open(), ended: ended.promise };
}

test("all parts arrive, and the connection stays open for the next request", async (t) => {
  async function* parts() {
    yield "one,";
    yield "two";
  }
  const answer = async () => ({ status: 200, headers: {}, body: "", parts: parts() });
  const server = serveRoutes(t, { routes: [{ method: "GET", path: "/parts", answer }] });

  for (const reply of [await server.inject("/parts"), await server.inject("/parts")]) {
    assert.deepEqual([reply.statusCode, reply.body], [200, "one,two"]);
    assert.equal(reply.headers["transfer-encoding"], "chunked");
    assert.equal(reply.headers["content-length"], undefined);
  }
});

test("a reply that fails is reset without its last chunk", async (t) => {
  const { client, ended } = await serve(t, async function* parts() {
    yield "one,";
    throw new Error("the database is gone");
  });
  const failed = once(client, "error");

  client.write(ask);
  const received = await untilClosed(client);

  assert.equal((await failed)[0].code, "ECONNRESET");
  assert.doesNotMatch(received, new RegExp(`${lastChunk}$`));
  await ended;
});

test("a client that does not read gets no further parts, and loses its connection in time", async (t) => {
  let made = 0;
  const { client, ended } = await serve(
    t,
    async function* parts() {
      for (;;) {
        made += 1;
        yield "x".repeat(1_000_000);
      }
    },
    { idleTimeoutMs: 50 },
  );

  client.pause().write(ask);
  await ended;

  assert.ok(made < 50, `${made} parts`);
});

test("a client that reads a little at a time loses its connection in the end", async (t) => {
  const { client, ended } = await serve(
    t,
    async function* parts() {
      for (;;) yield "x".repeat(100_000);
    },
    { replyWaitMs: 300 },
  );
  let received = 0;
  client.on("data", (chunk) => {
    received += chunk.length;
    client.pause();
  });
  const reading = setInterval(() => client.resume(), 5);
  t.after(() => clearInterval(reading));

  client.write(ask);
  await ended;

  assert.ok(received > 0);
});

test("no further part is made when the client leaves", async (t) => {
  const { client, ended } = await serve(t, async function* parts() {
    for (;;) yield "x".repeat(1_000_000);
  });

  client.write(ask);
  await once(client, "data");
  client.destroy();

  await ended;
});

test("a server that closes breaks off its replies in parts", async (t) => {
  const { server, client, ended } = await serve(t, async function* parts() {
    for (;;) yield "x".repeat(1_000_000);
  });
  client.write(ask);
  await once(client, "data");
  client.pause();

  await server.close();

  await ended;
  client.resume();
  assert.doesNotMatch(await untilClosed(client), new RegExp(`${lastChunk}$`));
});
