/** The wallets' URLs as scripts use them, and the state that survives a restart. */
import assert from "node:assert/strict";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { openToken as openA, WalletFault as WalletAFault } from "@tollgate/protocols/walleta";
import { openToken as openB, WalletFault as WalletBFault } from "@tollgate/protocols/walletb";
import { startBank } from "../bank.ts";
import { BankClock } from "../bank-context.ts";
import { openIdentities } from "../certificates/chains.ts";
import { AuthenticationValues } from "../issuer.ts";
import { Switchboard } from "../switches.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import {
  enrolWalletA,
  enrolWalletB,
  makeRequest,
  makeWalletBMerchant,
  trustWalletA,
  trustWalletB,
  writeRequest,
} from "../testing/wallet-merchant.ts";
import { openWallets } from "./wallets.ts";

const bank = await startTestBank({ after });
const card = { pan: "4000002000000016", expirationYear: 2031, expirationMonth: 7 };
const payment = { ...card, amount: 1050, currency: "USD" };

async function post(path: string, body: string, url = bank.url) {
  const response = await fetch(url + path, { method: "POST", body });
  const type = response.headers.get("content-type");
  return { status: response.status, type, text: await response.text() };
}

async function readAll(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).sort();
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

test("nothing is minted before a recipient is known", async () => {
  for (const wallet of ["walleta", "walletb"]) {
    const { status, text } = await post(`/wallets/${wallet}`, JSON.stringify(payment));
    assert.equal(status, 400);
    assert.match(text, /No recipient is known/);
  }
});

test("only the owner can read keys, and everyone can read roots", async () => {
  // biome-ignore format: a table
  const modes = {
    "SANDBOX": 0o644,
    "walleta-intermediate.key": 0o600, "walleta-intermediate.pem": 0o644,
    "walleta-leaf.key": 0o600,         "walleta-leaf.pem": 0o644,
    "walleta-root.pem": 0o644,
    "walletb-root-keys.json": 0o644,   "walletb-root.key": 0o600,
  };
  const files = (await readdir(bank.walletFolder)).map(async (name) => {
    return [name, (await stat(join(bank.walletFolder, name))).mode & 0o777] as const;
  });
  assert.deepEqual(Object.fromEntries(await Promise.all(files)), modes);
  const root = await readFile(join(bank.walletFolder, "walleta-root.pem"));
  assert.match(new X509Certificate(root).subject, /Tollgate Sandbox/);
});

test("the URLs return tokens that open, with numbers as digits or as JSON numbers", async () => {
  const merchantA = await enrolWalletA(bank);
  const merchantB = await enrolWalletB(bank);
  const inDigits = { ...payment, expirationYear: "2031", expirationMonth: "07", amount: "1050" };
  for (const body of [payment, inDigits].map((each) => JSON.stringify(each))) {
    const [a, b] = [await post("/wallets/walleta", body), await post("/wallets/walletb", body)];
    for (const { status, type } of [a, b]) {
      assert.deepEqual([status, type], [200, "application/json"]);
    }
    const [trustA, trustB] = [
      await trustWalletA(bank, merchantA),
      await trustWalletB(bank, merchantB),
    ];
    assert.ok(!(openA(a.text, trustA) instanceof WalletAFault));
    assert.ok(!(openB(b.text, trustB) instanceof WalletBFault));
  }
});

test("the possible tokens are listed with the recipients", async () => {
  await enrolWalletA(bank, "?merchantIdentifier=merchant.listed");
  await enrolWalletB(bank, "listed");
  const listed = JSON.parse(await (await fetch(`${bank.url}/wallets`)).text());

  assert.equal(listed.walleta.recipient, "merchant.listed");
  assert.deepEqual(listed.walleta.versions, ["EC_v1", "RSA_v1"]);
  assert.equal(listed.walleta.defects.length, 8);
  const { recipient, gatewayMerchantId, defects } = listed.walletb;
  assert.deepEqual([recipient, gatewayMerchantId], ["gateway:listed", "listed-merchant"]);
  assert.ok(defects.some(({ name }: { name: string }) => name === "wrong-mac"));
});

const point = makeWalletBMerchant("x").publicKey;

// biome-ignore format: a table
const badMembers = [
  ["walleta", { pan: "4111" },                    /"pan" takes 12 to 19 digits/],
  ["walletb", { pan: 4000002000000016 },          /"pan" takes/],
  ["walletb", { pan: null },                      /"pan" is missing; it takes/],
  ["walleta", { amount: null },                   /"amount" is missing/],
  ["walleta", { amount: 10.5 },                   /whole number of minor units/],
  ["walleta", { amount: -1 },                     /"amount" takes/],
  ["walleta", { currency: "usd" },                /"currency" takes/],
  ["walletb", { currency: "QQQ" },                /"currency" takes/],
  ["walletb", { expirationYear: 31 },             /four digits/],
  ["walletb", { expirationMonth: 13 },            /a month/],
  ["walletb", { defect: "rotten" },               /one of "expired"/],
  ["walleta", { defect: "wrong-mac" },            /"defect" takes/],
  ["walletb", { defects: "expired" },             /There is no "defects"/],
  ["walletb", { authMethod: "3DS" },              /"authMethod" takes/],
  ["walletb", { version: "ECv3" },                /"version" takes/],
  ["walletb", { publicKey: "AAAA" },              /65 bytes/],
  ["walletb", { publicKey: `${point}AAAA` },      /65 bytes/],
  ["walletb", { publicKey: Buffer.alloc(65, 4).toString("base64") }, /65 bytes/],
  ["walletb", { recipientId: "somebody" },        /merchant:<id> or gateway:<id>/],
  ["walletb", { messageExpiration: "soon" },      /milliseconds/],
  ["walleta", { signingTime: -1 },                /milliseconds/],
  ["walleta", { transactionId: "abc" },           /64 hex digits/],
  ["walleta", { certificate: "none" },            /certificate in PEM/],
  ["walleta", { eciIndicator: "5a" },             /up to two digits/],
] as const;

test("bad members are refused with a sentence", async () => {
  for (const [wallet, members, sentence] of badMembers) {
    const { status, text } = await post(
      `/wallets/${wallet}`,
      JSON.stringify({ ...payment, ...members }),
    );
    assert.equal(status, 400, text);
    assert.match(JSON.parse(text).error, sentence);
    assert.match(JSON.parse(text).error, /^["A-Z].+\.$/);
  }
});

test("invalid bodies are refused", async () => {
  for (const path of ["/wallets/walleta", "/wallets/walletb", "/wallets/walletb/recipient"]) {
    for (const body of ["", "[]", "null", "7", "{"]) {
      assert.equal((await post(path, body)).status, 400, `${path} ${body}`);
    }
    assert.equal((await post(path, "x".repeat(100_000))).status, 413);
  }
  assert.match((await post("/wallets/walletb/recipient", "{}")).text, /"publicKey.* is missing/);
});

test("a certificate is issued only to a requester that has the key", async () => {
  const path = "/wallets/walleta/certificate";
  const { pem } = await makeRequest();
  const der = Buffer.from(pem.split("\n")[1] ?? "", "base64");
  // This byte is inside the name, which the signature covers.
  der[der.indexOf("merchant") + 1] = 0x45;
  const changed = writeRequest(der);
  const spki = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;

  // biome-ignore format: a table
  const refused = [
    [path, changed, /not signed by its key/],
    [path, "nothing", /certificate request in PEM/],
    [path, writeRequest(Buffer.from("nothing")), /cannot be read/],
    [path, writeRequest(spki.export({ format: "der", type: "spki" })), /cannot be read/],
    [`${path}?days=0`, pem, /"days" takes/],
    [`${path}?days=soon`, pem, /"days" takes/],
    [`${path}?merchantIdentifier=`, pem, /"merchantIdentifier" takes/],
    [`${path}?merchantIdentifier=a%20b`, pem, /"merchantIdentifier" takes/],
  ] as const;
  for (const [address, body, sentence] of refused) {
    const { status, text } = await post(address, body);
    assert.equal(status, 400, text);
    assert.match(JSON.parse(text).error, sentence);
  }
  assert.equal((await post(path, pem)).type, "application/x-pem-file");
});

test("roots and recipients survive a restart, and a damaged file does not prevent it", async () => {
  const merchantA = await enrolWalletA(bank);
  const merchantB = await enrolWalletB(bank);
  const before = await readAll(bank.walletFolder);
  const options = { httpPort: 0, hostPort: 0, dataDir: bank.dataDir };

  const second = await startBank(options);
  const [a, b] = [await second.mintWalletA(payment), await second.mintWalletB(card)];
  const later = await enrolWalletA(second, "?merchantIdentifier=merchant.later");
  const forLater = await second.mintWalletA(payment);
  await second.stop();

  assert.ok(!(openA(a, await trustWalletA(bank, merchantA)) instanceof WalletAFault));
  assert.ok(!(openB(b, await trustWalletB(bank, merchantB)) instanceof WalletBFault));
  assert.ok(!(openA(forLater, await trustWalletA(bank, later)) instanceof WalletAFault));
  const { "recipients.json": _, ...kept } = await readAll(bank.walletFolder);
  assert.deepEqual({ ...before, ...kept }, before);

  await writeFile(join(bank.walletFolder, "recipients.json"), '{"walleta":7,"walletb":');
  await writeFile(join(bank.walletFolder, "walletb-root.key"), "no key");
  await rm(join(bank.walletFolder, "walleta-leaf.pem"));
  const third = await startBank(options);
  await assert.rejects(third.mintWalletA(payment), /No recipient is known/);
  const anew = openA(
    await third.mintWalletA({ ...payment, certificate: merchantA.certificate }),
    await trustWalletA(third, merchantA),
  );
  await third.stop();
  assert.ok(!(anew instanceof WalletAFault));
});

test("the first start takes less than two seconds of one core", async (t) => {
  const dataDir = join(bank.dataDir, "fast");
  t.after(() => rm(dataDir, { recursive: true }));
  const before = process.cpuUsage();
  const authenticationValues = new AuthenticationValues(Buffer.alloc(32));
  const clock = new BankClock();
  const switches = new Switchboard();
  const context = { dataDir, clock, switches, authenticationValues, resultTimeoutMs: 5_000 };
  const address = { host: "127.0.0.1", port: 0 };
  const { directory } = await openIdentities(join(dataDir, "tls"), clock.now().ms);
  await openWallets({ ...context, log: () => {} }, directory, address);

  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});
