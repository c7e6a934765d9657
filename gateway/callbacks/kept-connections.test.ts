/** The connections that callbacks share, and how long they are kept. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { connectionAgeMaxMs, makeConnectThrough } from "./send.ts";
import { type Answer, startReceiver } from "./testing/receiver.ts";
import { makeSender } from "./testing/sender.ts";

/** This is less than the time after which connections are closed anyway. */
const timeout = 20_000;

test("a connection is used again, and only for the name that it was checked for", async (t) => {
  const shop = await startReceiver(t);
  const { get, asked } = makeSender(t);

  await get(`http://shop.example:${shop.port}/`);
  await get(`http://shop.example:${shop.port}/`);
  await get(`http://other.example:${shop.port}/`);

  assert.equal(shop.heard.length, 3);
  assert.deepEqual(asked, ["shop.example", "other.example"]);
  assert.equal(shop.connections, 2);
});

test("a connection is used for five minutes", async (t) => {
  const shop = await startReceiver(t);
  let now = 0;
  const { get, asked } = makeSender(t, { answers: [["127.0.0.1"], ["10.0.0.1"]], now: () => now });
  const url = `http://shop.example:${shop.port}/`;

  const statuses = [(await get(url)).status];
  now = connectionAgeMaxMs - 1;
  statuses.push((await get(url)).status);
  now = connectionAgeMaxMs;
  const late = await get(url);

  assert.deepEqual(statuses, [200, 200]);
  assert.match(late.failure ?? "", /private network/);
  assert.deepEqual(asked, ["shop.example", "shop.example"]);
});

for (const way of ["direct", "through a proxy"]) {
  test(`an old connection, ${way}, ends with the response that it waits for`, {
    timeout,
  }, async (t) => {
    const { promise: held, resolve: hold } = Promise.withResolvers<Parameters<Answer>[0]>();
    const shop = await startReceiver(t, (response) => {
      if (shop.heard.length === 1) hold(response);
      else response.end();
    });
    let now = 0;
    const proxy = way === "direct" ? {} : { proxy: shop.url };
    const { get } = makeSender(t, { now: () => now, ...proxy });

    const slow = get(`${shop.url}/slow`);
    const response = await held;
    const isClosed = once(response.socket ?? response, "close");
    now = connectionAgeMaxMs;
    const next = await get(`${shop.url}/`);
    response.end("late");

    assert.equal(next.status, 200);
    const { status, answer } = await slow;
    assert.deepEqual([status, answer], [200, "late"]);
    await isClosed;
  });
}

test("a request on an old connection that breaks goes out again on a new one", async (t) => {
  const { promise: held, resolve: hold } = Promise.withResolvers<Parameters<Answer>[0]>();
  const shop = await startReceiver(t, (response) => {
    if (shop.heard.length === 2) hold(response);
    else response.end();
  });
  let now = 0;
  const { get } = makeSender(t, { now: () => now });

  await get(`${shop.url}/`);
  const slow = get(`${shop.url}/slow`);
  const response = await held;
  now = connectionAgeMaxMs;
  await get(`${shop.url}/`);
  response.destroy();

  const { status, failure } = await slow;
  assert.deepEqual([status, failure], [200, undefined]);
});

test("a proxy that never answers CONNECT is given up without a cancel", { timeout }, async (t) => {
  const proxy = createServer().listen(0, "127.0.0.1");
  t.after(() => proxy.close());
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const open = makeConnectThrough({ origin: `http://127.0.0.1:${port}`, headers: {} }, {}, 1_000);
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error | null>();
  const opened: Socket[] = [];

  open(
    { protocol: "https:", hostname: "shop.example", port: "443" },
    (...[error]) => fail(error),
    (socket) => opened.push(socket),
  );

  assert.match((await failed)?.message ?? "", /proxy CONNECT failed: Headers Timeout/);
  assert.deepEqual(
    opened.map(({ destroyed }) => destroyed),
    [true],
  );
});
