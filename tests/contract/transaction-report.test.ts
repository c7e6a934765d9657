/**
 * The transaction report: a line for each transaction that says what its status says, every
 * parameter, every refusal, and what happens when it breaks off.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { type Client, makeClient, type ReportRow } from "@tollgate/client";
import { writeLines } from "../support/bank/settlement.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { addUser, openBrowser } from "../support/operator/portal.ts";
import { runGw } from "../support/programs.ts";
import { until } from "../support/until.ts";
import { giveKey, makeKeyPair, type Signer, signGet, type Wrong } from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

const keys = makeKeyPair();
const signer: Signer = { consumerKey: "demo", privateKey: keys.privateKey };
const world = await startWorld(endOfFile, {}, { prepare: async () => undefined });
await giveKey(world, "demo", keys);
const hourMs = 3_600_000;
const declined = "4000004000000020";
const doubtful = "4000004000000129";

function shown(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 19);
}

const span = {
  createdFromDate: shown(world.clock.now() - hourMs),
  createdToDate: shown(world.clock.now() + 100 * hourMs),
};
/** The period before the transactions that `fillHistory` makes. */
const short = { ...span, createdToDate: shown(world.clock.now() + hourMs) };
type Sent = Readonly<Record<string, string>>;

function pathOf(query: Sent | string): string {
  const text = typeof query === "string" ? query : new URLSearchParams(query).toString();
  return `/gw-ui/services/transaction-report?${text}`;
}

async function ask(query: Sent | string = span, wrong: Wrong = {}, method = "GET") {
  const { url, headers } = signGet(world, signer, pathOf(query), wrong);
  const answer = await fetch(url, { method, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function readLines(query: Sent = {}, wrong: Wrong = {}) {
  const { status, text } = await ask({ ...span, ...query }, wrong);
  assert.equal(status, 200, text);
  const [head = [], ...rows] = readCsv(text);
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ""])));
}

/** Reads CSV with quoted cells and CRLF. */
function readCsv(text: string): readonly (readonly string[])[] {
  const cells = [...text.matchAll(/("(?:[^"]|"")*"|[^,\r]*)(,|\r\n)/g)];
  const rows: string[][] = [[]];
  for (const [, cell = "", end] of cells) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
}

const typesOf = (lines: readonly Sent[]) => lines.map((line) => line["transaction-type"]);

test("each transaction has a line that says what its status says", async () => {
  const merchant = world.merchant();
  await world.changeGate("sandbox-binary", { refunds: { after: "always" } });
  const binary = world.merchant("binary");
  const data = 'a "quoted", text;\nof two lines';
  const sold = await merchant.sale({ card_printed_name: "=1+1 DOE", merchant_data: data });
  const held = await merchant.preauth();
  const released = await merchant.preauth();
  const taken = await merchant.sale();
  const refused = await merchant.sale({ credit_card_number: declined });
  await merchant.verify();
  const refunded = await binary.sale();
  await world.settle();
  await merchant.return(sold, { amount: "4.00" });
  await merchant.capture(held, { amount: "5.00", currency: "USD" });
  await merchant.return(released);
  await merchant.void(taken);
  await binary.return(refunded);
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(refused);
  assert.ok(reference !== undefined);
  const { "processor-rrn": charged } = await merchant.status(sold);
  const file = await writeLines(world, "chargebacks.csv", [
    "case,reference,amount,currency,reason,stage,at",
    `C1,${charged},500,USD,10.4 fraud,first,2030-01-31`,
    `C1,${charged},500,USD,10.4 fraud,representment,2030-02-01`,
    `C1,${charged},500,USD,won,reversed,2030-02-02`,
  ]);
  assert.equal((await runGw(world, "chargeback", "import", file)).code, 0);
  await merchant.sale({ credit_card_number: doubtful, client_orderid: "in-doubt" });
  assert.deepEqual(typesOf(await readLines({ transactionStatuses: "processing" })), ["sale"]);

  const lines = await readLines();

  const expected = [
    ...["sale", "preauth", "preauth", "sale", "sale", "account-verification", "sale"],
    ...["reversal", "capture", "reversal", "void", "reversal"],
    ...["chargeback", "dispute", "chargeback-reversal", "sale"],
  ];
  assert.deepEqual(typesOf(lines).sort(), expected.sort());
  for (const line of lines) {
    const order = {
      "merchant-order-id": line["merchant-order-id"] ?? "",
      "gw-order-id": line["gw-order-id"] ?? "",
      "serial-number": line["serial-number"] ?? "",
    };
    const through = line["end-point-id"] === world.set.endpoints["binary"] ? binary : merchant;
    const status: Readonly<Record<string, string | undefined>> = await through.describe(order);
    for (const name of asInStatus) {
      assert.equal(line[name], status[name] ?? "", `${line["transaction-type"]}: ${name}`);
    }
  }
  const [first] = lines.filter((line) => line["gw-order-id"] === sold["gw-order-id"]);
  assert.equal(first?.["cardholder-name"], "'=1+1 DOE");
  assert.equal(first?.["merchantdata"], data);
  const amounts = lines.map((line) => `${line["transaction-type"]} ${line["amount"]}`);
  for (const own of ["reversal 4.00", "capture 5.00", "void 10.15", "chargeback 5.00"]) {
    assert.ok(amounts.includes(own), own);
  }
  assert.ok(!JSON.stringify(lines).includes("4111111111111111"));
  const readByClient = async (client: Pick<Client, "transactionReport">) => {
    const rows: ReportRow[] = [];
    for await (const row of client.transactionReport(span)) rows.push(row);
    return rows;
  };
  const oauth = { ...signer, now: () => world.clock.now() };
  assert.deepEqual(await readByClient(merchant.client()), lines);
  assert.deepEqual(await readByClient(makeClient({ baseUrl: world.gateway.url, oauth })), lines);
  const times = lines.map((line) => line["created"] ?? "");
  assert.deepEqual(times, times.toSorted());
});

const asInStatus = [
  ...["transaction-type", "status", "order-stage", "transaction-date", "gw-processing-date"],
  ...["currency", "charged-amount", "processor-tx-id", "processor-rrn", "approval-code"],
  ...["terminal-id", "descriptor", "card-type", "bin", "last-four-digits", "email", "eci"],
  ...["card-country-alpha-three-code", "verified-3d-status", "error-code", "error-message"],
];

test("every parameter chooses lines", async () => {
  const { plain = "", binary = "" } = world.set.endpoints;
  const count = async (query: Sent) => (await readLines(query)).length;
  const all = await count({});

  assert.equal(await count({ transactionTypes: "reversal" }), 2);
  assert.equal(await count({ transactionTypes: "refund" }), 1);
  assert.equal(await count({ transactionTypes: "cancel" }), 1);
  assert.equal(await count({ transactionTypes: "void, capture" }), 2);
  assert.equal(await count({ transactionTypes: "chargeback,retrieval,fraud,payout" }), 1);
  assert.equal(await count({ transactionStatuses: "declined" }), 1);
  assert.equal(await count({ transactionStatuses: "processing", transactionTypes: "sale" }), 1);
  assert.equal(await count({ endpoints: binary }), 2);
  assert.equal(await count({ endpoints: `${plain},${binary}` }), all);
  assert.equal(await count({ bankToDate: shown(world.clock.now() + hourMs) }), all - 1);
  assert.equal(await count({ bankFromDate: shown(world.clock.now() + hourMs) }), 0);
  const [first] = await readLines();
  const at = (first?.["created"] ?? "").slice(0, 19);
  const inSecond = await readLines({ createdFromDate: at, createdToDate: at });
  assert.ok(inSecond.some((line) => line["serial-number"] === first?.["serial-number"]));
});

test("the portal and gw write the same lines", async () => {
  const rita = openBrowser(world.gateway);
  await rita.signIn(
    await addUser(world, { login: "rita", role: "merchant-viewer", merchant: "demo" }),
  );
  const otto = openBrowser(world.gateway);
  await otto.signIn(await addUser(world, { login: "otto", role: "support" }));
  const [from, until] = [world.clock.now() - hourMs, world.clock.now() + hourMs];
  const download = async ({ jar }: typeof rita, query: Sent) => {
    const headers = { cookie: [...jar].map((pair) => pair.join("=")).join("; ") };
    const range = new URLSearchParams({ from: String(from), until: String(until), ...query });
    const path = `/portal/api/exports/transactions?${range}`;
    const answer = await fetch(`http://127.0.0.1:${world.gateway.port}${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  const asked = { transactionTypes: "sale,void", transactionStatuses: "approved" };
  const { text } = await ask({ ...span, ...asked });

  const own = await download(rita, { type: "sale,void", status: "approved" });
  const chosen = await download(otto, { type: "sale,void", status: "approved", merchant: "demo" });
  const between = [
    "--since",
    new Date(from).toISOString(),
    "--until",
    new Date(until).toISOString(),
  ];
  const filters = ["--type", "sale", "--type", "void", "--status", "approved"];
  const printed = await runGw(world, "report", "demo", ...between, ...filters, "--json");

  assert.deepEqual(
    [own, chosen],
    [
      { status: 200, text },
      { status: 200, text },
    ],
  );
  const rows: readonly Sent[] = printed.printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(rows, await readLines(asked));
  assert.equal((await download(otto, {})).status, 400);
  assert.equal((await download(rita, { from: "0" })).status, 400);
  assert.equal((await download(rita, { endpoint: "999999" })).status, 400);
  assert.equal((await runGw(world, "report", "demo", ...between, "--type", "transfer")).code, 2);
});

test("HMAC-SHA1 with the control key signs it too, unless the merchant takes RSA alone", async (t) => {
  const hmac = { secret: world.set.controlKey };

  const bySecret = await readLines({}, hmac);
  await world.changeMerchant({ rsaOnly: true });
  t.after(() => world.changeMerchant({ rsaOnly: false }));

  assert.equal(bySecret.length, (await readLines()).length);
  assert.equal((await ask(span, hmac)).status, 403);
});

const { createdFromDate, createdToDate } = span;
// biome-ignore format: a table
const refusals: readonly (readonly [query: Sent | string, code: string, message: RegExp])[] = [
  [{ createdToDate },                                        "4", /createdFromDate$/],
  [{ createdFromDate },                                      "4", /createdToDate$/],
  [{ ...span, createdFromDate: "2026-02-31 00:00:00" },      "5", /createdFromDate: not YYYY/],
  [{ ...span, createdFromDate: "2026-01-31T00:00:00" },      "5", /createdFromDate: not YYYY/],
  [{ ...span, createdToDate: "2026-01-31 24:00:00" },        "5", /createdToDate: not YYYY/],
  [{ ...span, createdFromDate: "0000-01-01 00:00:00" },      "5", /createdFromDate: not YYYY/],
  [{ createdFromDate: createdToDate, createdToDate: createdFromDate }, "5", /after createdToDate/],
  [{ createdFromDate: "2026-01-01 00:00:00", createdToDate: "2026-02-01 00:00:01" }, "5", /31 days/],
  [{ createdFromDate: "2020-01-01 00:00:00", createdToDate: "2020-01-31 00:00:00" }, "5", /24 months/],
  [{ ...span, bankFromDate: "yesterday" },                   "5", /bankFromDate: not YYYY/],
  [{ ...span, bankToDate: "1" },                             "5", /bankToDate: not YYYY/],
  [{ ...span, transactionTypes: "sale,transfer" },           "5", /transactionTypes: not a list of/],
  [{ ...span, transactionTypes: "sale,,void" },              "5", /transactionTypes: not a list of/],
  [{ ...span, transactionTypes: "toString" },                "5", /transactionTypes: not a list of/],
  [{ ...span, transactionStatuses: "unknown" },              "5", /transactionStatuses: not a list/],
  [{ ...span, endpoints: "one" },                            "5", /endpoints: not a list of/],
  [{ ...span, endpoints: "999999" },                         "3", /^INVALID_ENDPOINT/],
  [{ ...span, format: "xml" },                               "5", /unknown parameter/],
  [{ ...span, toString: "1" },                               "5", /unknown parameter/],
  [`${new URLSearchParams(span)}&createdToDate=${encodeURIComponent(createdToDate)}`, "1", /twice/],
];

test("every refusal has its code and HTTP status 400, and is no CSV", async () => {
  for (const [query, code, message] of refusals) {
    const { status, headers, text } = await ask(query);
    const body = new URLSearchParams(text);
    const what = typeof query === "string" ? query : JSON.stringify(query);
    assert.deepEqual([status, body.get("error-code")], [400, code], `${what}: ${text}`);
    assert.match(body.get("error-message") ?? "", message);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
  }
});

test("another merchant's endpoint refuses the whole report", async () => {
  const stranger = await world.stranger();
  const [theirs = ""] = Object.values(stranger.set.endpoints);

  const mixed = await ask({ ...span, endpoints: `${world.set.endpoints["plain"]},${theirs}` });

  assert.deepEqual([mixed.status, new URLSearchParams(mixed.text).get("error-code")], [400, "3"]);
  const own = { consumerKey: "stranger", secret: stranger.set.controlKey };
  assert.equal((await ask(span, own)).text.split("\r\n").length, 2);
});

test("a request that the merchant has not signed is refused like every other", async () => {
  const wrongs: readonly Wrong[] = [
    { secret: "another key" },
    { url: `${world.gateway.url}${pathOf({ ...span, endpoints: "1" })}` },
    { consumerKey: "nobody" },
    { timestamp: 1 },
    { header: () => undefined },
    { nonce: "twice" },
  ];
  assert.equal((await ask(span, { nonce: "twice" })).status, 200);
  for (const wrong of wrongs) {
    const { status, text } = await ask(span, wrong);
    assert.deepEqual([status, /^<!DOCTYPE html>/.test(text)], [403, true]);
  }
  assert.equal((await ask("createdFromDate=%zz")).status, 400);
  const posted = await ask(span, {}, "POST");
  assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET"]);
});

test("one report of a merchant is sent at a time, by all nodes together", async (t) => {
  const other = await world.otherNode("report-node");
  const lines = await fillHistory(20_000);
  const { url, headers } = signGet(world, signer, pathOf(span));
  const { hostname, port, pathname, search } = new URL(url);
  const reader = connect(Number(port), hostname);
  t.after(() => reader.destroy());
  const path = `${pathname}${search}`;
  // The reader takes only the first bytes, and the gateway waits for it.
  reader.write(
    `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${headers["authorization"]}\r\n\r\n`,
  );
  const [begun] = await once(reader, "data");
  reader.pause();
  assert.match(String(begun), /^HTTP\/1.1 200 OK[\s\S]*transfer-encoding: chunked/i);

  const second = await ask();
  const signed = signGet(world, signer, path, { url: `${other.url}${path}` });
  const elsewhere = await fetch(`http://127.0.0.1:${other.port}${path}`, signed);

  assert.deepEqual([second.status, elsewhere.status], [429, 429]);
  assert.ok(Number(second.headers.get("retry-after")) > 0);
  assert.equal(new URLSearchParams(second.text).get("error-code"), "12");
  reader.destroy();
  await until("a report is sent again", async () => (await ask(short)).status === 200 || undefined);
  assert.ok(world.logged.some((line) => line.includes("report.broken_off")));
  const known = await readLines(short);
  const sales = Array.from({ length: 20 }, () => world.merchant().sale());
  const whole = await readLines();
  await Promise.all(sales);
  const serials = new Set(whole.map((line) => line["serial-number"]));
  assert.equal(serials.size, whole.length);
  assert.ok(known.every((line) => serials.has(line["serial-number"])));
  const copies = whole.filter((line) => line["merchant-order-id"]?.startsWith("copy-"));
  assert.equal(copies.length, lines);
  await world.settle();
});

test("a report that breaks off has no last chunk, and its connection is reset", async () => {
  const broken = "alter table orders rename to orders_elsewhere";
  const { url, headers } = signGet(world, signer, pathOf(span));

  const answer = await fetch(url, { headers });
  await world.installation.database.query(broken);
  const reading = answer.text();
  await assert.rejects(reading);
  await world.installation.database.query("alter table orders_elsewhere rename to orders");

  assert.equal(answer.status, 200);
  assert.ok((await readLines(short)).length > 0);
});

/**
 * Makes many transactions out of the first sale, all at one moment two hours later, each with a
 * serial number of its own. Returns how many.
 */
async function fillHistory(count: number): Promise<number> {
  const first = (await readLines()).find((line) => line["transaction-type"] === "sale");
  const id = "1000000000 + number";
  const renamed = (column: string) =>
    `replace(${column}::text, $3, md5(number::text)::uuid::text)::json`;
  const copied = [first?.["gw-order-id"], count, first?.["serial-number"]];
  await world.installation.database.query(
    `insert into orders select copied.*
     from orders, generate_series(1, $2::int) as number, json_populate_record(orders,
       json_build_object('id', ${id}, 'client_orderid', 'copy-' || number,
         'progress', ${renamed("orders.progress")})) as copied
     where orders.id = $1`,
    copied,
  );
  await world.installation.database.query(
    `insert into order_history
     select merchant_id, ${id}, version, at + interval '2 hours', node, ${renamed("events")}
     from order_history, generate_series(1, $2::int) as number
     where order_id = $1 and events #>> '{0,kind}' = 'received'`,
    copied,
  );
  await world.installation.database.query("analyze orders, order_history");
  return count;
}
