/**
 * The canary test: payments use known card numbers and verification values, also of registered
 * cards. Afterwards no table, no file of the data folder (including write-ahead log and bank, and
 * so backups), no log line and no reply contains them.
 */
import assert from "node:assert/strict";
import type { KeyObject } from "node:crypto";
import { test } from "node:test";
import { readEverything } from "../../support/expect.ts";
import { about, rebillFields, saleFields } from "../../support/merchant.ts";
import { runGwProcess } from "../../support/programs.ts";
import { testInLongRun } from "../../support/series.ts";
import {
  packed,
  paid,
  privateKeysIn,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import {
  formOf,
  giveKey,
  makeKeyPair,
  post,
  postSigned,
  signedSale,
  signedStatus,
} from "../../support/wire.ts";
import { startWorld, type World } from "../../support/world.ts";

// This card is approved with any CVV, so that it can be registered.
const registered = "4000004000000210";
const cards = [
  ...["4000004000000129", "4000004000000020", "5200000000000015", "4539578763621486"],
  registered,
];
// Verification values. The database's own files may contain these digits by chance, so the test
// checks that before it uses them.
const verificationValues = ["7391", "8264", "9157", "6483"];

test("no card number and no CVV is stored or logged after payments of every kind", async (t) => {
  const world = await startWorld(t, { GW_DATABASE_URL: "" });
  const before = await readEverything(world);
  const [cvv2] = verificationValues.filter((each) => !before.text.includes(each));
  assert.ok(cvv2 !== undefined, "every CVV is in the empty database by chance");

  const replies = [...(await payWith(world, cvv2)), ...(await register(world, cvv2))];
  await world.pass(30_000);
  await world.installation.database.query("checkpoint");
  const after = await readEverything(world);

  const everything = `${after.text}\n${world.logged.join("")}\n${replies.join("\n")}`;
  for (const card of cards) {
    assert.equal(everything.split(card).length - 1, 0, `${card.slice(0, 6)} was found`);
  }
  const standing = new RegExp(`(?<![0-9A-Za-z])${cvv2}(?![0-9A-Za-z])`, "g");
  assert.deepEqual(everything.match(standing), null, "the CVV was found");
  assert.ok(
    after.tables.includes("411111") || after.tables.includes("400000"),
    "orders were dumped",
  );
});

async function payWith(world: World, cvv2: string): Promise<readonly string[]> {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const replies: string[] = [];
  for (const credit_card_number of cards) {
    const fields = saleFields({ credit_card_number, cvv2 });
    const body = signedSale(world, endpoint, fields);
    replies.push((await post(world, `/gw/api/v2/sale/${endpoint}`, body)).text);
    // The same request is sent again with an error, because refusals must not repeat its values.
    const broken = signedSale(world, endpoint, { ...fields, expire_month: "13" });
    replies.push((await post(world, `/gw/api/v2/sale/${endpoint}`, broken)).text);
    // The values are also sent unsigned in wrong fields, because the stored request must be masked
    // too.
    const [client_orderid, other] = [credit_card_number, { order_desc: credit_card_number }];
    const names = { [credit_card_number]: cvv2, cvv: cvv2, pan: credit_card_number };
    const email = `${credit_card_number}@example.com`;
    const strange = formOf({ ...fields, ...other, ...names, client_orderid, email, control: cvv2 });
    replies.push((await post(world, `/gw/api/v2/sale/${endpoint}`, strange)).text);
    const asked = signedStatus(world, { client_orderid: fields.client_orderid });
    replies.push((await post(world, `/gw/api/v2/status/${endpoint}`, asked)).text);
  }
  await world.bank.waitForMessage({ mti: "0200" });
  for (const reply of await payAgain(world, cvv2)) replies.push(JSON.stringify(reply));
  replies.push(JSON.stringify(world.bank.messages()));
  return replies;
}

/** Creates and changes recurring payment profiles, also by requests that are refused. */
async function register(world: World, cvv2: string): Promise<readonly string[]> {
  const pair = makeKeyPair();
  await giveKey(world, "demo", pair);
  const signer = { consumerKey: "demo", privateKey: pair.privateKey };
  const endpoint = world.set.endpoints["plain"] ?? "";
  const send = async (what: string, fields: Readonly<Record<string, string>>) => {
    const path = `/gw/api/v4/${what}/${endpoint}`;
    return (await postSigned(world, signer, path, fields)).text;
  };
  const replies: string[] = [];
  for (const [index, number] of cards.entries()) {
    const known = { rp_card_type: "SRC", currency: "USD", customer_ip: "203.0.113.7", cvv2 };
    const fields = {
      ...saleFields({ credit_card_number: number, cvv2, client_orderid: `canary-${index}` }),
      ...known,
    };
    const made = await send("create-recurring-payment", fields);
    const id = new URLSearchParams(made).get("recurring-payment-id") ?? "";
    assert.match(id, /^\d+$/, made);
    const changed = { ...fields, recurring_payment_id: id, card_printed_name: "J DOE" };
    replies.push(made, await send("update-recurring-payment", changed));
    const wrong = { client_orderid: number, order_desc: number, email: `${number}@example.com` };
    const broken = { ...fields, ...wrong, [number]: cvv2, expire_month: "13" };
    replies.push(await send("create-recurring-payment", broken));
    replies.push(
      await send("update-recurring-payment", { ...broken, recurring_payment_id: number }),
    );
  }
  const head = "rp-card-type,client-orderid,credit-card-number,currency";
  for (const [name, cell] of [
    ["DST", ""],
    ["DST", '"'],
    ["cvv", ""],
  ]) {
    const lines = cards.map((card, at) => `${name},canary-many-${at},${card},USD${cell}`);
    const broken = cards.map((card) => `DST,${card},${card},${card}`);
    const payload = [head, ...lines, ...broken].join("\n");
    replies.push(await send("create-recurring-payments", { payload }));
  }
  return replies;
}

/** Makes registrations, card information, recurrent payments, captures and returns. */
async function payAgain(world: World, cvv2: string): Promise<readonly object[]> {
  const merchant = world.merchant();
  const { sync } = merchant.endpoint("plain");
  const first = await sync.sale(saleFields({ credit_card_number: registered, cvv2 }));
  const references = await merchant.register(first);
  const cardrefid = references["card-ref-id"] ?? "";
  const told = await merchant.cardInfo(cardrefid);
  const paid = await sync.makeRebill(rebillFields({ cardrefid, cvv2, enumerate_amounts: "5.00" }));
  const held = await sync.makeRebillPreauth(rebillFields({ cardrefid, cvv2 }));
  const taken = await sync.capture(about(held, {}));
  const returned = await sync.return(about(paid, {}));
  assert.deepEqual([paid.status, taken.status], ["approved", "approved"]);
  return [first, references, told, paid, held, taken, returned];
}

const walletCards = ["4539578763621486", "4000004000000020", "5200000000000015"];
/** This number has a wrong check digit. */
const mistyped = "4539578763621487";

testInLongRun(
  "no card number, token or private key is stored or logged after wallet payments",
  async (t) => {
    const world = await startWalletWorld(t, { GW_DATABASE_URL: "" });
    const { texts, replies } = await payInEveryWay(world);
    await world.pass(30_000);
    const listed = await runGwProcess(world, "wallet", "key", "list");
    await world.installation.database.query("checkpoint");
    const { text, tables } = await readEverything(world);

    const logged = world.logged.join("");
    const everything = [text, logged, replies.join("\n"), listed.printed].join("\n");
    for (const card of [...walletCards, mistyped]) {
      assert.ok(!everything.includes(card), `${card.slice(0, 6)} was found`);
    }
    // Tokens are searched for hundreds of times, so only readable text of some length is searched.
    const readable = (everything.match(/[ -~]{40,}/g) ?? []).join("\n");
    for (const sent of texts) {
      for (const form of [sent, packed(sent)]) {
        assert.match(form, /^[ -~]+$/);
        // Even a part of a token must not be found.
        const parts = [form.slice(0, 60), form.slice(-60), form.slice(100, 160)];
        const found = parts.filter((part) => part.length >= 40 && readable.includes(part));
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
    for (const part of [tables, readable]) {
      assert.ok(part.includes("walletb_encrypted"), "orders were dumped");
    }
  },
);

type Paid = { readonly texts: readonly string[]; readonly replies: readonly string[] };

/**
 * Makes payments that are approved, declined by the bank, rejected for each reason, and refused at
 * once.
 */
async function payInEveryWay(world: World): Promise<Paid> {
  const texts: string[] = [];
  const replies: string[] = [];
  const payWith = async (kind: WalletKind, text: string) => {
    texts.push(text);
    replies.push(JSON.stringify(await paid(world, kind, text)));
  };
  for (const kind of walletKinds) {
    for (const pan of [...walletCards, mistyped])
      await payWith(kind, await textOf(world, kind, { pan }));
    const pan = walletCards[0] ?? "";
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

/** Returns a key as text and as bytes, in which files are searched. */
function formsOf(key: KeyObject): readonly string[] {
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  const number = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url");
  assert.equal(number.length, 32);
  return [
    pem.split("\n")[2] ?? assert.fail(),
    ...(["hex", "base64", "base64url", "latin1"] as const).map((form) => number.toString(form)),
  ];
}
