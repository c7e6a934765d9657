/**
 * Clients that try to exhaust the server with connections, half bodies, and requests that never
 * end.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { makeReadBody } from "./bounds.ts";
import { makeIsTrusted } from "./client-network.ts";
import type { HttpReply, HttpRequest } from "./router.ts";
import type { Bounds } from "./server.ts";
import { serveSockets, untilClosed } from "./testing.ts";

const mebibyte = 1_048_576;
const loopback = makeIsTrusted(["127.0.0.0/8"]);

test("a body that nothing depends on is not read: the answer comes, and the connection ends", async (t) => {
  const { open } = await serve(t);
  for (const [head, status] of [
    ["POST /nothing HTTP/1.1", 404],
    ["POST /unwanted HTTP/1.1", 200],
    ["PUT /echo HTTP/1.1", 404],
  ] as const) {
    const client = await open();
    client.write(`${head}\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 900000\r\n\r\nhalf`);

    assert.match(
      await untilClosed(client),
      new RegExp(`^HTTP/1.1 ${status} .*connection: close`, "s"),
    );
  }
});

test("after a short one the connection is kept", async (t) => {
  const { open } = await serve(t);
  const client = await open();

  client.write(post("/nothing", "a=1"));
  const refused = await once(client, "data");
  client.write(post("/echo", "a=1"));
  const [answer] = await once(client, "data");

  assert.match(String(refused), /^HTTP\/1.1 404 /);
  assert.match(String(answer), /\r\n\r\n3$/);
});

test("a body beyond its bound is refused before it has arrived", async (t) => {
  const { open } = await serve(t, { bodyBytesMax: 1000 });
  const [declared, chunked, whole] = [await open(), await open(), await open()];

  declared.write(
    "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 1001\r\n\r\n",
  );
  chunked.write("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\n");
  chunked.write(`transfer-encoding: chunked\r\n\r\n3e9\r\n${"x".repeat(1001)}\r\n`);

  assert.match(await untilClosed(declared), /^HTTP\/1.1 413 /);
  assert.match(await untilClosed(chunked), /^HTTP\/1.1 413 /);
  whole.write(post("/echo", "x".repeat(1001)));
  assert.match(String(await once(whole, "data")), /^HTTP\/1.1 413 /);
});

test("when half bodies fill the memory the largest is refused, and a payment goes through", async (t) => {
  const { open, server, refused } = await serve(t, { unfinishedBytesMax: 3 * mebibyte });
  const half = (bytes: number) => {
    const head = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: a/b";
    return `${head}\r\ncontent-length: ${mebibyte}\r\n\r\n${"x".repeat(bytes)}`;
  };
  const small = await open();
  small.write(half(1000));
  const large = await Promise.all(Array.from({ length: 8 }, () => open()));
  const answers = large.map((client) => {
    client.write(half(700_000));
    return untilClosed(client);
  });

  assert.match(await Promise.race(answers), /^HTTP\/1.1 503 .*retry-after: 1/s);
  const payment = await open();
  payment.write(post("/echo", "a=1"));
  const [paid] = await once(payment, "data");

  assert.match(String(paid), /\r\n\r\n3$/);
  assert.ok(server.countUnfinishedBytes() <= 3 * mebibyte);
  assert.ok(refused.includes("too many bytes in unfinished bodies"));
  assert.equal(small.destroyed, false);
  for (const client of [small, ...large]) client.destroy();
  while (server.countUnfinishedBytes() > 0) await new Promise(setImmediate);
});

test("each request of a connection gets its own body, whole, in pieces, in chunks or none", async (t) => {
  const { open } = await serve(t);
  const client = await open();
  let answers = "";
  client.on("data", (chunk) => {
    answers += chunk;
  });
  const lengths = () => [...answers.matchAll(/\r\n\r\n(\d+)/g)].map(([, length]) => Number(length));
  const untilAnswered = async (count: number) => {
    while (lengths().length < count) await once(client, "data");
  };

  client.write(post("/echo", "a=1") + post("/echo", "a=12") + post("/echo", ""));
  await untilAnswered(3);
  const inPieces = post("/echo", "a=123");
  client.write(inPieces.slice(0, -2));
  await new Promise(setImmediate);
  client.write(inPieces.slice(-2));
  await untilAnswered(4);
  const chunked = "host: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\na=12\r\n2\r\n34\r\n0\r\n\r\n";
  client.write(`POST /echo HTTP/1.1\r\n${chunked}${post("/echo", "a=12345")}`);
  await untilAnswered(6);

  assert.deepEqual(lengths(), [3, 4, 0, 5, 6, 7]);
});

test("a body of single bytes costs no more than twice its length", () => {
  const reading = makeReadBody({ bodyBytesMax: 10_000, unfinishedBytesMax: mebibyte });
  const payload = new PassThrough();
  let body: Uint8Array | undefined;
  reading.read(payload, undefined, (read) => {
    if (read instanceof Uint8Array) body = read;
  });

  for (let count = 0; count < 9_000; count += 1) payload.emit("data", Buffer.from("x"));
  assert.ok(reading.unfinishedBytes <= 10_000);
  payload.emit("end");

  assert.equal(body?.length, 9_000);
  assert.equal(reading.unfinishedBytes, 0);
});

test("beyond their bound connections are closed at once, in all and from one address", async (t) => {
  for (const [bounds, cause] of [
    [{ connectionsMax: 2 }, "too many connections"],
    [{ connectionsPerAddressMax: 2 }, "too many connections of one address"],
  ] as const) {
    const { open, refused } = await serve(t, bounds);
    const [first, second] = [await open(), await open()];
    const third = await open();
    await untilClosed(third);
    assert.deepEqual(refused, [cause]);

    first.destroy();
    for (;;) {
      const next = await open();
      next.write(post("/echo", "a=1"));
      const answer = await Promise.race([once(next, "data"), once(next, "close")]).catch(() => []);
      if (Buffer.isBuffer(answer[0])) break;
    }
    assert.equal(second.destroyed, false);
  }
});

test("behind a proxy each client has its own bound, whatever it writes into the header", async (t) => {
  const bounds = { connectionsPerAddressMax: 2, isTrusted: loopback };
  const { open, refused } = await serve(t, bounds);
  const ask = async (forwarded: string, path = "/waits") => {
    const client = await open();
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nx-forwarded-for: ${forwarded}`;
    client.write(`${head}\r\ncontent-type: a/b\r\ncontent-length: 3\r\n\r\na=1`);
    return client;
  };

  const waiting = [await ask("203.0.113.7"), await ask("198.51.100.1, 203.0.113.7")];
  const answer = await untilClosed(await ask("192.0.2.9, 203.0.113.7, 127.0.0.5", "/echo"));
  const [other] = await once(await ask("203.0.113.8", "/echo"), "data");
  for (const client of waiting) client.destroy();

  // Neither clients that have gone nor answered requests count.
  const later: string[] = [];
  while (later.length < 100 && later.filter((each) => each.includes(" 200 ")).length < 5) {
    const [next] = await once(await ask("203.0.113.7", "/echo"), "data");
    later.push(String(next));
  }
  assert.match(later.at(-1) ?? "", /^HTTP\/1.1 200 /);
  assert.match(answer, /^HTTP\/1.1 503 .*connection: close/s);
  assert.match(String(other), /^HTTP\/1.1 200 /);
  assert.deepEqual([...new Set(refused)], ["too many requests of one client"]);
});

test("a request that never ends is ended: head or body, drop by drop", async (t) => {
  const { open } = await serve(t, { headerTimeoutMs: 50, requestTimeoutMs: 100 });
  const [silent, head, body] = [await open(), await open(), await open()];

  head.write("POST /echo HTTP/1.1\r\nhost: a\r\nx-drop: ");
  body.write("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-length: 900\r\n\r\n");
  const dripping = setInterval(() => {
    head.write("x");
    body.write("x");
  }, 5);
  t.after(() => clearInterval(dripping));

  for (const answer of await Promise.all([silent, head, body].map(untilClosed))) {
    assert.match(answer, /^(HTTP\/1.1 408 |$)/);
  }
});

test("half a request does not hold up the end of a server; a whole one is answered", async (t) => {
  const { open, server, waits } = await serve(t, { headerTimeoutMs: 300, requestTimeoutMs: 300 });
  const [head, body, whole] = [await open(), await open(), await open()];
  head.write("POST /echo HTTP/1.1\r\nhost: a\r\nx-drop: ");
  body.write("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n");
  // Node's parser accepts a request with this header.
  whole.write(
    "POST /waits HTTP/1.1\r\nhost: a\r\nx: \u00e9\r\ncontent-length: 3\r\n\r\na=1",
    "latin1",
  );
  await waits.begun.promise;

  const closed = server.close();
  await Promise.all([untilClosed(head), untilClosed(body)]);
  const answer = untilClosed(whole);
  waits.end.resolve({ status: 200, headers: {}, body: "late" });
  await closed;

  assert.match(await answer, /^HTTP\/1.1 200 .*\r\n\r\nlate$/s);
});

async function serve(t: TestContext, bounds: Partial<Bounds> = {}) {
  const refused: string[] = [];
  const waits = { begun: Promise.withResolvers<void>(), end: Promise.withResolvers<HttpReply>() };
  const answer = async ({ body }: HttpRequest) => ({
    status: 200,
    headers: {},
    body: String(body.length),
  });
  const served = await serveSockets(t, {
    bounds: { ...bounds, onRefused: (cause) => void refused.push(cause) },
    routes: [
      { method: "POST", path: "/echo", answer },
      { method: "POST", path: "/unwanted", answer, answerEarly: answer },
      {
        method: "POST",
        path: "/waits",
        answer() {
          waits.begun.resolve();
          return waits.end.promise;
        },
      },
    ],
  });
  return { ...served, refused, waits };
}

function post(path: string, body: string): string {
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: a/b`;
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
