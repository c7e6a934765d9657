/** One callback over real sockets: what a name leads to, certificates, proxies and limits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerWith, flood, hang, startReceiver } from "./testing/receiver.ts";
import { makeAuthority, makeSender, startProxy } from "./testing/sender.ts";

const here = "127.0.0.1";

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
