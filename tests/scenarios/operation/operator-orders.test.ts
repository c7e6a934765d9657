/** Orders as operators list and export them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

/** The issuer asks for a code, without the hidden frame before it. */
const challengeCard = "4000002100000023";
const world = await startWorld(endOfFile);
const merchant = world.merchant();

type Line = Readonly<Record<string, string>>;
const list = async (...words: readonly string[]) =>
  (await readGw(world, "order", "list", ...words)) as readonly Line[];

test("orders are listed by filter, page by page, with masked cards", async () => {
  const paid = await merchant.sale();
  const declined = await merchant.sale({ credit_card_number: "4000004000000020" });
  const inEur = await merchant.sale({ currency: "EUR" }, "eur");
  await world.settle();
  const ids = (lines: readonly Line[]) => lines.map(({ orderId }) => orderId);
  const own = [inEur, declined, paid].map((order) => order["gw-order-id"]);

  const all = await list("--merchant", world.set.login);
  const [first] = await list("--limit", "1");
  const others = await list("--before", first?.["orderId"] ?? "");

  assert.deepEqual(ids(all), own);
  assert.deepEqual([...ids([first ?? {}]), ...ids(others)], own);
  assert.deepEqual(ids(await list("--status", "declined")), [own[1]]);
  assert.deepEqual(ids(await list("--currency", "EUR")), [own[0]]);
  assert.deepEqual(ids(await list("--client-order", paid["merchant-order-id"])), [own[2]]);
  assert.deepEqual(ids(await list("--until", "2000-01-01")), []);
  assert.ok(all.every(({ cardMask }) => /^\d{6}\*{4}\d{4}$/.test(cardMask ?? "")));
  const nobody = await runGw(world, "order", "list", "--merchant", "nobody");
  assert.equal(nobody.code, 2);
});

test("orders and callbacks are listed and shown within 100 columns, and without JSON", async () => {
  const address = { server_callback_url: "http://127.0.0.1:9/callback" };
  const held = await merchant.preauth(address);
  await world.settle();
  await merchant.capture(held, { amount: "1.00" });
  await merchant.sale({ ...address, credit_card_number: "4000004000000020" });
  await world.settle();
  const id = held["gw-order-id"];

  const orders = await runGw(world, "order", "list");
  const shown = await runGw(world, "order", "show", id);
  const callbacks = await runGw(world, "callback", "list");

  for (const { printed } of [orders, shown, callbacks]) {
    assert.deepEqual(
      printed.split("\n").filter((line) => line.length > 100 || line.includes('":')),
      [],
    );
  }
  assert.match(
    orders.printed,
    new RegExp(`^${id} .* approved .*\n    stage: capture_approved `, "m"),
  );
  assert.match(
    callbacks.printed,
    new RegExp(`^${id} .*(?:\n    .*)*http://127\\.0\\.0\\.1:9/callback`, "m"),
  );
  assert.match(shown.printed, /^capture_approved +1\.00 USD .* sandbox +only gate$/m);
  assert.match(shown.printed, /captured\n(?: {4}.*\n)* {4}answer\.approvedAmount: 1\.00 USD$/m);
});

test("a test sale is sent from the terminal, with the result as exit code", async () => {
  const send = (...words: readonly string[]) =>
    runGw(world, "pay", "--url", world.gateway.url, ...words, "--json");
  const id = world.set.endpoints["plain"] ?? "";

  const running = send("--endpoint", id, "--amount", "2.50");
  const paid = await until("the sale is final", async () => {
    await world.settle();
    return Promise.race([running, Promise.resolve(undefined)]);
  });
  const wrong = await send("--endpoint", id, "--amount", "2.505");
  const nowhere = await send("--endpoint", "1");

  assert.equal(paid.code, 0, paid.complaint);
  assert.equal(JSON.parse(paid.printed).status, "approved");
  assert.match(wrong.complaint, /2.505 is no amount in USD/);
  assert.match(nowhere.complaint, /There is no endpoint 1/);
});

test("a test sale passes the 3-D Secure of the sandbox", async () => {
  const id = world.set.endpoints["secure"] ?? "";
  const words = ["pay", "--url", world.gateway.url, "--endpoint", id, "--card", "--pass", "--json"];

  const running = runGwWith(`${challengeCard} 12/2031 123`, world, ...words);
  const paid = await until("the sale is final", async () => {
    await world.settle();
    return Promise.race([running, Promise.resolve(undefined)]);
  });
  const inProduction = { GW_ENV: "production", GW_BASE_URL: "https://pay.example" };
  const settings = { ...inProduction, GW_MASTER_KEY_FILE: `${world.dataDir}/keys/master.key` };
  const refused = await runGwWith("4000001000000018 12/2031 123", { ...world, settings }, ...words);

  assert.equal(paid.code, 0, paid.complaint);
  assert.equal(JSON.parse(paid.printed).status, "approved");
  assert.match(paid.complaint, /Open this address in a browser: http/);
  assert.equal(refused.code, 2, refused.complaint);
  assert.match(refused.complaint, /--pass is for the sandbox/);
});

test("an export is CSV without values that a spreadsheet reads as a formula", async () => {
  await merchant.sale({ client_orderid: '=HYPERLINK("x"),a' });
  await world.settle();

  const { code, printed, complaint } = await runGw(world, "order", "export");

  const [header, latest] = printed.split("\n");
  assert.equal(code, 0);
  assert.match(header ?? "", /^orderId,clientOrderId,time,/);
  assert.match(latest ?? "", /^\d+,"'=HYPERLINK\(""x""\),a",/);
  assert.match(complaint, /^\d+ orders/m);
});

test("a list of more than a thousand orders is in the audit, and a page is not", async () => {
  const countLists = async () => {
    const entries = await readGw(world, "audit", "list", "--action", "order list");
    return (entries as readonly Line[]).length;
  };
  const before = await countLists();

  await list("--limit", "1000");
  assert.equal(await countLists(), before);
  await list("--limit", "1001");
  assert.equal(await countLists(), before + 1);
});
