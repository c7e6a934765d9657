/** Which callbacks a receiver accepts or refuses, and how it treats repeats. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type ControlledResult, makeReceiver, type ReceiverOptions } from "./client.ts";
import { asForm, asGet, callback, controlKey, makeScene, say, textOf } from "./testing.ts";

const secret = Buffer.from("0123456789abcdef0123456789abcdef");
const webhookSecret = `whsec_${secret.toString("base64")}`;
const nowMs = 1_794_708_246_000;
const now = () => nowMs;
const asPost = (fields = callback, key = secret, atMs = nowMs) => asForm(fields, key, atMs);

test("control alone proves three fields, and the others are claims", async () => {
  for (const request of [asGet(), asPost()]) {
    const verified = await makeReceiver({ controlKey }).verify(request);

    if (verified.kind !== "result") return assert.fail(verified.kind);
    const { claimed, ...proven } = verified.result;
    const covered = { status: "approved", orderid: "77000001", client_orderid: "invoice-1" };
    assert.deepEqual(proven, covered);
    assert.equal(claimed["amount"], "10.42");
    // @ts-expect-error Nothing proves an amount, so the compiler knows of none.
    assert.equal(verified.result.amount, undefined);
  }
});

test("invented fields beside a known control make a repeat", async () => {
  const receiver = makeReceiver({ controlKey });
  const kept: unknown[] = [];
  const keep = ({ claimed: _, ...proven }: object & { claimed: unknown }) => kept.push(proven);
  const invented = [
    { "serial-number": "0195933a-7c48-7000-8000-00000000beef" },
    { type: "reversal", "serial-number": "0195933a-7c48-7000-8000-00000000f00d" },
    { type: "reversal" },
    { amount: "0.01" },
    { "serial-number": "" },
  ];

  const first = await receiver.receive(asGet({ ...callback, type: "reversal" }), keep);
  for (const lie of invented) {
    const answer = await receiver.receive(asGet({ ...callback, ...lie }), keep);
    assert.equal(answer.status, 200);
  }

  assert.equal(first.status, 200);
  assert.equal(kept.length, 1, "a result was told twice");
});

test("a copy with moved field ends does not make the genuine callback a repeat", async () => {
  const receiver = makeReceiver({ controlKey });
  const own = { ...callback, orderid: "77000001", client_orderid: "2invoice" };
  const moved = { ...callback, orderid: "770000012", client_orderid: "invoice" };
  assert.match(textOf(own), new RegExp(/control=\w+/.exec(textOf(moved))?.[0] ?? "?"));

  const ends = await receiver.receive(asGet(moved), () => undefined);
  const { kind } = await receiver.verify(asGet(own));

  assert.deepEqual([ends.status, kind], [200, "result"]);
});

test("a wrong checksum, a missing field and an open status are refused", async () => {
  const { status: _, ...unfinished } = callback;
  const receiver = makeReceiver({ controlKey });
  const faults = [
    { method: "GET", url: "/told", headers: {} },
    { method: "GET", url: `/told?${textOf(callback, "another-key")}`, headers: {} },
    {
      method: "GET",
      headers: {},
      url: `/told?${textOf(callback).replace("approved", "declined")}`,
    },
    asGet(unfinished),
    asGet({ ...callback, status: "processing" }),
    asGet({ ...callback, client_orderid: "" }),
  ];
  for (const orderid of ["", "0770001", "770001", "77000001a", "77 00001", "1".repeat(20)]) {
    faults.push(asGet({ ...callback, orderid }));
  }
  for (const request of faults) {
    assert.equal((await receiver.verify(request)).kind, "refused", request.url);
  }
});

test("with a secret only a fresh signature is accepted, and proves every field", async () => {
  const receiver = makeReceiver({ controlKey, webhookSecret, now });
  const other = Buffer.from("another secret of 32 bytes, here");
  const changed = { ...asPost(), body: asPost().body.replace("10.42", "99.42") };

  const first = await receiver.verify(asPost());
  if (first.kind !== "result") return assert.fail(first.kind);
  assert.equal(first.result.amount, "10.42");
  await receiver.done(first.id);

  assert.equal((await receiver.verify(asGet())).kind, "refused");
  assert.equal((await receiver.verify(asPost(callback, other))).kind, "refused");
  assert.equal((await receiver.verify(changed)).kind, "refused");
  for (const [offsetMs, kind] of [
    [-299_000, "repeat"],
    [299_000, "repeat"],
    [-301_000, "refused"],
    [301_000, "refused"],
  ] as const) {
    const verified = await receiver.verify(asPost(callback, secret, nowMs + offsetMs));
    assert.equal(verified.kind, kind, String(offsetMs));
  }
});

test("a signed form without its type or serial number is no result", async () => {
  const receiver = makeReceiver({ controlKey, webhookSecret, now });

  for (const name of ["type", "serial-number"]) {
    const verified = await receiver.verify(asPost({ ...callback, [name]: "" }));
    assert.deepEqual(verified, { kind: "refused", why: "it is no result" });
  }
});

test("two secrets are accepted during a rotation", async () => {
  const next = Buffer.from("another secret of 32 bytes, here");
  const both = [webhookSecret, `whsec_${next.toString("base64")}`];

  for (const key of [secret, next]) {
    const receiver = makeReceiver({ controlKey, webhookSecret: both, now });
    assert.equal((await receiver.verify(asPost(callback, key))).kind, "result");
  }
});

test("a missing or short key or secret is refused when the receiver is made", () => {
  const short = `whsec_${Buffer.alloc(23, 7).toString("base64")}`;
  const undone = [
    { controlKey: "" },
    { controlKey: "  " },
    { controlKey: undefined },
    ...["", "whsec_", short, `${webhookSecret}!`, [], [webhookSecret, ""], undefined].map(
      (given) => ({ controlKey, webhookSecret: given }),
    ),
    { controlKey, confirm: undefined },
  ];
  for (const options of undone) {
    // A caller in JavaScript, or a forgotten setting, may pass these options.
    const given = options as unknown as ReceiverOptions & { webhookSecret: string };
    assert.throws(() => makeReceiver(given), TypeError, JSON.stringify(options));
  }
});

test("a waiting caller asks for the status when the callback arrives, and not before", async (t) => {
  const approved = "type=status-response&merchant-order-id=invoice-1&gw-order-id=77000001";
  const { endpoint, received, timing } = await makeScene(
    t,
    say(`${approved}&serial-number=s-1&status=approved&order-stage=sale_approved`),
  );
  const receiver = makeReceiver({ controlKey });
  // The pause never ends, so only the callback can end the waiting.
  timing.pause = (_, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener("abort", reject, { once: true }));

  const order = { client_orderid: "invoice-1", orderid: "77000001" };
  const waiting = endpoint.waitForResult(order, { receiver });
  const before = received.length;
  await receiver.verify(asGet());
  const status = await waiting;
  const late = await endpoint.waitForResult(order, { receiver });

  assert.equal(before, 0);
  assert.equal(status.status, "approved");
  assert.equal(late.status, "approved");
  assert.equal(received.length, 2);
});

test("a lost callback is replaced by repeated status requests", async (t) => {
  const open = "type=status-response&merchant-order-id=invoice-1&gw-order-id=77000001";
  const { endpoint, received } = await makeScene(
    t,
    say(`${open}&serial-number=s-1&status=processing&order-stage=sale_processing`),
    say(`${open}&serial-number=s-1&status=approved&order-stage=sale_approved`),
  );
  const receiver = makeReceiver({ controlKey });

  const order = { client_orderid: "invoice-1", orderid: "77000001" };
  const status = await endpoint.waitForResult(order, { receiver });

  assert.equal(status.status, "approved");
  assert.equal(received.length, 2);
});

const { url: address } = asGet();

test("a copy that arrives while the first is being kept is answered with a retry", async (t) => {
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

test("a result that could not be kept is new when it comes again", async (t) => {
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

test("a result is new again after the process that was keeping it died", async () => {
  let nowMs = 0;
  const receiver = makeReceiver({ controlKey, now: () => nowMs });

  const first = await receiver.verify(asGet());
  nowMs = 59_999;
  const copy = await receiver.verify(asGet());
  // Neither `done` nor `forget` was called.
  nowMs = 60_000;
  const again = await receiver.verify(asGet());

  assert.deepEqual(
    [first, copy, again].map(({ kind }) => kind),
    ["result", "later", "result"],
  );
});

test("after a manual done copies are repeats, and after forget they are new", async () => {
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

test("an unreachable store makes the callback come again", async () => {
  const trouble = new Error("the database is unreachable");
  const broken = () => Promise.reject(trouble);
  const seen = { begin: broken, done: broken, forget: broken };
  const receiver = makeReceiver({ controlKey, seen });

  const answer = await receiver.receive(asGet(), () => assert.fail("nothing is new"));

  assert.deepEqual([answer.status, answer.error], [503, trouble]);
});

test("a callback that is not the gateway's is refused, and not kept", async (t) => {
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
