/**
 * Callbacks as forms, the secrets that sign them, and the client's receiver together with the
 * gateway: the receiver accepts what the gateway sends.
 */
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { type CallbackResult, makeReceiver, type Receiver } from "@tollgate/client";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { readGw } from "../../support/programs.ts";
import { type Answer, answerWith, startReceiver } from "../../support/receiver.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld, type World } from "../../support/world.ts";

type CallbackMethod = "GET" | "POST" | "JSON";

const tellBy = (callbackMethod: CallbackMethod) => (world: World) =>
  world.changeEndpoint("plain", { callbackMethod });
/** Worlds whose callbacks have this form. */
const toldBy = { GET: undefined, POST: tellBy("POST"), JSON: tellBy("JSON") };

for (const method of ["GET", "POST", "JSON"] as const) {
  test(`a ${method} is accepted once, a repeat is recognised, and a wrong key is refused`, async (t) => {
    const world = await joinWorld(t, {}, toldBy[method]);
    const receiver = await receiverFor(world, method);
    const stranger = makeReceiver({ controlKey: "another" });
    const kept: CallbackResult[] = [];
    const answers: number[] = [];
    // The answer is lost, so the same callback comes again.
    const shop = await startReceiver(t, hear(receiver, answerWith(500)));

    const sale = await world.merchant().sale({ server_callback_url: `${shop.url}/told?a=b` });
    await world.settle();
    shop.answer(hear(receiver, answerWith(200)));
    await world.pass(150_000);
    shop.answer(async (response, { path, ...heard }) => {
      const refused = () => assert.fail("a stranger's result was kept");
      const { status } = await stranger.receive({ ...heard, url: path }, refused);
      answers.push(status);
      response.end();
    });
    await world.merchant().sale({ server_callback_url: shop.url });
    await world.settle();

    assert.deepEqual(answers, [200, 200, 400]);
    assert.equal(kept.length, 1);
    assert.equal(kept[0]?.orderid, sale["gw-order-id"]);
    assert.equal(kept[0]?.["serial-number"], sale["serial-number"]);
    assert.equal(kept[0]?.status, "approved");
    assert.equal(kept[0]?.amount, "10.15");

    function hear(by: Receiver, answer: Answer): Answer {
      return async (response, { path, ...heard }) => {
        const taken = await by.receive({ ...heard, url: path }, (result) => kept.push(result));
        answers.push(taken.status);
        answer(response, { path, ...heard });
      };
    }
  });
}

test("the gateway confirms a sale and its return separately, and confirms no forgery", async (t) => {
  const world = await joinWorld(t);
  const receiver = await receiverFor(world, "GET");
  const kept: CallbackResult[] = [];
  const shop = await startReceiver(t, async (response, { path, ...heard }) => {
    const { status } = await receiver.receive({ ...heard, url: path }, (it) => kept.push(it));
    response.writeHead(status).end();
  });
  const merchant = world.merchant();
  const sale = await merchant.sale({ notify_url: `${shop.url}/told`, client_orderid: "2paid" });
  await world.settle();
  const [genuine = ""] = shop.heard.map(({ path }) => path);
  const change = (changes: Readonly<Record<string, string>>) => {
    const told = Object.fromEntries(new URLSearchParams(genuine.replace("/told?", "")));
    return `${shop.url}/told?${new URLSearchParams({ ...told, ...changes })}`;
  };

  const forged = [
    { type: "reversal", "serial-number": "0195933a-7c48-7000-8000-00000000beef" },
    { orderid: `${sale["gw-order-id"]}2`, client_orderid: "paid" },
    {
      orderid: sale["gw-order-id"].slice(0, -1),
      client_orderid: `${sale["gw-order-id"].at(-1)}2paid`,
    },
  ];
  const answers = await Promise.all(forged.map(async (lie) => (await fetch(change(lie))).status));
  const repeat = await fetch(change({ type: "reversal", amount: "0.01" }));
  const given = await merchant.return(sale, { amount: "4.15", currency: "USD" });
  await world.settle();

  assert.deepEqual([...answers, repeat.status], [400, 400, 400, 200]);
  assert.deepEqual(
    kept.map((result) => [result.type, result["serial-number"], result.client_orderid]),
    [
      ["sale", sale["serial-number"], "2paid"],
      ["reversal", given["serial-number"], "2paid"],
    ],
  );
  // The answer of the status request equals the callback.
  const [told] = shop.heard.map(({ fields }) => fields);
  const { control: _, merchant_order: __, ...fields } = told ?? {};
  assert.deepEqual(kept[0], fields);
});

test("a client that receives the callback asks for the status once", async (t) => {
  const world = await joinWorld(t);
  const receiver = makeReceiver({ controlKey: world.set.controlKey });
  const shop = await startReceiver(t, async (response, { path, ...heard }) => {
    await receiver.verify({ ...heard, url: path });
    response.end();
  });
  const merchant = world.merchant();

  const sale = await merchant.sale({ server_callback_url: shop.url });
  // Without a callback the client would not ask again within the test's time.
  const patient = { receiver, everyMs: 3_600_000, timeoutMs: 86_400_000 };
  const status = await merchant.endpoint("plain").waitForResult(sale, patient);

  assert.equal(status.status, "approved");
});

/**
 * Makes the receiver that the method needs: a `GET` proves too little, so the receiver asks the
 * gateway.
 */
async function receiverFor(world: World, method: CallbackMethod): Promise<Receiver> {
  const own = { controlKey: world.set.controlKey, now: () => world.clock.now() };
  if (method === "GET")
    return makeReceiver({ ...own, confirm: world.merchant().endpoint("plain") });
  const endpoint = world.set.endpoints["plain"] ?? "";
  const printed = await readGw(world.place, "callback", "secret", endpoint);
  return makeReceiver({ ...own, webhookSecret: (printed as { secret: string }).secret });
}

test("an endpoint may get callbacks as forms with the signature of Standard Webhooks", async (t) => {
  const world = await joinWorld(t, {}, toldBy.POST);
  const shop = await startReceiver(t);
  const printed = await readGw(
    world.place,
    "callback",
    "secret",
    world.set.endpoints["plain"] ?? "",
  );
  const { secret } = printed as { secret: string };

  const sale = await world.merchant().sale({ server_callback_url: `${shop.url}/told?shop=7` });
  await world.settle();

  const [told] = shop.heard;
  const { "webhook-id": id, "webhook-timestamp": at, ...headers } = told?.headers ?? {};
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = createHmac("sha256", key).update(`${id}.${at}.${told?.body}`).digest("base64");
  assert.equal(told?.method, "POST");
  assert.equal(told?.path, "/told?shop=7");
  assert.equal(headers["content-type"], "application/x-www-form-urlencoded");
  assert.equal(headers["webhook-signature"], `v1,${signed}`);
  assert.equal(id, `${sale["gw-order-id"]}-1`);
  const proven = `approved${sale["gw-order-id"]}${sale["merchant-order-id"]}`;
  const control = createHash("sha1")
    .update(proven + world.set.controlKey)
    .digest("hex");
  assert.equal(told?.fields["control"], control);
  assert.ok(key.length >= 24 && key.length <= 64);
});

test("published libraries verify signed JSON, and signed forms if they do not parse them", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const endpoint = world.set.endpoints["plain"] ?? "";
  const { secret } = (await readGw(world, "callback", "secret", endpoint)) as { secret: string };
  const libraries = [new Webhook(secret), new SvixWebhook(secret)];
  const pay = async (method: CallbackMethod) => {
    await world.changeEndpoint("plain", { callbackMethod: method });
    await world.merchant().sale({ server_callback_url: `${shop.url}/told?status=declined` });
    await world.settle();
    const told = shop.heard.at(-1);
    return { body: told?.body ?? "", headers: told?.headers as Record<string, string> };
  };

  const json = await pay("JSON");
  for (const library of libraries) {
    const result = library.verify(json.body, json.headers) as Record<string, string>;
    assert.equal(result["status"], "approved");
    assert.equal(result["amount"], "10.15");
    const forged = json.body.replace("10.15", "10.16");
    assert.throws(() => library.verify(forged, json.headers), /No matching signature/);
  }
  assert.equal(shop.heard.at(-1)?.path, "/told");

  const form = await pay("POST");
  new Webhook(secret).verify(form.body, form.headers, { jsonParse: false });
  for (const library of libraries) {
    assert.throws(() => library.verify(form.body, form.headers), SyntaxError);
  }
});

test("after a renewal both secrets sign for a day, or until the old one is retired", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("plain", { callbackMethod: "POST" });
  const shop = await startReceiver(t);
  const readSecret = async (...options: readonly string[]) => {
    const endpoint = world.set.endpoints["plain"] ?? "";
    const printed = await readGw(world, "callback", "secret", endpoint, ...options);
    await world.restart();
    return (printed as { secret: string }).secret;
  };
  /** Returns the secrets that signed the next callback, in the order of the header. */
  const signersOf = async (secrets: readonly string[]) => {
    await world.merchant().sale({ server_callback_url: shop.url });
    await world.settle();
    const told = shop.heard.at(-1);
    const header = (name: string) => String(told?.headers[`webhook-${name}`]);
    const text = `${header("id")}.${header("timestamp")}.${told?.body}`;
    const given = header("signature").split(" ");
    return given.map((signature) => secrets.findIndex((each) => sign(each, text) === signature));
  };

  const first = await readSecret();
  const second = await readSecret("--renew");
  assert.deepEqual(await signersOf([first, second]), [1, 0]);
  assert.equal(await readSecret("--retire"), second);
  assert.deepEqual(await signersOf([first, second]), [1]);
  const third = await readSecret("--renew");
  assert.deepEqual(await signersOf([first, second, third]), [2, 1]);
  await world.pass(86_400_000);
  assert.deepEqual(await signersOf([first, second, third]), [2]);
  assert.equal(new Set([first, second, third]).size, 3);
});

test("a callback that is too long for a URL is sent as a form", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t);
  const long = "a cart with much in it ".repeat(500).trim();

  await world.merchant().sale({ server_callback_url: shop.url, merchant_data: long });
  await world.settle();

  assert.equal(shop.heard[0]?.method, "POST");
  assert.equal(shop.heard[0]?.fields["merchantdata"], long);
});

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}
