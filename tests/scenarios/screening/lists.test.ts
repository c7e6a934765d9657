/** Allow and block lists and countries: from the operator's command to the merchant's answer. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const merchant = world.merchant();
const { login } = world.set;
const hour = 3_600_000;

const otherCard = "4000004000000202";
const blocked = "1020";

async function codeOf(order: Awaited<ReturnType<typeof merchant.sale>>): Promise<string> {
  await world.settle();
  const status = await merchant.status(order);
  return status["error-code"] ?? status.status ?? "";
}

const pay = async (fields: SaleFields = {}) => codeOf(await merchant.sale(fields));

type Line = Readonly<Record<string, string>>;

/** Waits until the node knows this number of entries. */
async function known(entries: number): Promise<void> {
  await until(`the node knows ${entries} entries`, async () => {
    const text = await (await fetch(`${world.gateway.url}/metrics`)).text();
    return text.includes(`tollgate_list_entries ${entries}\n`) ? true : undefined;
  });
}

const add = async (...words: readonly string[]) =>
  (await readGw(world, "list", "add", ...words)) as Line;

/**
 * Adds a card. Some ids look like card numbers, which the command line refuses; then the order
 * names the card.
 */
async function addCard(id: string, order: string, ...scope: readonly string[]): Promise<void> {
  const ran = await runGw(world, "list", "add", "block", "card", id, ...scope);
  if (ran.code === 0) return;
  assert.match(ran.complaint, /may be a card number/);
  await add("block", "card", "--order", order, ...scope);
}

async function removeAll(): Promise<void> {
  const lines = (await readGw(world, "list", "show")) as readonly Line[];
  const ids = lines.map(({ entry }) => entry ?? "");
  if (ids.length > 0) await readGw(world, "list", "remove", ...ids);
  await known(0);
}

// biome-ignore format: a table
const kinds: readonly (readonly [kind: string, value: string, sale: SaleFields])[] = [
  ["email",          "Fraud@Example.com",  { email: "FRAUD@example.com" }],
  ["email-domain",   "bücher.example",     { email: "a@mail.XN--BCHER-KVA.example" }],
  ["phone",          "+49 (0)30 1234567",  { phone: "0049 301234567" }],
  ["ip",             "192.0.2.0/25",       { ipaddress: "192.0.2.77" }],
  ["ip",             "2001:db8:1::/48",    { ipaddress: "2001:DB8:1:2::3" }],
  ["bin",            "40000040",           { credit_card_number: otherCard }],
  ["purpose",        "Player 7",           { purpose: "player 7" }],
  ["issuer-country", "NLD",                { credit_card_number: "5200000000000007" }],
  ["payer-country",  "fr",                 { country: "FR", state: undefined }],
];

test("each kind of entry filters its orders and no others, at once", async () => {
  const entries: Line[] = [];
  for (const [kind, value] of kinds) entries.push(await add("block", kind, value));
  await known(kinds.length);

  for (const [kind, , sale] of kinds) assert.equal(await pay(sale), blocked, kind);
  assert.equal(await pay(), "approved");

  const order = await merchant.sale({ email: "fraud@example.com" });
  await world.settle();
  const { printed } = await runGw(world, "order", "show", order["gw-order-id"]);
  assert.match(
    printed,
    new RegExp(`list: block\\n.*of: email\\n.*entry: ${entries[0]?.["entry"]}\\n`),
  );
  const status = await merchant.status(order);
  assert.equal(status["error-message"], "BLOCKED");
  assert.equal(status.status, "filtered");
  await removeAll();
  assert.equal(await pay({ email: "fraud@example.com" }), "approved");
});

test("a card is blocked by its number, a reference, its hash id or an order", async () => {
  const first = await merchant.sale({ credit_card_number: "4000004000000210" });
  const paid = await merchant.sale({ credit_card_number: "4000001000000018" });
  await world.settle();
  const { "card-ref-id": reference = "" } = await merchant.register(first);
  const { "card-hash-id": hashId = "" } = await merchant.status(paid);
  const byNumber = await runGwWith(
    `${otherCard.slice(0, 4)} ${otherCard.slice(4)}\n`,
    world,
    ...["list", "add", "block", "card", "-"],
  );
  await addCard(reference, first["gw-order-id"]);
  await addCard(hashId, paid["gw-order-id"], "--merchant", login);
  await known(3);

  assert.equal(byNumber.code, 0, byNumber.complaint);
  assert.equal(await pay({ credit_card_number: otherCard }), blocked);
  assert.equal(await pay({ credit_card_number: "4000004000000210" }), blocked);
  assert.equal(await pay({ credit_card_number: "4000001000000018" }), blocked);
  assert.equal(await pay(), "approved");
  await removeAll();

  await add("block", "card", "--order", paid["gw-order-id"], "--endpoint", endpointOf("eur"));
  await add("block", "card", "--order", paid["gw-order-id"]);
  await known(2);
  assert.equal(await pay({ credit_card_number: "4000001000000018" }), blocked);
  await removeAll();
});

const endpointOf = (name: string) => world.set.endpoints[name] ?? "";

test("a card number on the command line or in a file is refused, and stored nowhere", async () => {
  const file = join(world.dataDir, "cards.csv");
  await writeFile(file, `list,kind,value\nblock,card,${otherCard}\nblock,purpose,${otherCard}\n`);
  const asWord = await runGw(world, "list", "add", "block", "card", otherCard);
  const asValue = await runGw(world, "list", "add", "block", "email", otherCard);
  const inFile = await runGw(world, "list", "import", file);
  const asReason = await runGw(
    world,
    ...["list", "add", "block", "bin", "400000", "--why", `stolen ${otherCard}`],
  );

  for (const ran of [asWord, asValue, inFile, asReason]) {
    assert.equal(ran.code, 2);
    assert.doesNotMatch(ran.complaint + ran.printed, /4000004000000202/);
  }
  assert.match(asWord.complaint, /standard input/);
  assert.match(inFile.complaint, /Line 2, column value: .*standard input/);
  assert.match(inFile.complaint, /Line 3, column value: may be a card number/);
  const piped = await runGwWith(
    `list,kind,value\nblock,card,${otherCard}\n`,
    world,
    ...["list", "import", "-", "--json"],
  );
  assert.equal(JSON.parse(piped.printed).added, 1);
  await known(1);
  assert.equal(await pay({ credit_card_number: otherCard }), blocked);
  await removeAll();
  const stored = await world.installation.database.query(
    `select from audit where audit::text like '%${otherCard}%'
     union all select from list_entries where list_entries::text like '%${otherCard}%'`,
  );
  assert.equal(stored.length, 0);
  assert.ok(!world.logged.some((line) => line.includes(otherCard)));
});

test("an entry expires at its time, and applies to its merchant and endpoint only", async () => {
  const end = new Date(world.clock.now() + hour).toISOString();
  await add("block", "email", "soon@example.com", "--expires", end, "--why", "a day off");
  await add("block", "email", "there@example.com", "--endpoint", endpointOf("eur"));
  await add("block", "email", "here@example.com", "--merchant", login);
  await known(3);

  assert.equal(await pay({ email: "soon@example.com" }), blocked);
  assert.equal(await pay({ email: "there@example.com" }), "approved");
  assert.equal(await pay({ email: "here@example.com" }), blocked);
  await world.pass(hour);
  assert.equal(await pay({ email: "soon@example.com" }), "approved");

  const [shown] = (await readGw(
    world,
    ...["list", "show", "--kind", "email", "--value", "SOON@example.com"],
  )) as readonly Line[];
  assert.equal(shown?.["reason"], "a day off");
  assert.equal(shown?.["counts"], "everywhere");
  const over = await runGw(world, "list", "add", "block", "ip", "192.0.2.1", "--expires", "2001");
  assert.match(over.complaint, /over already/);
  await removeAll();
});

test("an allowed card passes rules and broader blocks, but no limit of its endpoint", async () => {
  const one = { per: "email", count: "1", window: "1h" };
  await world.screenBy({ kind: "velocity", parameters: one });
  const jane = { email: "regular@example.com", credit_card_number: otherCard };
  assert.equal(await pay(jane), "approved");
  assert.equal(await pay(jane), "1010");

  const added = await runGwWith(
    otherCard,
    world,
    ...["list", "add", "allow", "card", "-", "--merchant", login],
  );
  assert.equal(added.code, 0, added.complaint);
  await add("block", "payer-country", "US");
  await known(2);

  assert.equal(await pay(jane), "approved");
  assert.equal(await pay({ email: "else@example.com" }), blocked);
  await world.changeEndpoint("plain", { amountMax: "1000" });
  assert.equal(await pay(jane), "1001");
  await world.changeEndpoint("plain", { amountMax: "1000000" });
  await world.screenBy();
  await removeAll();
});

test("entries are removed together or not at all", async () => {
  const { entry = "" } = await add("block", "email", "stays@example.com");
  await known(1);

  const unknown = await runGw(world, "list", "remove", entry, "9999999");
  assert.match(unknown.complaint, /none was removed/);
  const shown = (await readGw(world, "list", "show")) as readonly Line[];
  assert.deepEqual(
    shown.map((line) => line["entry"]),
    [entry],
  );
  const gone = (await readGw(world, "list", "remove", entry, entry)) as Line;
  assert.equal(gone["removed"], 1);
  await known(0);
});

test("the reason of an entry is that of its change, even with the option's former name", async () => {
  const { entry = "" } = await add("block", "email", "a@example.com", "--why", "by phone");
  await add("block", "email", "b@example.com", "--reason", "by letter");
  const both = ["--why", "by phone", "--reason", "by letter"];
  const refused = await runGw(world, "list", "add", "block", "email", "c@example.com", ...both);

  const lines = (await readGw(world, "list", "show", "--kind", "email")) as readonly Line[];
  assert.deepEqual(lines.map(({ reason }) => reason).toSorted(), ["by letter", "by phone"]);
  assert.equal(refused.code, 2);
  const [audited] = await world.installation.database.query<{ reason: string }>(
    "select reason from audit where subject = $1",
    [`list entry ${entry}`],
  );
  assert.equal(audited?.reason, "by phone");
  await removeAll();
});

test("an exported list is imported unchanged", async () => {
  await removeAll();
  const expires = "2090-01-31T00:00:00Z";
  await add("block", "email", "jane@example.com", "--merchant", login, "--expires", expires);
  await add("allow", "ip", "192.0.2.0/24", "--why", "=1, or so");
  await known(2);

  const { printed, code } = await runGw(world, "list", "export");
  const file = join(world.dataDir, "exported.csv");
  await writeFile(file, printed);
  const same = (await readGw(world, "list", "import", file)) as Line;
  await removeAll();
  const back = (await readGw(world, "list", "import", file)) as Line;
  await known(2);

  assert.equal(code, 0);
  assert.match(printed, /^list,kind,value,merchant,endpoint,expires,reason$/m);
  assert.match(
    printed,
    new RegExp(`^block,email,jane@example.com,${login},,2090-01-31T00:00:00.*,$`, "m"),
  );
  assert.deepEqual([same["unchanged"], back["added"]], [2, 2]);
  const [entry] = (await readGw(world, "list", "show", "--list", "allow")) as readonly Line[];
  assert.equal(entry?.["reason"], "=1, or so");
  await removeAll();
});

test("a file is imported as a whole or not at all, with its faults by line", async () => {
  const file = join(world.dataDir, "list.csv");
  const rows = Array.from({ length: 3_000 }, (_, at) => `block,email,u${at}@example.com,${login},`);
  const header = "list,kind,value,merchant,reason";
  await writeFile(file, [`\ufeff${header}`, ...rows].join("\r\n"));
  const first = (await readGw(world, "list", "import", file)) as Line;
  const again = (await readGw(world, "list", "import", file)) as Line;
  await known(3_000);

  assert.deepEqual([first["added"], again["added"], again["unchanged"]], [3_000, 0, 3_000]);
  assert.equal(await pay({ email: "u2999@example.com" }), blocked);

  await writeFile(
    file,
    [
      header,
      "block,email,good@example.com,,",
      "grey,email,a@example.com,,",
      "block,ip,192.0.2.1/24,,",
      'block,email,"=HYPERLINK(""http://x"")",,',
      "block,email,a@example.com,nobody,",
      "block,email,GOOD@example.com,,",
      "block,email",
      'block,email,"open,,',
    ].join("\n"),
  );
  const faulty = await runGw(world, "list", "import", file);
  assert.equal(faulty.code, 2);
  for (const sentence of [
    "Line 3, column list: not allow or block.",
    "Line 4, column value: bits are set after the prefix.",
    "Line 5, column value: not an email address.",
    "Line 6, column merchant: no merchant's login.",
    "Line 7: the same as line 2.",
    "Line 8: 2 cells instead of 5.",
    "Line 9: the quotes do not match.",
    "Nothing was changed.",
  ]) {
    assert.ok(faulty.complaint.includes(sentence), `${sentence} in ${faulty.complaint}`);
  }
  await known(3_000);
  await world.installation.database.query("update list_entries set expires_at = now()");
  const gone = (await readGw(world, "list", "remove", "--expired")) as Line;
  assert.equal(gone["removed"], 3_000);
  await known(0);
});

test("the countries of issuer, payer and address are compared where they are known", async () => {
  const rule = (compare: string, alike?: string) => ({
    kind: "countries",
    parameters: { compare, ...(alike && { alike }) },
  });
  // The card is of the United States, as is 192.0.2.0/24; 198.51.100.0/24 is British.
  const card = { credit_card_number: "4000001000000018" };
  const abroad = { ...card, ipaddress: "198.51.100.9" };
  const home = { ...card, ipaddress: "192.0.2.9" };
  const french = { ...home, country: "FR", state: undefined };
  const unknown = { ...card, ipaddress: "127.0.0.1" };

  await world.screenBy(rule("issuer-ip"));
  assert.deepEqual([await pay(home), await pay(abroad)], ["approved", "1015"]);
  assert.equal(await pay(unknown), "approved");
  await world.screenBy(rule("payer-ip"));
  assert.deepEqual([await pay(home), await pay(french)], ["approved", "1015"]);
  await world.screenBy(rule("issuer-payer", "US,FR"));
  assert.deepEqual([await pay(french), await pay(home)], ["approved", "approved"]);
  await world.screenBy(rule("issuer-payer"));
  assert.equal(await pay(french), "1015");

  const order = await merchant.sale(unknown);
  await world.screenBy(rule("issuer-ip"));
  const silent = await merchant.sale(unknown);
  await world.settle();
  const { printed } = await runGw(world, "order", "show", silent["gw-order-id"]);
  assert.match(printed, /missing: ip country/);
  assert.notEqual(order["gw-order-id"], silent["gw-order-id"]);
  await world.screenBy();
});
