/** Receivers and proxies that break every rule: a try always ends, and never hurts others. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { makeAuthority, makeSender, startProxy } from "./testing/sender.ts";

/** A server that does with each connection what the test says, and counts what it hears. */
async function startServer(t: TestContext, onData: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>();
  const { promise: isHeard, resolve: hear } = Promise.withResolvers<void>();
  let count = 0;
  const server = createServer((socket) => {
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
  /** Until we have closed what there was. */
  const closed = async () => {
    for (const socket of sockets) await new Promise((resolve) => socket.once("close", resolve));
  };
  return { port, url: `http://127.0.0.1:${port}`, isHeard, closed, heard: () => count };
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";

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
  // Only now: behind the answer in one piece, it would be seen with that.
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
