/**
 * The balance and the statement of a merchant: both equal the orders to the cent, through the
 * merchant interface, the portal and gw, and a settlement that the operator books lowers the
 * balance once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, makeClient } from "@tollgate/client";
import { writeLines } from "../support/bank/settlement.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { assertRefused } from "../support/expect.ts";
import { addUser, openBrowser } from "../support/operator/portal.ts";
import { readGw, runGw, runGwProcess } from "../support/programs.ts";
import {
  type Fields,
  formOf,
  giveKey,
  makeKeyPair,
  postSigned,
  type Signer,
  type Wrong,
} from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

const keys = makeKeyPair();
const signer: Signer = { consumerKey: "demo", privateKey: keys.privateKey };
const world = await startWorld(endOfFile, { GW_TIME_ZONE: "Pacific/Auckland" });
await giveKey(world, "demo", keys);
const hmac: Wrong = { secret: world.set.controlKey };
const { plain = "", eur = "" } = world.set.endpoints;
const silent = "4000004100000045";
const ofMerchant = "/gw/api/v2/get-balance/merchant/demo";

async function ask(path = ofMerchant, fields: Fields = {}, wrong: Wrong = hmac) {
  const { status, headers, text } = await postSigned(world, signer, path, fields, wrong);
  return { status, type: headers.get("content-type"), text };
}

async function readBalances(path?: string, fields?: Fields) {
  const { status, type, text } = await ask(path, fields);
  assert.deepEqual([status, type], [200, "application/json;charset=utf-8"], text);
  const rows: readonly Readonly<Record<string, string>>[] = JSON.parse(text);
  return new Map(rows.map((row) => [row["name"] ?? "", row]));
}

const codeOf = (text: string) => new URLSearchParams(text).get("error-code");

await world.stranger();

/** The client that signs with HMAC-SHA1, and the one that signs with RSA-SHA256. */
function clients(): readonly Pick<Client, "getBalance">[] {
  const { login, controlKey } = world.set;
  const baseUrl = world.gateway.url;
  const oauth = { ...signer, now: () => world.clock.now() };
  return [makeClient({ baseUrl, login, controlKey }), makeClient({ baseUrl, oauth })];
}

test("a balance is refused with 13 until the operator turns it on", async () => {
  const off = await ask();
  for (const client of clients()) await assertRefused(client.getBalance(), 13);
  await world.changeMerchant({ balance: true });

  assert.deepEqual([off.status, codeOf(off.text)], [200, "13"]);
  const balances = await readBalances();
  assert.deepEqual(balances.get("EUR"), {
    "name": "EUR",
    "amount": "0.00",
    "currency": "EUR",
    "online-balance-live-amount": "0.00",
    "total-short-term-hold-amount": "0.00",
    "total-rolling-reserve-amount": "0.00",
    "amount-buffer-hold": "0.00",
  });
});

test("the balance is what was charged, less what went back, fees and payouts", async () => {
  await world.changeMerchant({ commissions: true });
  await world.changeEndpoint("plain", { fee: { percent: "2.5", fixed: "30" }, payouts: true });
  const paying = { payouts: true, payoutRepeatHours: 0 };
  await world.changeGate("sandbox", { fee: { percent: "1.1" }, ...paying });
  const merchant = world.merchant();
  const sold = await merchant.sale({ amount: "100.00" });
  const held = await merchant.preauth({ amount: "50.00" });
  const released = await merchant.preauth({ amount: "7.00" });
  const voided = await merchant.sale({ amount: "9.00" });
  await merchant.sale({ amount: "66.00", credit_card_number: "4000004000000020" });
  const elsewhere = await world.merchant("eur").sale({ amount: "20.00", currency: "EUR" });
  await world.settle();
  await merchant.return(sold, { amount: "40.00" });
  await merchant.capture(held, { amount: "30.00", currency: "USD" });
  await merchant.return(released);
  await merchant.void(voided);
  await world.settle();
  const { "processor-rrn": charged } = await merchant.status(sold);
  const { "processor-rrn": disputed } = await world.merchant("eur").status(elsewhere);
  const file = await writeLines(world, "chargebacks.csv", [
    "case,reference,amount,currency,reason,stage,at",
    `C1,${charged},2000,USD,10.4 fraud,first,2030-01-30`,
    `C1,${charged},1500,USD,less,pre-arbitration,2030-01-31`,
    `C2,${disputed},2000,EUR,10.4 fraud,first,2030-01-30`,
    `C2,${disputed},2000,EUR,won,reversed,2030-02-01`,
  ]);
  assert.equal((await runGw(world, "chargeback", "import", file)).code, 0);
  const oauth = { ...signer, now: () => world.clock.now() };
  const payee = makeClient({ baseUrl: world.gateway.url, oauth }).endpoint(plain);
  const payout = { currency: "USD", credit_card_number: "4000001000000018" };
  await payee.payout({ ...payout, client_orderid: "out-1", amount: "5.00" });
  await world.settle();
  world.bank.forgetMessages();
  const open = { ...payout, client_orderid: "out-2", amount: "6.00", credit_card_number: silent };
  await payee.payout(open);
  await world.bank.waitForMessage({ mti: "0200" });
  await world.pass(30_000);
  // A background job finds after a minute what the command has recorded.
  await world.pass(61_000);
  await world.gateway.cleanUp();

  const balances = await readBalances();

  // 100 + 30 + 9 charged; 40 + 9 returned; 15 charged back; 5 paid out. The fees are 2.5 % + 0.30
  // and 1.1 % of each charge: 2.80 + 1.10, 1.05 + 0.33 and 0.53 + 0.10.
  assert.equal(balances.get("USD")?.["amount"], "64.09");
  assert.equal(balances.get("USD")?.["amount-buffer-hold"], "6.00");
  assert.equal(balances.get("USD")?.["online-balance-live-amount"], "58.09");
  assert.equal(balances.get("EUR")?.["amount"], "19.78");
  const own = await readBalances(`/gw/api/v2/get-balance/${plain}`, { "balance-provider": "any" });
  assert.deepEqual([...own.keys()], ["USD"]);
  assert.equal(own.get("USD")?.["balance-amount"], "64.09");
  assert.deepEqual(
    [...(await readBalances(ofMerchant, { "balance-name": "EUR" })).keys()],
    ["EUR"],
  );
  assert.deepEqual([...(await readBalances(ofMerchant, { "balance-name": "XXX" })).keys()], []);
  for (const client of clients()) {
    assert.deepEqual(await client.getBalance(), [...balances.values()]);
    const named = { "endpoint": plain, "balance-name": "USD" };
    assert.deepEqual(await client.getBalance(named), [...own.values()]);
  }
  await assertStatement();
});

/** Asserts that gw and the portal have the same lines, whose sums are the balances. */
async function assertStatement(): Promise<void> {
  const printed = await readGw(
    world,
    ...["statement", "demo", "--since", "2020-01-01", "--until", "2040-01-01"],
  );
  const { rows: lines, balances: owed } = printed as Statement;
  const balances = await readBalances();
  for (const currency of ["USD", "EUR"]) {
    const cents = lines
      .filter((line) => line["currency"] === currency)
      .map(({ net = "" }) => Math.round(Number(net) * 100));
    const sum = cents.reduce((total, each) => total + each, 0);
    const balance = Number(balances.get(currency)?.["amount"]);
    assert.equal(sum, Math.round(balance * 100), currency);
  }
  const lost = lines.filter(({ day = "" }) => day.startsWith("2030-"));
  assert.deepEqual(
    lost.map(({ day, currency, chargebacks }) => `${day} ${currency} ${chargebacks}`),
    [
      "2030-02-01 EUR -20.00",
      "2030-01-31 USD -5.00",
      "2030-01-30 EUR 20.00",
      "2030-01-30 USD 20.00",
    ],
  );
  assert.deepEqual(owed, [...balances.values()]);
  const csv = await runGwProcess(
    world,
    ...["statement", "demo", "--since", "2030-01-30", "--until", "2030-02-01", "--csv"],
  );
  const [head, first] = csv.printed.split("\n");
  assert.equal(head, "day,currency,gross,fees,returns,chargebacks,payouts,net");
  assert.equal(first, "2030-02-01,EUR,0.00,0.00,0.00,-20.00,0.00,20.00");
  const rita = openBrowser(world.gateway);
  await rita.signIn(
    await addUser(world, { login: "rita", role: "merchant-viewer", merchant: "demo" }),
  );
  const values = { login: "demo", since: "2020-01-01", until: "2040-01-01" };
  const run = async (changed: object) =>
    (
      await rita.call("POST /actions/run", {
        action: "statement",
        values: { ...values, ...changed },
      })
    ).body;
  assert.deepEqual((await run({})).result, { rows: lines, balances: [] });
  assert.ok((await run({ since: "2030-02-30" })).error !== undefined);
  assert.ok((await run({ since: "2030-01-02", until: "2030-01-01" })).error !== undefined);
  assert.ok((await run({ login: "stranger" })).error !== undefined);
}

type Line = Readonly<Record<string, string>>;
type Statement = { readonly rows: readonly Line[]; readonly balances: readonly Line[] };

test("a settlement lowers the balance once, of its endpoint too if it names one", async () => {
  const book = (reference: string, ...words: readonly string[]) =>
    runGw(world, "settlement", "book", "demo", "--reference", reference, ...words);
  const usd = ["--currency", "USD", "--amount"];
  const before = Number((await readBalances()).get("USD")?.["amount"]);

  assert.equal((await book("W4", ...usd, "10.00")).code, 0);
  assert.equal((await book("W4", ...usd, "10.00")).code, 2);
  assert.equal((await book("W5", ...usd, "2.50", "--endpoint", plain)).code, 0);
  for (const wrong of [
    [...usd, "0"],
    [...usd, "1.001"],
    ["--currency", "CHF", "--amount", "1"],
    [...usd, "1", "--endpoint", eur],
  ]) {
    assert.equal((await book("W6", ...wrong)).code, 2, wrong.join(" "));
  }

  const amountAt = async (path?: string) =>
    Number((await readBalances(path)).get("USD")?.["amount"]);
  assert.equal((await amountAt()).toFixed(2), (before - 12.5).toFixed(2));
  const atEndpoint = await amountAt(`/gw/api/v2/get-balance/${plain}`);
  assert.equal(atEndpoint.toFixed(2), (before - 2.5).toFixed(2));
  assert.equal((await book("W4 corrected", ...usd, "-10.00")).code, 0);
  const listed = (await readGw(world, "settlement", "list", "demo")) as readonly Line[];
  assert.deepEqual(
    listed.map(({ reference, amount, endpoint }) => [reference, amount, endpoint]),
    [
      ["W4 corrected", "-10.00", null],
      ["W5", "2.50", plain],
      ["W4", "10.00", null],
    ],
  );
  const [audited] = await world.readRows<{ subject: string; after: string }>(
    "select subject, after from audit where action = 'settlement book' order by seq limit 1",
  );
  assert.equal(audited?.subject, "merchant demo");
  assert.match(JSON.stringify(audited?.after), /W4/);
  assert.equal((await amountAt()).toFixed(2), (before - 2.5).toFixed(2));
});

test("only the merchant itself may ask, by HMAC-SHA1 or RSA-SHA256, and only by POST", async () => {
  const [foreign] = await world.readRows<{ id: string }>(
    `select endpoints.id from endpoints join merchants on merchants.id = merchant_id
     where login = 'stranger'`,
  );
  const path = (name: string) => `/gw/api/v2/get-balance/${name}`;

  assert.equal((await ask(ofMerchant, {}, {})).status, 200);
  assert.equal((await ask(path("merchant/stranger"))).status, 403);
  assert.equal((await ask(path("merchant/nobody"))).status, 403);
  assert.equal((await ask(path(foreign?.id ?? assert.fail()))).status, 403);
  assert.equal((await ask(ofMerchant, {}, { secret: "wrong" })).status, 403);
  assert.equal((await ask(ofMerchant, {}, { ...hmac, header: () => undefined })).status, 403);
  assert.equal(codeOf((await ask(path("999999"))).text), "3");
  const long = await ask(ofMerchant, { "balance-name": "x".repeat(65) });
  assert.equal(codeOf(long.text), "5");
  const url = `${world.gateway.url}${ofMerchant}?${formOf({})}`;
  assert.equal((await fetch(url.replace(/\/\/[^/:]+/, "//127.0.0.1"))).status, 405);
});
