/** Requests that bypass Node's parser, those that do not, and connections that have both. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { HttpReply, HttpRequest } from "./router.ts";
import type { Bounds } from "./server.ts";
import { serveSockets, untilClosed } from "./testing.ts";
import { takeConnections } from "./whole-connections.ts";
import { printHead, readWholeRequest } from "./whole-request.ts";

const length = (body: string) => `content-length: ${body.length}\r\n`;
const post = (path: string, body: string, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${more}${length(body)}\r\n${body}`;

test("a request that is whole and plain is read", () => {
  const sent = "Content-Type: a/b;c=d\r\nX-Empty:\r\nConnection: Keep-Alive\r\n";
  const read = readWholeRequest(
    Buffer.from(post("/a/b?c=%20d", "a=1\r\n\r\nGET / HTTP/1.1", sent)),
  );

  assert.deepEqual(
    { ...read, body: String(read?.body) },
    {
      ...{ method: "POST", url: "/a/b?c=%20d", body: "a=1\r\n\r\nGET / HTTP/1.1" },
      headers: {
        ...{ "host": "a", "content-type": "a/b;c=d", "x-empty": "", "connection": "Keep-Alive" },
        "content-length": "21",
      },
    },
  );
  for (const line of ["GET / HTTP/1.1\r\nhost: a\r\n", "POST / HTTP/1.1\r\nHOST:  a \r\n"]) {
    const { body, headers } = readWholeRequest(Buffer.from(`${line}\r\n`)) ?? assert.fail(line);
    assert.deepEqual([body.length, headers.host], [0, "a"]);
  }
});

test("what two readers could understand differently is left to Node", () => {
  const lines = [
    "Transfer-Encoding: chunked",
    "transfer-encoding : chunked",
    "Content-Length: 3",
    "Content-Length: +3",
    "Host: b",
    "Expect: 100-continue",
    "Upgrade: h2c",
    "Connection: close",
    "Connection: keep-alive, upgrade",
    "Proxy-Connection: close",
    "Set-Cookie: a=b",
    Array.from({ length: 100 }, (_, index) => `x-${index}: 1`).join("\r\n"),
    " folded",
    "no colon",
    ": no name",
    "X_Y: 1",
    "constructor: 1",
    "__proto__: 1",
    "X: \u00e9",
    "X: a\tb",
    "X: a\rb",
    "X: a\nContent-Length: 0",
    "X: \u0000",
    "",
  ];
  const unusual = [
    ...lines.map((line) => post("/", "a=1", `${line}\r\n`)),
    post("/", "a=1").slice(0, -1),
    post("/", "a=1").slice(0, 30),
    `${post("/", "a=1")}x`,
    post("/", "a=1") + post("/", "a=2"),
    `\r\n${post("/", "a=1")}`,
    post("/", "a=1").replace("Host: a\r\n", ""),
    post("/", "a=1").replace("HTTP/1.1", "HTTP/1.0"),
    post("/", "a=1").replace("POST", "PUT"),
    post("/", "a=1").replace("POST", "GET"),
    post("http://a/", "a=1"),
    post("/ ", "a=1"),
    post("/", "a=1", `x: ${"y".repeat(9_000)}\r\n`),
    post("/", "a=1").replace(length("a=1"), "content-length: 3,3\r\n"),
    post("/", "a=1").replace(length("a=1"), "content-length: 0x3\r\n"),
    post("/", "a=1").replace(length("a=1"), `content-length: ${"0".repeat(20)}3\r\n`),
  ];

  for (const text of unusual)
    assert.equal(readWholeRequest(Buffer.from(text, "latin1")), undefined);
});

test("requests of both kinds on one connection are answered in their order", async (t) => {
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

test("after the last reply of a connection no request is taken", async (t) => {
  const { open, answered, slow } = await serve(t);
  const client = await open();

  client.write(post("/last", "1"));
  await slow.begun.promise;
  client.write(post("/large", "1"));
  await someTurns();
  slow.end.resolve();
  const answer = await untilClosed(client);

  assert.equal(answer.match(/HTTP\/1.1/g)?.length, 1);
  assert.equal(answered.count, 0);
});

test("replies of both kinds have the same headers", async (t) => {
  const { open } = await serve(t);
  const headers = await Promise.all(
    ["", "X: \u00e9\r\n"].map(async (unusual) => {
      const client = await open();
      client.write(post("/echo", "1", unusual), "latin1");
      const [answer] = await once(client, "data");
      const [status, ...lines] = String(answer).split("\r\n\r\n")[0]?.split("\r\n") ?? [];
      return [status, ...lines.map((line) => line.toLowerCase()).sort()];
    }),
  );

  const [whole = [], parsed = []] = headers.map((lines) =>
    lines.map((line) => line?.replace(/^date: \w{3}, \d\d \w{3} \d{4} [\d:]{8} gmt$/, "date: now")),
  );
  assert.deepEqual(whole, parsed);
  assert.equal(whole[0], "HTTP/1.1 200 OK");
  for (const line of ["date: now", "keep-alive: timeout=72"]) assert.ok(whole.includes(line));
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

test("a connection without a request is closed after its time", async (t) => {
  const [hasty, patient] = [{ headerTimeoutMs: 40 }, { idleTimeoutMs: 60 }];
  const silent = await (await serve(t, hasty)).open();
  const used = await (await serve(t, patient)).open();

  used.write(post("/echo", "1"));
  const closed = await Promise.all([untilClosed(silent), untilClosed(used)]);

  assert.equal(closed[0], "");
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

  assert.match(await atBusy, /^HTTP\/1.1 200 OK.*connection: close/s);
});

test("all connections can be closed, also while their requests are answered", async (t) => {
  const { open, server, slow } = await serve(t);
  const busy = await open();
  busy.write(post("/slow", "1"));
  await slow.begun.promise;

  server.closeAllConnections();

  assert.equal(await untilClosed(busy), "");
});

test("where Node's listener is not found, the server does not start", () => {
  const times = { headersTimeout: 1, keepAliveTimeout: 1, connectionsCheckingInterval: 1 };
  const server = createServer().removeAllListeners("connection");

  const answer = () => assert.fail("no request");
  assert.throws(() => takeConnections(server, { ...times, answer }), /no connectionListener/);
});

test("a handler that fails, and a header of two lines, are internal errors", async (t) => {
  const { open } = await serve(t);
  const client = await open();

  for (const path of ["/fails", "/splits"]) {
    client.write(post(path, "1"));
    assert.match(String(await once(client, "data")), /^HTTP\/1.1 500 Internal.*\r\n\r\n500$/s);
  }
  const headers = { "set-cookie": ["a=1", "b=2"], "connection": "close" };
  assert.match(
    printHead({ status: 200, headers, body: "\u00fc" }),
    /^HTTP\/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 2\r\ndate: /,
  );
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
    async "/last"() {
      slow.begun.resolve();
      await slow.end.promise;
      return reply("", { connection: "close" });
    },
    "/fails": () => assert.fail("at once"),
    "/splits": async () => reply("", { location: "a\r\nset-cookie: b" }),
  };
  const routes = Object.entries(answers).map(([path, answer]) => {
    return { method: "POST" as const, path, answer };
  });
  const served = await serveSockets(t, { routes, bounds });
  return { ...served, slow, answered };
}

/** Sends requests until the server answers no more of them. */
async function leaveUnread(client: Socket, answered: { readonly count: number }): Promise<void> {
  client.pause();
  for (let sent = 1; sent <= 50 && answered.count >= sent - 1; sent += 1) {
    client.write(post("/large", "1"));
    await someTurns();
  }
}

/** Enough for written bytes to arrive within this process. */
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
