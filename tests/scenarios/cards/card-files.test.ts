/** Cards that a merchant brings along from another gateway, and takes along to another. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import {
  columns,
  encryptFor,
  importFile,
  line,
  linesOf,
  newFile,
  plainOf,
  readProfiles,
  readReport,
  recipientOf,
} from "../../support/card-files.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { bookedFor } from "../../support/expect.ts";
import { creation, openProfiles } from "../../support/profiles.ts";
import { cleanEnvironment, runGw, runGwProcess, startProgram } from "../../support/programs.ts";
import { series } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const { world, merchant, ask, create, update, charge, statusOf } = await openProfiles();
const elsewhere = await startWorld(endOfFile);
const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");
const card = "4000001000000018";
const other = "5200000000000015";

test("each line of a file is registered or named, and the file can be imported again", async () => {
  const text = [
    columns,
    line("brought-1", card),
    line("brought-2", other, { type: "DST" }),
    line("brought-3", "4000001000000019"),
    line("brought-1", other),
    line("brought-1", card),
    `brought-4,SRC,${card}`,
    line("brought-5", card, { currency: "EUR" }),
    line(card, card),
    "brought-6,SRC,,JANE DOE,12,2031,USD,",
    "",
  ].join("\n");
  const file = await encryptFor(world, `\ufeff${text}`);

  const first = await importFile(world, file, "--json");
  const report = await readReport(world, file);
  const again = await importFile(world, file, "--json");

  assert.equal(first.code, 1, first.complaint);
  const { lines, registered, ended } = JSON.parse(first.printed);
  assert.deepEqual([lines, registered, ended], [9, 3, "at the end"]);
  assert.deepEqual(
    report.lines.map((each) => [each["line"], each["client-orderid"], each["error-code"]]),
    [
      ["2", "brought-1", ""],
      ["3", "brought-2", ""],
      ["4", "brought-3", "5"],
      ["5", "brought-1", "7"],
      ["6", "brought-1", ""],
      ["7", "", "5"],
      ["8", "brought-5", "10"],
      ["9", "************0018", "5"],
      ["10", "brought-6", "4"],
    ],
  );
  assert.deepEqual((await readReport(world, file)).text, report.text, "the same ids");
  assert.equal(again.printed, first.printed);
  const [source, destination, , , repeated] = report.lines;
  assert.equal(repeated?.["card-ref-id"], source?.["card-ref-id"]);
  assert.deepEqual([source?.["dst-card-ref-id"], destination?.["card-ref-id"]], ["", ""]);
  for (const text of [report.text, first.printed, first.complaint]) {
    assert.doesNotMatch(text, new RegExp(`${card}|${other}|4000001000000019`));
  }
  assert.deepEqual(
    (await readProfiles(world, "brought-%")).map(({ id, references, cards, networkId }) => [
      ...[id, references, cards, networkId],
    ]),
    [
      ["brought-1", "4", "1", "NTI-brought-1"],
      ["brought-2", "2", "1", "NTI-brought-2"],
    ],
  );
  const charged = await statusOf(await charge(source?.["recurring-payment-id"]));
  assert.deepEqual(bookedFor(world, charged), ["sale 499"]);
  const [message] = world.bank.messages(charged["processor-rrn"]);
  assert.ok(JSON.stringify(message?.fields).includes("NTI-brought-1"));
  const entries = await world.readRows<{ after: string }>(
    "select after::text from audit where action = 'card import ended' order by seq",
  );
  assert.match(entries[0]?.after ?? "", /"registered": ?3/);
});

test("a file that cannot be read, or is for another installation, changes nothing", async () => {
  const write = async (text: string) => {
    const file = newFile();
    await writeFile(file, text);
    return file;
  };
  const row = line("never-1", card);
  const good = [columns, row, ""].join("\n");
  const early = await encryptFor(elsewhere, good);
  const quick = { ...elsewhere, settings: { GW_KEY_GRACE_S: "0" } };
  const rotated = await runGw(quick, "key", "rotate");
  assert.equal(rotated.code, 0, rotated.complaint);
  const late = await importFile(elsewhere, early);
  assert.match(late.complaint, /encrypted to another key/, "the key was replaced since");
  const own = await encryptFor(world, good);
  const plain = plainOf(world);
  // biome-ignore format: a table
  const cases: readonly (readonly [file: string, words: readonly string[], why: RegExp])[] = [
    [await write(good),                         [plain],    /not encrypted with age.*Destroy it/],
    [await write(`${row}\n`),                   [plain],    /not encrypted with age.*Destroy it/],
    [await write("-----BEGIN AGE ENCRYPTED FILE-----\n"), [plain], /not encrypted with age, or armoured/],
    [await write(""),                           [plain],    /not encrypted with age/],
    [await encryptFor(elsewhere, good),         [plain],    /encrypted to another key.*gw key recipient/],
    [own,                                       ["999999"], /There is no endpoint 999999/],
    [own,                   [plain, "--report", own],       /The report needs a file of its own/],
    [own,                   [plain, "--report", "/nowhere/report.csv"], /report .* cannot be written/],
    ["/nowhere/cards.age",                      [plain],    /cannot be read/],
  ];
  for (const [file, words, why] of cases) {
    const ran = await runGw(world, "card", "import", file, "--endpoint", ...words);
    assert.deepEqual([ran.code, why.test(ran.complaint)], [2, true], `${why}: ${ran.complaint}`);
    assert.ok(!ran.complaint.includes(card));
  }
  const headless: readonly (readonly [text: string, why: RegExp])[] = [
    [`${columns},cvv2\n${row},123\n`, /a column is unknown/],
    [`${row}\n`, /a column is unknown/],
    [`${columns},currency\n${row},USD\n`, /a column is repeated/],
  ];
  for (const [text, why] of headless) {
    const file = await encryptFor(world, text);
    assert.equal((await importFile(world, file)).code, 1);
    const { lines } = await readReport(world, file);
    assert.match(lines[0]?.["error-message"] ?? "", why);
    assert.equal(lines.length, 1);
  }
  const empty = await importFile(world, await encryptFor(world, `${columns}\n`));
  assert.equal(empty.code, 1, "it has no cards");
  assert.deepEqual(await readProfiles(world, "never-%"), []);
});

test("where a file was cut, changed or has an endless line, the report says where it ends", async () => {
  const text = linesOf(2_000);
  const cut = await encryptFor(elsewhere, text);
  const whole = await readFile(cut);
  await truncate(cut, whole.length - 1);
  const ended = await importFile(elsewhere, cut);
  const { lines } = await readReport(elsewhere, cut);
  const stopped = lines.at(-1);

  assert.equal(ended.code, 1);
  assert.match(ended.printed, /ended +after line \d+: the file was cut or changed/);
  assert.match(stopped?.["error-message"] ?? "", /this and what follows was not imported/);
  assert.ok(lines.length > 500 && lines.length < 2_000, `${lines.length} lines`);
  assert.equal(Number(stopped?.["line"]), lines.length + 1);

  const long = [columns, line("long-1", card), `long-2,SRC,"${"4".repeat(5_000_000)}`];
  const endless = await encryptFor(elsewhere, [...long, line("long-3", card)].join("\n"));
  assert.equal((await importFile(elsewhere, endless)).code, 1);
  assert.deepEqual(
    (await readReport(elsewhere, endless)).lines.map((each) => [each["line"], each["error-code"]]),
    [
      ["2", ""],
      ["3", "5"],
    ],
  );
  assert.equal((await readProfiles(elsewhere, "long-%")).length, 1);
});

test("an import that is killed goes on where it was, also two of them at once", async () => {
  const count = series(3_500, 6_000);
  const file = await encryptFor(elsewhere, linesOf(count));
  const words = ["card", "import", file, "--endpoint", plainOf(elsewhere)];
  const countNow = async () => {
    const [row] = await elsewhere.readRows<{ count: string }>(
      "select count(*) from card_references where client_orderid like 'many-%'",
    );
    return Number(row?.count);
  };
  const before = await countNow();
  const release = await holdId("many-3000");
  const program = startProgram([gw, ...words], settingsOf(elsewhere));
  await until("some cards are there", async () => (await countNow()) > before + 500 || undefined);
  await program.kill();
  const killedAt = await countNow();
  await release();

  const report = `${file}.second.csv`;
  const both = await Promise.all([
    runGwProcess(elsewhere, ...words),
    runGwProcess(elsewhere, ...words, "--report", report),
  ]);

  assert.ok(killedAt < count, `${killedAt} cards were there`);
  for (const { code, complaint } of both) assert.equal(code, 0, complaint);
  const { text, lines } = await readReport(elsewhere, file);
  assert.equal(await readFile(report, "utf8"), text);
  assert.equal(new Set(lines.map((each) => each["card-ref-id"])).size, count);
  const stored = await readProfiles(elsewhere, "many-%");
  assert.equal(stored.length, count);
  assert.ok(stored.every(({ references, cards }) => references === "4" && cards === "1"));
  const left = (await readdir(dirname(file))).filter((name) => name.endsWith(".partial"));
  assert.equal(left.length, 1, "only the killed import leaves an unfinished report");
});

test("cards are exported with a second person, and imported elsewhere with their ids of the network", async () => {
  const made = await create({
    "client-orderid": "leaving-1",
    "network-transaction-id": "483297487231504",
  });
  const named = creation({
    "client-orderid": "leaving-2",
    "amount": "3.00",
    "order_desc": 'A "box", big',
  });
  await ask("create-recurring-payment", { ...named, "credit-card-number": other });
  const stopped = await create({ "client-orderid": "leaving-3" });
  await update({
    "recurring-payment-id": stopped["recurring-payment-id"],
    "finish-date": "2020-01-01",
  });
  const removed = await create({ "client-orderid": "leaving-4" });
  await runGw(world, "card", "remove", world.set.login, removed["card-ref-id"] ?? "");
  const sale = await merchant.sale({ credit_card_number: card });
  await world.settle();
  const { "card-ref-id": paid = "" } = await merchant.register(sale);
  for (const name of ["ann", "bob"]) await runGw(world, "user", "add", name, "--role", "admin");
  const recipient = await recipientOf(elsewhere);
  const as = (user: string) => ({ ...world, settings: { GW_USER: user } });

  const wrong = await exportAs("ann", "age1nobody");
  const asked = await exportAs("ann", recipient);
  const [, approval = ""] = /gw approval give (\d+)/.exec(asked.complaint) ?? [];
  const own = await runGw(as("ann"), "approval", "give", approval);
  const given = await runGw(as("bob"), "approval", "give", approval);
  const exported = await exportAs("ann", recipient);
  const again = await exportAs("ann", recipient);

  assert.match(wrong.complaint, /no public key of age/);
  assert.doesNotMatch(wrong.complaint, /second person/);
  assert.deepEqual([asked.code, asked.printed.length, own.code], [2, 0, 2]);
  assert.equal(given.code, 0, given.complaint);
  assert.equal(exported.code, 0, exported.complaint);
  assert.match(exported.complaint, /^5 cards; the numbers of 0 are destroyed/m);
  assert.match(again.complaint, /A second person has to approve this/, "an approval counts once");
  assert.ok(exported.printed.length > 0 && !exported.printed.includes("leaving-1"));
  const [entry] = await world.readRows<{ subject: string; after: string; actor: string }>(
    "select subject, after::text, actor from audit where action = 'card export ended'",
  );
  assert.deepEqual([entry?.subject, entry?.actor], [`merchant ${world.set.login}`, "ann"]);
  assert.match(entry?.after ?? "", new RegExp(`"recipient": ?"${recipient}".*"cards": ?5`));

  const file = newFile();
  await writeFile(file, exported.printed);
  const brought = await importFile(elsewhere, file);
  const { lines } = await readReport(elsewhere, file);

  assert.equal(brought.code, 0, brought.complaint + JSON.stringify(lines));
  const reference = `reference-${BigInt(await profileOf(paid)).toString(36)}`;
  const ids = ["brought-1", "brought-2", "leaving-1", "leaving-2", reference];
  assert.deepEqual(lines.map((each) => each["client-orderid"] ?? "").toSorted(), ids);
  for (const id of ["leaving-1", "leaving-2"]) {
    const [here] = await readProfiles(world, id);
    const [there] = await readProfiles(elsewhere, id);
    assert.deepEqual(there?.profile, here?.profile);
    assert.equal(there?.networkId, here?.networkId);
  }
  const [paidHere] = await world.readRows<{ networkId: string }>(
    `select facts ->> 'networkId' as "networkId" from card_references where id = $1`,
    [paid],
  );
  const [paidThere] = await readProfiles(elsewhere, reference);
  assert.ok(paidThere?.networkId !== undefined, "the first payment has an id of the network");
  assert.equal(paidThere.networkId, paidHere?.networkId);
  assert.notEqual(made["recurring-payment-id"], lines[0]?.["recurring-payment-id"]);
});

/** Takes a client order id in a transaction, for which an import waits. */
async function holdId(id: string): Promise<() => Promise<void>> {
  const client = await elsewhere.installation.database.connect();
  await client.query("begin");
  await client.query(
    `insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
       created_at, client_orderid)
     select merchants.id, 1, 'recurring', 1, endpoints.id, 0, '{}', now(), $1
     from merchants join endpoints on merchant_id = merchants.id where endpoints.id = $2`,
    [id, plainOf(elsewhere)],
  );
  return async () => {
    await client.query("rollback");
    await client.end();
  };
}

/** Runs the export in a process of its own, whose output is binary. */
function exportAs(user: string, recipient: string) {
  const { promise, resolve } = Promise.withResolvers<{
    readonly code: number | null;
    readonly printed: Buffer;
    readonly complaint: string;
  }>();
  const words = ["card", "export", world.set.login, "--recipient", recipient, "--why", "it moves"];
  const env = { ...cleanEnvironment(), ...settingsOf(world), GW_USER: user };
  const options = { env, encoding: "buffer" } as const;
  const child = execFile(process.execPath, [gw, ...words], options, (_, printed, complaint) =>
    resolve({ code: child.exitCode, printed, complaint: complaint.toString() }),
  );
  return promise;
}

function settingsOf({ installation, dataDir }: Pick<typeof elsewhere, "installation" | "dataDir">) {
  return { GW_DATABASE_URL: installation.databaseUrl, GW_DATA_DIR: dataDir };
}

/** Returns the id of the profile that a card reference belongs to. */
async function profileOf(reference: string): Promise<string> {
  const [row] = await world.readRows<{ id: string }>(
    `select other.id from card_references as named join card_references as other
       using (merchant_id, card_id) where named.id = $1 and other.purpose = 'recurring'`,
    [reference],
  );
  return row?.id ?? "0";
}
