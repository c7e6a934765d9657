/**
 * One callback over real sockets: names, certificates, proxies, and receivers that break every
 * rule. An attempt always ends, and never affects others.
 */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { answerWith, flood, hang, startReceiver } from "./testing/receiver.ts";
import { makeAuthority, makeSender, startProxy } from "./testing/sender.ts";

const here = "127.0.0.1";
const ok = "HTTP/1.1 200 OK\r\n";
const fine = `${ok}Content-Length: 2\r\n\r\nOK`;

test("every address of a name must pass, or none is called", async (t) => {
  const shop = await startReceiver(t);
  const url = `http://shop.example:${shop.port}/`;

  for (const bad of ["10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1", "0.0.0.0"]) {
    for (const addresses of [[here, bad], [bad, here], [bad]]) {
      const { status, failure } = await makeSender(t, { answers: [addresses] }).get(url);
      assert.equal(status, undefined, bad);
      assert.match(failure ?? "", /it leads/, bad);
    }
  }
  assert.equal(shop.heard.length, 0);
  assert.equal(shop.connections, 0);
});

test("a name with several good addresses is called at one that answers", async (t) => {
  const shop = await startReceiver(t);
  const { get } = makeSender(t, { answers: [["::1", "127.0.0.9", here]] });

  const { status } = await get(`http://shop.example:${shop.port}/`);
  assert.equal(status, 200);
  assert.equal(shop.heard[0]?.headers.host, `shop.example:${shop.port}`);
});

test("a name that changes its mind is dialled at what was checked, and checked again", async (t) => {
  const shop = await startReceiver(t, answerWith(200, { connection: "close" }));
  const { get, asked } = makeSender(t, { answers: [[here], ["169.254.169.254"], [here]] });
  const url = `http://shop.example:${shop.port}/`;

  const [first, second, third] = [await get(url), await get(url), await get(url)];

  assert.equal(first.status, 200);
  assert.match(second.failure ?? "", /never called/);
  assert.equal(third.status, 200);
  assert.equal(shop.heard.length, 2);
  assert.equal(asked.length, 3);
});

test("a name without an answer is not called", async (t) => {
  const url = "http://shop.example/";

  const failing = await makeSender(t, { failing: true }).get(url);
  const empty = await makeSender(t, { answers: [[]] }).get(url);
  const nonsense = await makeSender(t, { answers: [["no.address"]] }).get(url);

  assert.match(failing.failure ?? "", /no name server answers/);
  assert.match(empty.failure ?? "", /DNS returned no address/);
  assert.match(nonsense.failure ?? "", /DNS returned no address/);
});

test("the time for an answer covers all of it", async (t) => {
  const shop = await startReceiver(t, hang);
  const { get, cancelAll } = makeSender(t);

  const sent = get(`${shop.url}/`);
  await shop.isHeard;
  cancelAll();

  const { status, failure } = await sent;
  assert.equal(status, undefined);
  assert.equal(failure, "timed out waiting for the response");
});

test("little is read of an answer without an end", async (t) => {
  const shop = await startReceiver(t, flood);
  const { get } = makeSender(t);

  const { status, answer } = await get(`${shop.url}/`);
  assert.equal(status, 500);
  assert.equal(answer.length, 512);
});

test("headers without an end are an error, not a flood of memory", async (t) => {
  const headers = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`x-${index}`, "x".repeat(1_000)]),
  );
  const shop = await startReceiver(t, answerWith(200, headers));

  const { status, failure } = await makeSender(t).get(`${shop.url}/`);
  assert.equal(status, undefined);
  assert.match(failure ?? "", /headers exceed 16384 bytes/);
});

test("a certificate must be valid, for this name, from somebody who is trusted", async (t) => {
  const { authorities, valid, over, secure } = await makeAuthority(t);
  const shop = await secure(valid);
  const late = await secure(over);

  const good = await makeSender(t, { authorities }).get(`https://localhost:${shop.port}/`);
  const unknown = await makeSender(t).get(`https://localhost:${shop.port}/`);
  const other = await makeSender(t, { authorities }).get(`https://shop.example:${shop.port}/`);
  const expired = await makeSender(t, { authorities }).get(`https://localhost:${late.port}/`);
  const plain = await startReceiver(t);
  const none = await makeSender(t).get(`https://localhost:${plain.port}/`);

  assert.equal(good.status, 200, String(good.failure));
  assert.match(unknown.failure ?? "", /certificate|verify/);
  assert.match(other.failure ?? "", /altnames/);
  assert.match(expired.failure ?? "", /expired/);
  assert.notEqual(none.failure, undefined);
  assert.equal(shop.heard.length, 1);
  assert.equal(late.heard.length, 0);
});

test("through a proxy it looks names up, and addresses are still judged here", async (t) => {
  const shop = await startReceiver(t);
  const proxy = await startProxy(t, shop.port);
  const { get, asked } = makeSender(t, { proxy: proxy.url });

  const plain = await get("http://shop.example/told?a=b");
  const none = await get("https://shop.example/told");
  const inside = await get("http://10.0.0.1/");

  assert.equal(plain.status, 200, String(plain.failure));
  assert.notEqual(none.failure, undefined);
  assert.match(inside.failure ?? "", /private network/);
  assert.deepEqual(proxy.asked, ["GET http://shop.example/told?a=b", "CONNECT shop.example:443"]);
  assert.equal(shop.heard[0]?.url, "/told?a=b");
  assert.deepEqual(asked, []);
});

test("an answer that changes the protocol fails at once", async (t) => {
  const shop = await startServer(t, (socket) =>
    socket.write("HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  );

  const { status, failure } = await makeSender(t).get(`${shop.url}/`);

  assert.equal(status, undefined);
  assert.match(failure ?? "", /HTTP 101/);
  await shop.closed();
});

test("a kept connection that is closed as we write is no failure of the receiver", async (t) => {
  const shop = await startServer(t, (socket, count) => {
    if (count === 2) socket.destroy();
    else socket.write(fine);
  });
  const { get } = makeSender(t);

  const first = await get(`${shop.url}/`);
  const second = await get(`${shop.url}/`);

  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.equal(shop.heard(), 3);
});

test("nor is one that is reset before we write", async (t) => {
  let resetNow = () => {};
  const shop = await startServer(t, (socket) => {
    socket.write(fine);
    resetNow = () => void socket.resetAndDestroy();
  });
  const { get } = makeSender(t);

  const first = await get(`${shop.url}/`);
  resetNow();
  const second = await get(`${shop.url}/`);

  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.equal(shop.connections(), 2);
});

test("a new connection that is closed without an answer is one", async (t) => {
  const shop = await startServer(t, (socket) => socket.destroy());

  const { status, failure } = await makeSender(t).get(`${shop.url}/`);

  assert.equal(status, undefined);
  assert.match(failure ?? "", /closed without a response/);
  assert.equal(shop.heard(), 1);
});

test("what is said unasked is not taken for the next answer", async (t) => {
  const lie = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
  let lieNow = () => {};
  const shop = await startServer(t, (socket, count) => {
    socket.write(fine);
    if (count === 1) lieNow = () => void socket.write(lie);
  });
  const { get } = makeSender(t);

  const first = await get(`${shop.url}/`);
  // The bytes are sent only now. In one piece with the answer, they would be noticed together with
  // it.
  const closed = shop.closed();
  lieNow();
  await closed;
  const second = await get(`${shop.url}/`);

  assert.deepEqual([first.status, second.status], [200, 200]);
});

test("a text that is broken off does not matter: the status counts", async (t) => {
  const shop = await startServer(t, (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nOK"),
  );

  const { status, answer, failure } = await makeSender(t).get(`${shop.url}/`);

  assert.deepEqual([status, answer, failure], [200, "OK", undefined]);
});

test("https goes through a proxy, to a certificate that is checked", async (t) => {
  const { authorities, valid, secure } = await makeAuthority(t);
  const shop = await secure(valid);
  const proxy = await startProxy(t, shop.port);
  const { get } = makeSender(t, { authorities, proxy: proxy.url });

  const good = await get("https://localhost/told");
  const again = await get("https://localhost/told");
  const other = await get("https://shop.example/told");

  assert.equal(good.status, 200, String(good.failure));
  assert.equal(again.status, 200, String(again.failure));
  assert.match(other.failure ?? "", /altnames/);
  assert.deepEqual(proxy.asked, ["CONNECT localhost:443", "CONNECT shop.example:443"]);
  assert.equal(shop.heard.length, 2);
});

test("a proxy that keeps silent, or opens a silent way, is given up in time", async (t) => {
  const silent = await startServer(t, () => undefined);
  const opens = await startServer(t, (socket, count) => {
    if (count === 1) socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  });

  for (const proxy of [silent, opens]) {
    const { get, cancelAll } = makeSender(t, { proxy: proxy.url });
    const sent = get("https://shop.example/");
    await proxy.isHeard;
    cancelAll();

    const { status, failure } = await sent;
    assert.equal(status, undefined);
    assert.equal(failure, "timed out waiting for the response");
    await proxy.closed();
  }
});

test("a proxy that refuses says so", async (t) => {
  const proxy = await startServer(t, (socket) =>
    socket.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
  );

  const { failure } = await makeSender(t, { proxy: proxy.url }).get("https://shop.example/");

  assert.match(failure ?? "", /proxy CONNECT failed: HTTP 403/);
  await proxy.closed();
});

// biome-ignore format: a table
const responses: readonly (readonly [name: string, text: string, isKept: boolean])[] = [
  ["a length",                    `${ok}Content-Length: 2\r\n\r\nOK`,                                   true],
  ["no body",                     "HTTP/1.1 204 No Content\r\n\r\n",                                    true],
  ["chunks and trailers",         `${ok}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nOK\r\n0\r\na: b\r\n\r\n`, true],
  ["an interim response before",  `HTTP/1.1 103 Early Hints\r\n\r\n${ok}Content-Length: 2\r\n\r\nOK`, true],
  ["the wish to close",           `${ok}Connection: close\r\nContent-Length: 2\r\n\r\nOK`,            false],
  ["an older version",            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nOK",                   false],
  ["a second response behind it", `${ok}Content-Length: 2\r\n\r\nOK${ok}Content-Length: 0\r\n\r\n`, false],
  ["a chunk without a size",      `${ok}Transfer-Encoding: chunked\r\n\r\nx\r\n`,                     false],
  ["a chunk that is too long",    `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\nAB\r\n`,             false],
];

for (const [name, text, isKept] of responses) {
  test(`a response with ${name} counts${isKept ? "" : ", and ends the connection"}`, async (t) => {
    const shop = await startServer(t, (socket) => socket.write(text));
    const { get } = makeSender(t);

    const [first, second] = [await get(`${shop.url}/`), await get(`${shop.url}/`)];

    const status = text.includes(" 204 ") ? 204 : 200;
    assert.deepEqual([first.status, second.status], [status, status], String(first.failure));
    assert.equal(shop.connections(), isKept ? 1 : 2);
  });
}

// biome-ignore format: a table
const refused: readonly (readonly [name: string, text: string, failure: RegExp])[] = [
  ["another protocol",          "SSH-2.0-x\r\n\r\n",                                       /HTTP/],
  ["a status of four digits",   "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",         /HTTP/],
  ["both length and chunks",    `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nOK`, /content-length/i],
  ["two lengths",               `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nOK`, /content-length/i],
  ["a length that is none",     `${ok}Content-Length: +2\r\n\r\nOK`,                       /content-length/i],
  ["a request to continue",     `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 0\r\n\r\n`, /HTTP 100/],
];

for (const [name, text, failure] of refused) {
  test(`${name} is no response`, async (t) => {
    const shop = await startServer(t, (socket) => socket.write(text));

    const outcome = await makeSender(t).get(`${shop.url}/`);

    assert.equal(outcome.status, undefined);
    assert.match(outcome.failure ?? "", failure);
    await shop.closed();
  });
}

// biome-ignore format: a table
const endless: readonly (readonly [name: string, start: string, rest: string])[] = [
  ["a status line",       "HTTP/1.1 200 ",                                     "x"],
  ["interim responses",   "",                                                  "HTTP/1.1 103 X\r\n\r\n"],
  ["a chunk's extension", `${ok}Transfer-Encoding: chunked\r\n\r\n1;`,     "x"],
  ["chunks",              `${ok}Transfer-Encoding: chunked\r\n\r\n`,       "1;xxxxxxxx\r\nx\r\n"],
  ["blank lines",         "",                                                  "\r\n"],
];

for (const [name, start, rest] of endless) {
  test(`${name} without an end is cut off`, async (t) => {
    const shop = await startServer(t, (socket) => {
      socket.write(start);
      const pour = () => {
        while (!socket.destroyed && socket.write(rest.repeat(4_096)));
      };
      socket.on("drain", pour);
      pour();
    });

    const { status, failure } = await makeSender(t).get(`${shop.url}/`);

    if (status === undefined) assert.match(failure ?? "", /exceeds 81920 bytes/);
    assert.equal(status, start.includes("chunked") ? 200 : undefined);
    await shop.closed();
  });
}

/** A server that treats each connection as the test says, and counts the requests. */
async function startServer(t: TestContext, onData: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>();
  const { promise: isHeard, resolve: hear } = Promise.withResolvers<void>();
  let [count, connections] = [0, 0];
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", () => {
      count += 1;
      onData(socket, count);
      hear();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  /** Waits until the sender has closed its connections. */
  const closed = async () => {
    for (const socket of sockets) await new Promise((resolve) => socket.once("close", resolve));
  };
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    isHeard,
    closed,
    heard: () => count,
    connections: () => connections,
  };
}
