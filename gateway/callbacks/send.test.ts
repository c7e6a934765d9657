/** One callback over real sockets: what a name leads to, certificates, proxies and limits. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import {
  issue,
  makeKeys,
  writeCertificate,
  writePrivateKey,
} from "../../sandbox-bank/certificates/certificate.ts";
import { type AddressOptions, makeAddressRules } from "./addresses.ts";
import type { Resolve } from "./look-up.ts";
import { makeSend } from "./send.ts";
import { answerWith, flood, hang, makeStillClock, startReceiver } from "./testing.ts";

const staging = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };
const here = "127.0.0.1";
const dayMs = 86_400_000;

type Options = {
  readonly answers?: readonly (readonly string[])[];
  readonly rules?: AddressOptions;
  readonly authorities?: string[];
  readonly proxy?: string;
  readonly failing?: boolean;
};

/** Names are answered for in turn; asked once more than there are answers, the last is repeated. */
function makeSender(
  t: TestContext,
  { answers = [[here]], rules = staging, ...more }: Options = {},
) {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, done) => {
    asked.push(hostname);
    if (more.failing === true) return done(new Error("no name server answers"), []);
    const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  const clock = makeStillClock();
  const { send, stop } = makeSend({
    ...{ rules: makeAddressRules(rules), clock, timeoutMs: 15_000, resolve },
    ...{ authorities: more.authorities, proxy: more.proxy },
  });
  t.after(stop);
  const get = (url: string) => send({ method: "GET", url, headers: {}, body: "" });
  return { get, send, asked, clock };
}

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
  assert.match(empty.failure ?? "", /leads nowhere/);
  assert.match(nonsense.failure ?? "", /leads nowhere/);
});

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

test("the time for an answer covers all of it", async (t) => {
  const shop = await startReceiver(t, hang);
  const { get, clock } = makeSender(t);

  const sent = get(`${shop.url}/`);
  await shop.isHeard;
  clock.passAll();

  const { status, failure } = await sent;
  assert.equal(status, undefined);
  assert.equal(failure, "no answer in time");
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
  assert.match(failure ?? "", /Header overflow/);
});

test("a certificate must be valid, for this name, from somebody who is trusted", async (t) => {
  const now = Date.now();
  const valid = { validFrom: new Date(now - dayMs), validUntil: new Date(now + dayMs) };
  const over = { validFrom: new Date(now - 2 * dayMs), validUntil: new Date(now - dayMs) };
  const root = await issue({
    ...{ name: "A test's authority", purpose: "authority", keys: await makeKeys("ec"), ...valid },
  });
  const authorities = [writeCertificate(root)];
  const secure = async (times: typeof valid) => {
    const keys = await makeKeys("ec");
    const own = await issue({ name: "localhost", purpose: "tls", keys, ...times }, root);
    const tls = { key: await writePrivateKey(own), cert: writeCertificate(own) };
    return startReceiver(t, answerWith(200), tls);
  };
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
  const secure = await get("https://shop.example/told");
  const inside = await get("http://10.0.0.1/");

  assert.equal(plain.status, 200, String(plain.failure));
  assert.notEqual(secure.failure, undefined);
  assert.match(inside.failure ?? "", /private network/);
  assert.deepEqual(proxy.asked, ["GET http://shop.example/told?a=b", "CONNECT shop.example:443"]);
  assert.equal(shop.heard[0]?.url, "/told?a=b");
  assert.deepEqual(asked, []);
});

/** It leads everything to one port of this machine. */
async function startProxy(t: TestContext, port: number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { pathname, search } = new URL(request.url ?? "");
    fetch(`http://127.0.0.1:${port}${pathname}${search}`).then(
      ({ status }) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const onward = connect(port, here);
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, here, listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, asked };
}
