/** Connections with several requests, with clients that read nothing, and how they end. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { HttpReply, HttpRequest } from "./router.ts";
import type { Bounds } from "./server.ts";
import { serveSockets, untilClosed } from "./testing.ts";

const length = (body: string) => `content-length: ${body.length}\r\n`;
const post = (path: string, body: string, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${more}${length(body)}\r\n${body}`;

test("requests of one connection are answered in their order", async (t) => {
  const { open, slow } = await serve(t);
  const client = await open();
  const answers = collect(client);
  const chunked = "host: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\n5\r\n0\r\n\r\n";

  client.write(post("/echo", "1"));
  await answers.until(1);
  client.write(post("/slow", "2"));
  await slow.begun.promise;
  client.write(post("/echo", "3"));
  await someTurns();
  client.write(post("/echo", "4"));
  await someTurns();
  slow.end.resolve();
  await answers.until(4);
  client.write(`POST /echo HTTP/1.1\r\n${chunked}${post("/echo", "6")}`);
  client.write(post("/echo", "7"));
  await answers.until(7);

  assert.deepEqual(answers.bodies(), ["1", "2", "3", "4", "5", "6", "7"]);
});

test("a request that comes in pieces while another is answered is read whole", async (t) => {
  const { open, slow } = await serve(t);
  const client = await open();
  const answers = collect(client);
  const body = "4".repeat(200);
  const inPieces = post("/length", body);

  client.write(post("/slow", "2"));
  await slow.begun.promise;
  client.write(inPieces.slice(0, -190));
  await someTurns();
  client.write(inPieces.slice(-190));
  await someTurns();
  slow.end.resolve();
  await answers.until(2);

  assert.deepEqual(answers.bodies(), ["2", "200"]);
});

test("a reply says how long its connection is kept", async (t) => {
  const { open } = await serve(t);
  const client = await open();
  client.write(post("/echo", "1"));
  const [answer] = await once(client, "data");

  assert.match(String(answer), /^HTTP\/1.1 200 OK\r\n.*\r\nkeep-alive: timeout=72\r\n/is);
});

test("a client that reads no replies is not answered for ever", async (t) => {
  const { open, answered } = await serve(t);
  const client = await open();
  await leaveUnread(client, answered);
  const unread = answered.count;
  client.resume();
  await once(client, "data");
  client.write(post("/large", "1"));
  while (answered.count <= unread + 1) await once(client, "data");

  assert.ok(unread < 50, `${unread} replies of a mebibyte wait`);
});

test("a connection with more than a hundred unanswered requests is closed, and others go on", async (t) => {
  const { open, refused } = await serve(t);
  const [client, other] = [await open(), await open()];

  client.write(post("/slow", "1").repeat(150));
  await untilClosed(client);
  other.write(post("/echo", "2"));
  const [answer] = await once(other, "data");

  assert.match(String(answer), /^HTTP\/1.1 200 /);
  assert.deepEqual(refused, ["too many unanswered requests of one connection"]);
});

test("a connection without a request is closed after its time", async (t) => {
  const [hasty, patient] = [{ headerTimeoutMs: 40 }, { idleTimeoutMs: 60 }];
  const silent = await (await serve(t, hasty)).open();
  const used = await (await serve(t, patient)).open();

  used.write(post("/echo", "1"));
  const closed = await Promise.all([untilClosed(silent), untilClosed(used)]);

  assert.match(closed[0], /^HTTP\/1.1 408 /);
  assert.match(closed[1], /^HTTP\/1.1 200 OK.*\r\n\r\n1$/s);
});

test("a server that closes ends idle connections, and others with their reply", async (t) => {
  const { open, server, slow, answered } = await serve(t);
  const [idle, busy, unread] = [await open(), await open(), await open()];
  await leaveUnread(unread, answered);
  idle.write(post("/echo", "1"));
  await once(idle, "data");
  busy.write(post("/slow", "1"));
  await slow.begun.promise;
  const [atIdle, atBusy] = [untilClosed(idle), untilClosed(busy)];

  const closed = server.close();
  await atIdle;
  slow.end.resolve();
  await closed;

  assert.match(await atBusy, /^HTTP\/1.1 200 OK.*connection: close/is);
});

test("all connections can be closed, also while their requests are answered", async (t) => {
  const { open, server, slow } = await serve(t);
  const busy = await open();
  busy.write(post("/slow", "1"));
  await slow.begun.promise;

  server.closeAllConnections();

  assert.equal(await untilClosed(busy), "");
});

test("a handler that fails, and a header of two lines, are internal errors", async (t) => {
  const { open } = await serve(t);
  const client = await open();

  for (const path of ["/fails", "/splits"]) {
    client.write(post(path, "1"));
    assert.match(String(await once(client, "data")), /^HTTP\/1.1 500 Internal.*\r\n\r\n500$/s);
  }
});

async function serve(t: TestContext, bounds: Partial<Bounds> = {}) {
  const slow = { begun: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() };
  const answered = { count: 0 };
  const reply = (body: HttpReply["body"], headers = {}) => ({ status: 200, headers, body });
  const echo = ({ body }: HttpRequest) => reply(String(body));
  const answers: Record<string, (request: HttpRequest) => Promise<HttpReply>> = {
    "/echo": async (request) => echo(request),
    async "/slow"(request) {
      slow.begun.resolve();
      await slow.end.promise;
      return echo(request);
    },
    async "/large"() {
      answered.count += 1;
      return reply(new Uint8Array(1_048_576));
    },
    "/length": async ({ body }) => reply(String(body.length)),
    "/fails": () => assert.fail("at once"),
    "/splits": async () => reply("", { location: "a\r\nset-cookie: b" }),
  };
  const routes = Object.entries(answers).map(([path, answer]) => {
    return { method: "POST" as const, path, answer };
  });
  const refused: string[] = [];
  const onRefused = (cause: string) => refused.push(cause);
  const served = await serveSockets(t, { routes, bounds: { onRefused, ...bounds } });
  return { ...served, slow, answered, refused };
}

/** Sends requests until the server answers no more of them. */
async function leaveUnread(client: Socket, answered: { readonly count: number }): Promise<void> {
  client.pause();
  for (let sent = 1; sent <= 50 && answered.count >= sent - 1; sent += 1) {
    client.write(post("/large", "1"));
    await someTurns();
  }
}

/** Waits until written bytes have arrived within this process. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

function collect(socket: Socket) {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const bodies = () => [...text.matchAll(/\r\n\r\n(\d+)/g)].map(([, body]) => body);
  return {
    bodies,
    async until(count: number) {
      while (bodies().length < count) await once(socket, "data");
    },
  };
}
