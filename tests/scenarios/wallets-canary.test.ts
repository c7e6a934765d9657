/**
 * The canary of wallets: after payments with known tokens, good and bad, neither the card numbers
 * and cryptograms in them nor their text nor the keys that open them are found in a table, a file
 * or a log line.
 */
import assert from "node:assert/strict";
import type { KeyObject } from "node:crypto";
import { test } from "node:test";
import { readEverything } from "../support/expect.ts";
import { saleFields } from "../support/merchant.ts";
import { runGw } from "../support/programs.ts";
import {
  packed,
  paid,
  privateKeysIn,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../support/wallets.ts";
import { post, signedSale } from "../support/wire.ts";
import type { World } from "../support/world.ts";

const cards = ["4539578763621486", "4000004000000020", "5200000000000015"];
/** It has no check digit. */
const mistyped = "4539578763621487";

test("no card number, token or private key is anywhere after wallet payments", async (t) => {
  const world = await startWalletWorld(t, { GW_DATABASE_URL: "" });
  const { texts, replies } = await payInEveryWay(world);
  await world.pass(30_000);
  const listed = await runGw(world, "wallet", "key", "list");
  await world.installation.database.query("checkpoint");
  const { text, tables } = await readEverything(world);

  const everything = `${text}\n${world.logged.join("")}\n${replies.join("\n")}\n${listed.printed}`;
  for (const card of [...cards, mistyped]) {
    assert.ok(!everything.includes(card), `${card.slice(0, 6)} was found`);
  }
  for (const sent of texts) {
    for (const form of [sent, packed(sent)]) {
      // Any part would be too much.
      const parts = [form.slice(0, 60), form.slice(-60), form.slice(100, 160)];
      const found = parts.filter((part) => part.length >= 40 && everything.includes(part));
      assert.deepEqual(found, [], "a token was found");
    }
  }
  for (const proof of texts.flatMap(cryptogramsOf)) {
    assert.ok(!everything.includes(proof), "a cryptogram was found");
  }
  const keys = await privateKeysIn(world);
  assert.equal(keys.length, 2);
  for (const form of keys.flatMap(formsOf)) {
    assert.ok(!everything.includes(form), "a private key was found");
  }
  assert.ok(tables.includes("walletb_encrypted"), "orders were dumped");
});

type Paid = { readonly texts: readonly string[]; readonly replies: readonly string[] };

/** Approved, declined by the bank, rejected for each reason, and refused at once. */
async function payInEveryWay(world: World): Promise<Paid> {
  const texts: string[] = [];
  const replies: string[] = [];
  const payWith = async (kind: WalletKind, text: string) => {
    texts.push(text);
    replies.push(JSON.stringify(await paid(world, kind, text)));
  };
  for (const kind of walletKinds) {
    for (const pan of [...cards, mistyped]) await payWith(kind, await textOf(world, kind, { pan }));
    const pan = cards[0] ?? "";
    await payWith(kind, await textOf(world, kind, { pan, year: 2020 }));
    await payWith(kind, JSON.stringify(await textOf(world, kind, { pan })));
    for (const declared of walletKinds) await payWith(declared, await textOf(world, kind, { pan }));
    replies.push(await refuseAtOnce(world, kind, await textOf(world, kind, { pan })));
  }
  replies.push(JSON.stringify(world.bank.messages()));
  return { texts, replies };
}

async function refuseAtOnce(world: World, kind: WalletKind, text: string): Promise<string> {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const fields = saleFields(walletFields(kind, text));
  const wrong = [{ payment_data: text }, { payment_data_type: text }, { cvv2: "123" }];
  const replies = wrong.map(async (change) => {
    const body = signedSale(world, endpoint, { ...fields, ...change });
    const reply = await post(world, `/gw/api/v2/sale/${endpoint}`, body);
    assert.match(reply.text, /error-code=5/);
    return reply.text;
  });
  return (await Promise.all(replies)).join("\n");
}

function cryptogramsOf(text: string): readonly string[] {
  const found = text.matchAll(/ryptogram\\?":\\?"([^"\\]+)/g);
  return [...found].map(([, value = ""]) => value);
}

/** As text and as bytes, the way files were read. */
function formsOf(key: KeyObject): readonly string[] {
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  const number = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url");
  assert.equal(number.length, 32);
  return [
    pem.split("\n")[2] ?? assert.fail(),
    ...(["hex", "base64", "base64url", "latin1"] as const).map((form) => number.toString(form)),
  ];
}
