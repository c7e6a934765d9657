/** Receiving callbacks: whom it believes, what it tells twice, and who is told. */
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { type CallbackRequest, makeReceiver } from "./client.ts";
import { makeScene, say } from "./testing.ts";

const controlKey = "top-secret-key";
const secret = Buffer.from("0123456789abcdef0123456789abcdef");
const webhookSecret = `whsec_${secret.toString("base64")}`;
const nowMs = 1_794_708_246_000;
const now = () => nowMs;

const result = {
  ...{ status: "approved", orderid: "77000001", client_orderid: "invoice-1", type: "sale" },
  ...{ amount: "10.42", currency: "USD", "serial-number": "0195933a-7c48-7000-8000-000000000001" },
};

function textOf(fields: Record<string, string>, key = controlKey): string {
  const { status = "", orderid = "", client_orderid = "" } = fields;
  const control = createHash("sha1")
    .update(status + orderid + client_orderid + key)
    .digest("hex");
  return String(new URLSearchParams({ ...fields, control }));
}

function asGet(fields: Record<string, string> = result): CallbackRequest {
  return { method: "GET", url: `/told?status=own&${textOf(fields)}`, headers: {} };
}

function asPost(fields: Record<string, string> = result, key = secret, atMs = nowMs) {
  const [id, timestamp, body] = ["77000001-1", String(atMs / 1000), textOf(fields)];
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "Webhook-Id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,b3RoZXI= v1,${signature}`,
  };
  return { method: "POST", url: "/told", headers, body };
}

test("a result in the address or in a form is read", async () => {
  for (const request of [asGet(), asPost()]) {
    const verified = await makeReceiver({ controlKey }).verify(request);

    assert.equal(verified.kind, "result");
    if (verified.kind !== "result") return;
    assert.equal(verified.result.status, "approved");
    assert.equal(verified.result.amount, "10.42");
  }
});

test("a wrong checksum, a missing field and an open status are refused", async () => {
  const { status: _, ...unfinished } = result;
  const receiver = makeReceiver({ controlKey });
  const faults = [
    { method: "GET", url: "/told", headers: {} },
    { method: "GET", url: `/told?${textOf(result, "another-key")}`, headers: {} },
    { method: "GET", url: `/told?${textOf(result).replace("approved", "declined")}`, headers: {} },
    asGet(unfinished),
    asGet({ ...result, status: "processing" }),
  ];
  for (const request of faults) {
    assert.equal((await receiver.verify(request)).kind, "refused", request.url);
  }
});

test("with a secret only a fresh signature is believed", async () => {
  const receiver = makeReceiver({ controlKey, webhookSecret, now });
  const other = Buffer.from("another secret of 32 bytes, here");
  const changed = { ...asPost(), body: asPost().body.replace("10.42", "99.42") };

  assert.equal((await receiver.verify(asPost())).kind, "result");
  assert.equal((await receiver.verify(asGet())).kind, "refused");
  assert.equal((await receiver.verify(asPost(result, other))).kind, "refused");
  assert.equal((await receiver.verify(changed)).kind, "refused");
  for (const [offsetMs, kind] of [
    [-299_000, "repeat"],
    [299_000, "repeat"],
    [-301_000, "refused"],
    [301_000, "refused"],
  ] as const) {
    const verified = await receiver.verify(asPost(result, secret, nowMs + offsetMs));
    assert.equal(verified.kind, kind, String(offsetMs));
  }
});

test("two secrets are believed while one takes the other's place", async () => {
  const next = Buffer.from("another secret of 32 bytes, here");
  const both = [webhookSecret, `whsec_${next.toString("base64")}`];
  const receiver = makeReceiver({ controlKey, webhookSecret: both, now });

  assert.equal((await receiver.verify(asPost())).kind, "result");
  assert.equal((await receiver.verify(asPost(result, next))).kind, "repeat");
});

test("a repeat is told as such, unless the work of the first was not done", async () => {
  const receiver = makeReceiver({ controlKey });
  const later = { ...result, "serial-number": "0195933a-7c48-7000-8000-000000000002" };

  const first = await receiver.verify(asGet());
  const second = await receiver.verify(asGet());
  const another = await receiver.verify(asGet({ ...later, type: "reversal" }));
  if (first.kind === "result") await receiver.forget(first.id);
  const again = await receiver.verify(asGet());

  assert.deepEqual(
    [first, second, another, again].map(({ kind }) => kind),
    ["result", "repeat", "result", "result"],
  );
});

test("whoever waits for a result asks when it is heard, not before", async (t) => {
  const approved = "type=status-response&merchant-order-id=invoice-1&gw-order-id=77000001";
  const { endpoint, received, timing } = await makeScene(
    t,
    say(`${approved}&serial-number=s-1&status=approved&order-stage=sale_approved`),
  );
  const receiver = makeReceiver({ controlKey });
  // No gap is ever over: only the callback can end the waiting.
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

test("a callback that never comes is made up for by questions", async (t) => {
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
