/** Callbacks as forms, and the secrets that sign them. */
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { readGw } from "../support/programs.ts";
import { startReceiver } from "../support/receiver.ts";
import { startWorld } from "../support/world.ts";

test("an endpoint may have forms, signed as Standard Webhooks are", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("plain", { callbackMethod: "POST" });
  const shop = await startReceiver(t);
  const printed = await readGw(world, "callback", "secret", world.set.endpoints["plain"] ?? "");
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

test("a renewed secret signs beside the old one for a day, or until that is retired", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("plain", { callbackMethod: "POST" });
  const shop = await startReceiver(t);
  const readSecret = async (...options: readonly string[]) => {
    const endpoint = world.set.endpoints["plain"] ?? "";
    const printed = await readGw(world, "callback", "secret", endpoint, ...options);
    await world.restart();
    return (printed as { secret: string }).secret;
  };
  /** Which of them have signed the next callback, in the order of the header. */
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

test("what is too long for an address is sent as a form", async (t) => {
  const world = await startWorld(t);
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
