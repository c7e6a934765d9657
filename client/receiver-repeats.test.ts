/** Results that come more than once: told once, and lost never, whatever breaks in between. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type ControlledResult, makeReceiver } from "./client.ts";
import { asGet, callback, controlKey } from "./testing.ts";

const { url: address } = asGet();

test("a copy that comes while the first is being kept has to come again", async (t) => {
  const first = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const kept: string[] = [];
  const shop = await startShop(t, async ({ orderid }) => {
    begun.resolve();
    if (kept.length === 0) await first.promise;
    kept.push(orderid);
  });

  const answer = fetch(shop + address);
  await begun.promise;
  const copy = await fetch(shop + address);
  first.resolve();
  const late = [await answer, await fetch(shop + address)];

  assert.equal(copy.status, 503);
  assert.deepEqual(
    late.map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(kept, ["77000001"]);
});

test("a result that could not be kept is no repeat when it comes again", async (t) => {
  const kept: string[] = [];
  let isFull = true;
  const shop = await startShop(t, ({ orderid }) => {
    if (isFull) throw new Error("the disk is full");
    kept.push(orderid);
  });

  const failed = await fetch(shop + address);
  const lost = kept.length;
  isFull = false;
  const [again, repeat] = [await fetch(shop + address), await fetch(shop + address)];

  assert.deepEqual([failed.status, lost], [500, 0]);
  assert.deepEqual([again.status, repeat.status, kept.length], [200, 200, 1]);
});

test("whoever dies while it keeps a result does not keep it from others", async () => {
  let nowMs = 0;
  const receiver = makeReceiver({ controlKey, now: () => nowMs });

  const first = await receiver.verify(asGet());
  nowMs = 59_999;
  const copy = await receiver.verify(asGet());
  // Neither done nor forgotten was ever said.
  nowMs = 60_000;
  const again = await receiver.verify(asGet());

  assert.deepEqual(
    [first, copy, again].map(({ kind }) => kind),
    ["result", "later", "result"],
  );
});

test("by hand, done and forget say what becomes of copies", async () => {
  const receiver = makeReceiver({ controlKey });
  const kinds: string[] = [];
  const verify = async () => {
    const verified = await receiver.verify(asGet());
    kinds.push(verified.kind);
    return verified.kind === "result" ? verified.id : "";
  };

  const id = await verify();
  await receiver.forget(id);
  await receiver.done(await verify());
  await verify();

  assert.deepEqual(kinds, ["result", "result", "repeat"]);
});

test("a memory that is away has the callback come again", async () => {
  const trouble = new Error("the database is away");
  const broken = () => Promise.reject(trouble);
  const seen = { begin: broken, done: broken, forget: broken };
  const receiver = makeReceiver({ controlKey, seen });

  const answer = await receiver.receive(asGet(), () => assert.fail("nothing is new"));

  assert.deepEqual([answer.status, answer.error], [503, trouble]);
});

test("what is not the gateway's is refused, and nothing of it kept", async (t) => {
  const shop = await startShop(t, () => assert.fail("it was kept"));
  const { url } = asGet({ ...callback, orderid: "0" });

  assert.equal((await fetch(shop + url)).status, 400);
});

async function startShop(t: TestContext, keep: (result: ControlledResult) => unknown) {
  const receiver = makeReceiver({ controlKey });
  const server = createServer(async ({ method = "", url = "", headers }, response) => {
    const { status, why } = await receiver.receive({ method, url, headers }, keep);
    response.writeHead(status).end(why);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
