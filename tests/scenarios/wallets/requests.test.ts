/** Requests with payment data: what is refused at once, and the ways in which they are sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import { type SaleFields, saleFields } from "../../support/merchant.ts";
import { runGw } from "../../support/programs.ts";
import { chargesAt } from "../../support/threeds.ts";
import {
  assertWalletRefused,
  joinWalletWorld,
  mintA,
  mintB,
  packed,
  paid,
  startWalletWorld,
  textOf,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import {
  formOf,
  giveKey,
  makeKeyPair,
  post,
  postSigned,
  sha1,
  signedSale,
} from "../../support/wire.ts";
import type { World } from "../../support/world.ts";

const type = "walletb_encrypted";
const long = "x".repeat(49_152);

// biome-ignore format: a table
const refusedAtOnce: readonly (readonly [change: SaleFields, code: number, message: RegExp])[] = [
  [{ payment_data_type: undefined },              4, /^MISSING_PARAMETER: payment_data_type$/],
  [{ payment_data_type: "" },                     4, /^MISSING_PARAMETER: payment_data_type$/],
  [{ payment_data: undefined },                   4, /^MISSING_PARAMETER: payment_data$/],
  [{ payment_data: "  " },                        4, /^MISSING_PARAMETER: payment_data$/],
  [{ payment_data: "", payment_data_type: "" },   4, /^MISSING_PARAMETER: credit_card_number$/],
  [{ payment_data_type: "walletc_encrypted" },    5, /^INVALID_PARAMETER: payment_data_type/],
  [{ payment_data_type: "WALLETB_ENCRYPTED" },    5, /^INVALID_PARAMETER: payment_data_type/],
  [{ payment_data_type: "walletb" },              5, /^INVALID_PARAMETER: payment_data_type/],
  [{ payment_data_type: "x".repeat(33) },         5, /^INVALID_PARAMETER: payment_data_type/],
  [{ credit_card_number: "4111111111111111" },    5, /^INVALID_PARAMETER: credit_card_number/],
  [{ cardNumber: "4111111111111111" },            5, /^INVALID_PARAMETER: cardNumber/],
  [{ expire_month: "12" },                        5, /^INVALID_PARAMETER: expire_month/],
  [{ expire_year: "2031" },                       5, /^INVALID_PARAMETER: expire_year/],
  [{ cvv2: "123" },                               5, /^INVALID_PARAMETER: cvv2/],
  [{ payment_data: "{}" },                        5, /^INVALID_PARAMETER: payment_data: not base64/],
  [{ payment_data: "e30=e30=" },                  5, /^INVALID_PARAMETER: payment_data: not base64/],
  [{ payment_data: "e30===" },                    5, /^INVALID_PARAMETER: payment_data: not base64/],
  [{ payment_data: "%%%" },                       5, /^INVALID_PARAMETER: payment_data: not base64/],
  [{ payment_data: "/////w==" },                  5, /^INVALID_PARAMETER: payment_data: not base64/],
  [{ payment_data: packed(packed("{}")) },        5, /^INVALID_PARAMETER: payment_data: base64.* twice/],
  [{ payment_data: packed("not JSON") },          5, /^INVALID_PARAMETER: payment_data: not JSON$/],
  [{ payment_data: packed('{"a":1') },            5, /^INVALID_PARAMETER: payment_data: not JSON$/],
  [{ payment_data: packed("{} {}") },             5, /^INVALID_PARAMETER: payment_data: not JSON$/],
  [{ payment_data: packed(`"${long}"`) },         5, /^INVALID_PARAMETER: payment_data: longer than/],
  [{ payment_data_type: undefined, cvv2: "123" }, 4, /^MISSING_PARAMETER: payment_data_type$/],
];

test("visibly wrong payment data is refused at once, and nothing is stored", async (t) => {
  const world = await startWalletWorld(t);
  const token = await mintB(world);
  for (const [change, code, message] of refusedAtOnce) {
    const reply = await trySale(world, { ...walletFields(type, token), ...change });

    const about = JSON.stringify(change).slice(0, 100);
    assert.equal(reply.get("type"), "validation-error", `${about} ${reply}`);
    assert.match(reply.get("error-message") ?? "", message, about);
    assert.equal(reply.get("error-code"), String(code), about);
  }
  const unsigned = await trySale(world, walletFields(type, token), "1016");
  assert.equal(unsigned.get("error-code"), "2");
  await assertNothingKept(world);

  // None of these requests has used the token up.
  const status = await paid(world, type, token);
  assert.equal(status["order-stage"], "sale_approved");
});

test("empty fields of a card beside payment data count as absent", async (t) => {
  const world = await joinWalletWorld(t);
  const empty = { credit_card_number: "", cardNumber: " ", expire_month: "", expire_year: "" };
  const fields = { ...walletFields(type, await mintB(world)), ...empty, cvv2: "" };

  const reply = await trySale(world, fields);

  assert.equal(reply.get("type"), "async-response", String(reply));
});

test("empty payment data beside a card counts as absent", async (t) => {
  const world = await joinWalletWorld(t);

  const reply = await trySale(world, { payment_data: "", payment_data_type: " " });

  assert.equal(reply.get("type"), "async-response", String(reply));
});

test("base64 is accepted in each of its usual spellings", async (t) => {
  const world = await joinWalletWorld(t);
  const plain = async () => packed(await mintA(world, {}, { cardholderName: "ÿÿÿÿ>>>???" }));
  const spellings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.replaceAll("=", ""),
    (text) => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
    (text) => text.replaceAll("+", " "),
    (text) => text.replaceAll(/(.{76})/g, "$1\r\n"),
  ];
  for (const spell of spellings) {
    const text = spell(await plain());
    const fields = { ...walletFields("walleta_encrypted", ""), payment_data: text };
    const order = await world.merchant().sale(fields);
    await world.settle();

    const status = await world.merchant().status(order);
    assert.equal(status["order-stage"], "sale_approved", text.slice(0, 90));
  }
});

test("decrypted payment data is refused until the operator allows it", async (t) => {
  const world = await startWalletWorld(t);
  const stranger = await world.stranger();
  const fields = await Promise.all(
    (["walleta_decrypted", "walletb_decrypted"] as const).map(async (kind) =>
      saleFields(walletFields(kind, await textOf(world, kind))),
    ),
  );

  for (const sent of fields) {
    await assertRefused(stranger.sale(sent), 13, /^NOT_SUPPORTED_BY_GATE: payment_data_type/);
  }
  assert.equal(chargesAt(world), 0);

  await runGw(world, "merchant", "set", "stranger", "--decrypted-wallets", "on");
  await world.restart();
  for (const sent of fields) {
    const order = await stranger.sale(sent);
    await world.settle();
    assert.equal((await stranger.status(order))["order-stage"], "sale_approved");
  }
});

test("payment data up to its full length is read", async (t) => {
  const world = await joinWalletWorld(t);
  const payload = JSON.parse(await textOf(world, "walletb_decrypted"));
  const full = 49_152 - JSON.stringify({ ...payload, more: "" }).length;
  const text = JSON.stringify({ ...payload, more: "x".repeat(full) });

  const status = await paid(world, "walletb_decrypted", text);

  assert.equal(packed(text).length, 65_536);
  assert.equal(status["order-stage"], "sale_approved", `${status["error-message"]}`);
});

test("v4 accepts payment data under OAuth", async (t) => {
  const world = await startWalletWorld(t);
  const pair = makeKeyPair();
  await giveKey(world, "demo", pair);
  const signer = { consumerKey: "demo", privateKey: pair.privateKey };
  const path = `/gw/api/v4/sale/${plain(world)}`;
  for (const kind of walletKinds) {
    const fields = saleFields(walletFields(kind, await textOf(world, kind)));
    const reply = await postSigned(world, signer, path, fields);
    await world.settle();

    assert.equal(reply.status, 200, kind);
    assert.match(reply.text, /^type=async-response/, kind);
    const order = { "merchant-order-id": fields.client_orderid ?? "" };
    assert.equal((await world.merchant().status(order)).status, "approved", kind);
  }
  const fields = saleFields({ ...walletFields(type, await mintB(world)), cvv2: "123" });
  const refused = await postSigned(world, signer, path, fields);
  assert.equal(new URLSearchParams(refused.text).get("error-code"), "5");
});

test("a group accepts payment data, and the reply can be JSON", async (t) => {
  const world = await joinWalletWorld(t);
  const { group, controlKey } = world.set;
  const token = await mintA(world, { currency: "EUR" });
  const fields = saleFields({ ...walletFields("walleta_encrypted", token), currency: "EUR" });
  const { client_orderid = "", email } = fields;
  const control = sha1(`${group}${client_orderid}1015${email}${controlKey}`);

  const reply = await post(
    world,
    `/gw/api/v2/sale/group/${group}`,
    formOf({ ...fields, control }),
    { accept: "application/json" },
  );
  await world.settle();

  const { type: replyType, "end-point-id": endpoint } = JSON.parse(reply.text);
  assert.deepEqual([replyType, endpoint], ["async-response", world.set.endpoints["eur"]]);
  const status = await world.merchant("eur").status({ "merchant-order-id": client_orderid });
  assert.equal(status["order-stage"], "sale_approved", `${status["error-message"]}`);
});

test("the synchronous variant answers with the final result, even a rejection", async (t) => {
  const world = await joinWalletWorld(t);
  const { sync } = world.merchant().endpoint("plain");

  const fine = await sync.sale(saleFields(walletFields(type, await mintB(world))));
  const tampered = await mintB(world, {}, { defect: "tampered" });
  const refused = await sync.sale(saleFields(walletFields(type, tampered)));

  assert.equal(fine["order-stage"], "sale_approved");
  assertWalletRefused(refused, 3003, "synchronous");
});

function plain({ set }: World): string {
  return set.endpoints["plain"] ?? "";
}

async function trySale(world: World, change: SaleFields, minorUnits?: string) {
  const body = signedSale(world, plain(world), saleFields(change), minorUnits);
  const { status, text } = await post(world, `/gw/api/v2/sale/${plain(world)}`, body);
  assert.equal(status, 200);
  return new URLSearchParams(text);
}

async function assertNothingKept(world: World): Promise<void> {
  const { query } = world.installation.database;
  for (const table of ["orders", "wallet_messages", "cards"]) {
    assert.equal((await query(`select from ${table}`)).length, 0, table);
  }
  assert.equal(chargesAt(world), 0);
}
