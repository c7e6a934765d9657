/** The style guide as tests: every rule over every file, and a sample that each rule refuses. */
import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { type TestContext, test } from "node:test";
import { foldersWithCircles, namesOfSeveral, shortFiles } from "./exceptions.ts";
import { findCircles, findImportFaults, printCircle } from "./import-rules.ts";
import { isSource, isTest, nameOf, readRepository, type TextFile, textFile } from "./repository.ts";
import * as rules from "./tidy-rules.ts";

/** The only files that call `Secret.reveal()`. Exact paths; each must exist and call it. */
const revealers: readonly string[] = [
  "gateway/administration/apply/merchants.ts",
  "gateway/administration/merchants/merchant-set.ts",
  "gateway/administration/merchants/merchants.ts",
  "gateway/backup/archive.ts",
  "gateway/cli/backup.ts",
  "gateway/cli/card-export.ts",
  "gateway/storage/people/audit.ts",
  "gateway/storage/cards/wallets.ts",
  "gateway/wallets/open-wallet.ts",
  "gateway/threeds/card-ranges.ts",
  "gateway/threeds/threeds102.ts",
  "gateway/threeds/areq.ts",
  "gateway/acquirers/acquirer.ts",
  "gateway/acquirers/handed-answers.ts",
  "gateway/installation/database-server.ts",
  "gateway/acquirers/iso8583-host/dialects/iso87-binary.ts",
  "gateway/acquirers/iso8583-host/dialects/sandbox.ts",
  "gateway/acquirers/iso8583-host/fields.ts",
  "gateway/acquirers/iso8583-host/key-exchange.ts",
  "gateway/acquirers/iso8583-host/connection.ts",
  "gateway/engine/page-submission.ts",
  "gateway/merchant-api/checksum-mistakes.ts",
  "gateway/merchant-api/control.ts",
  "gateway/vault/password.ts",
  "gateway/vault/totp.ts",
  "gateway/vault/request-digests.ts",
  "gateway/vault/master-key.ts",
  "gateway/vault/vault.ts",
];

const repository = readRepository();
const sources = repository.filter(isSource);

type Rule = (file: TextFile) => readonly string[];

// biome-ignore format: a table
const checks: readonly (readonly [sentence: string, files: readonly TextFile[], rule: Rule])[] = [
  ["every folder imports only what it may",                  sources,    findImportFaults],
  ["no file is longer than 500 lines",                       sources,    rules.findLongFiles],
  ["no file is shorter than 40 lines without a reason",      sources,    rules.findShortFiles],
  ["no function is longer than 80 lines",                    sources,    rules.findLongFunctions],
  ["no line is wider than 100 columns, except in tables",    sources,    rules.findLongLines],
  ["names say what a thing does",                            sources,    rules.findBannedNames],
  ["types are named by what they are",                       sources,    rules.findEmptyNames],
  ["comments are sentences that need no riddles",            sources,    rules.findUnclearComments],
  ["nothing is left unfinished, untyped or switched off",    sources,    rules.findUnfinished],
  ["no object literal is spread into another",               sources,    rules.findSpreadLiterals],
  ["SQL stands in the storage folder only",                  sources,    rules.findStrayStatements],
  ["orders, values and views are free of clock and chance",  sources,    rules.findClocks],
  ["every file opens by saying what it is",                  repository, rules.findMissingOpening],
  ["every document has one title",                           repository, rules.findTitleFaults],
  ["README has at most 120 lines, ARCHITECTURE 2,000 words", repository, rules.findLongDocuments],
  ["nothing in the repository is true on one machine only",  repository, rules.findMachineTraces],
  ["no folder is deeper than three below its workspace",     repository, rules.findDeepFolders],
];

for (const [sentence, files, rule] of checks) {
  test(sentence, () => {
    assert.deepEqual(files.flatMap(rule), []);
  });
}

test("secrets are revealed in the listed files, and all of those do so", () => {
  const shipped = sources.filter((file) => !isTest(file));
  const revealing = shipped.filter((file) => rules.findReveals(file).length > 0);
  const stray = revealing.filter(({ path }) => !revealers.includes(path));
  assert.deepEqual(stray.flatMap(rules.findReveals), []);

  const paths = revealing.map(({ path }) => path);
  assert.deepEqual(
    revealers.filter((path) => !paths.includes(path)),
    [],
  );
});

test("no files import each other in a circle, types included", (t) => {
  const circles = findCircles(sources);
  const tolerated = (circle: readonly string[]) =>
    foldersWithCircles.find((folder) => circle.every((path) => path.startsWith(`${folder}/`)));

  assert.deepEqual(circles.filter((circle) => !tolerated(circle)).map(printCircle), []);
  for (const circle of circles) t.diagnostic(`tolerated for now: ${printCircle(circle)}`);
  const kept = circles.map(tolerated);
  tellOutlived(
    t,
    "foldersWithCircles",
    foldersWithCircles.filter((at) => !kept.includes(at)),
  );
});

test("no two files of the gateway export a type or a class of the same name", (t) => {
  const shared = [...rules.findSharedNames(sources)];

  const faults = shared.filter(([name]) => !namesOfSeveral.includes(name));
  assert.deepEqual(faults, []);
  const names = shared.map(([name]) => name);
  tellOutlived(
    t,
    "namesOfSeveral",
    namesOfSeveral.filter((name) => !names.includes(name)),
  );
});

test("every short file that is listed is one", (t) => {
  const short = sources.filter(({ lines }) => lines.length <= 40).map(({ path }) => path);
  tellOutlived(
    t,
    "shortFiles",
    [...shortFiles].filter((path) => !short.includes(path)),
  );
});

/**
 * Reported and not refused while files still move. `tools/exceptions.ts` should have none of them.
 */
function tellOutlived(t: TestContext, list: string, entries: readonly string[]): void {
  if (entries.length > 0) t.diagnostic(`no longer needed in ${list}: ${entries.join(", ")}`);
}

test("no folder has more than 40 entries, and no folder of the storage more than 20", () => {
  const paths = repository
    .map(({ path }) => path)
    .filter((path) => !/^(docs|tools|benchmarks)\//.test(path));
  const entries = new Set(paths.flatMap(withFolders));
  const byFolder = Map.groupBy(entries, (path) => dirname(path));

  const mostOf = (folder: string) => (folder.startsWith("gateway/storage/") ? 20 : 40);
  const crowded = [...byFolder].filter(([folder, inside]) => inside.length > mostOf(folder));
  assert.deepEqual(
    crowded.map(([folder, inside]) => `${folder}: ${inside.length}`),
    [],
  );
});

/** Construction grows with the number of parts. A decision in the wiring would also add lines. */
const wiringLinesMax = 1_420;

/** Everything that the wiring decides, by file: whether a part is configured. */
// biome-ignore format: a table
const decisionsOfWiring: Readonly<Record<string, readonly string[]>> = {
  "background-jobs": ["TLS at the merchant port"],
  // This chooses one of two log events, and not a part.
  "node-context":    ["whether the installation is held or released"],
  "portal":          ["the portal's address"],
};

test("wiring builds parts, and decides whether they are configured and nothing else", () => {
  const wiring = sources.filter(({ path }) => path.startsWith("gateway/wiring/"));
  const known = (file: TextFile) => decisionsOfWiring[nameOf(file)] ?? [];

  const faults = wiring.flatMap((file) => {
    const found = rules.findDecisions(file);
    const isKnown = found.length === known(file).length;
    return isKnown ? [] : [...found, `${file.path}: known are ${known(file).length}`];
  });

  assert.deepEqual(faults, []);
  const lines = wiring.reduce((sum, file) => sum + file.lines.length, 0);
  assert.ok(lines <= wiringLinesMax, `wiring has ${lines} lines`);
});

test("at most 98 tables of the product are fenced from the formatter", () => {
  const shipped = sources.filter((file) => !isTest(file) && !file.path.startsWith("tests/"));
  const fences = shipped.flatMap(({ lines }) =>
    lines.filter((line) => /^\s*\/\/ biome-ignore format/.test(line)),
  );

  assert.ok(fences.length <= 98, `${fences.length} tables are fenced`);
});

function withFolders(path: string): readonly string[] {
  return path.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/"));
}

test("orders are changed in one file only, and erased in one other", () => {
  const changing = repository.filter(rules.changesOrders).map(({ path }) => path);
  assert.deepEqual(changing, [
    "gateway/storage/cards/erasure.ts",
    "gateway/storage/orders/commit.ts",
  ]);
});

// biome-ignore format: a table
const offences: readonly (readonly [rule: Rule, path: string, text: string])[] = [
  [findImportFaults,          "gateway/values/money.ts",       'import { a } from "../orders/order.ts";'],
  [findImportFaults,          "gateway/orders/apply.ts",       'import fs from "node:fs";'],
  [findImportFaults,          "gateway/pages/finish.ts",       'import { Services } from "../wiring/services.ts";'],
  [findImportFaults,          "gateway/screening/screen.ts",   'export * from "../wallets/open.ts";'],
  [findImportFaults,          "gateway/engine/run.ts",         'const { Pool } = await import("pg");'],
  [findImportFaults,          "protocols/form/index.ts",       'import "../oauth1/oauth1.ts";'],
  [findImportFaults,          "sandbox-bank/bank.ts",          'import { a } from "@tollgate/gateway";'],
  [findImportFaults,          "client/client.ts",              'import {\n  a,\n} from "@tollgate/protocols/emv3ds";'],
  [rules.findLongFiles,       "tools/a.ts",                    "x\n".repeat(501)],
  [rules.findShortFiles,      "gateway/values/pair.ts",        "x\n".repeat(39)],
  [rules.findLongFunctions,   "tools/a.ts",                    `function a() {\n${"  x;\n".repeat(80)}}\n`],
  [rules.findLongLines,       "tools/a.ts",                    `// ${"x ".repeat(50)}`],
  [rules.findBannedNames,     "gateway/http/body-utils.ts",    ""],
  [rules.findBannedNames,     "gateway/http/body.ts",          "export class BodyManager {}"],
  [rules.findEmptyNames,      "tools/a.ts",                    "export type OrderPlace = { id: string };"],
  [rules.findUnclearComments, "tools/a.ts",                    "// Of the main cell."],
  [rules.findUnclearComments, "tools/a.ts",                    "/** As the merchant has it. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "/** By its id. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "/** What the merchant receives. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "/** With its currency; undefined without one. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "/** Nothing for a merchant that does not exist. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "// Else the order waits."],
  [rules.findUnclearComments, "tools/a.ts",                    "/** Who waits for the answer. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "// The order is sent anew."],
  [rules.findUnclearComments, "tools/a.ts",                    "// The link has come up meanwhile."],
  [rules.findUnclearComments, "tools/a.ts",                    "// The link is put aside."],
  [rules.findUnclearComments, "tools/a.ts",                    "/** The merchant is\n * told. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "// The host is away."],
  [rules.findUnclearComments, "tools/a.ts",                    "// The rules are others than before."],
  [rules.findUnclearComments, "tools/a.ts",                    "// A payment that is none stays."],
  [rules.findSpreadLiterals,  "tools/a.ts",                    "const a = { ...{ b, c } };"],
  [rules.findUnfinished,      "tools/a.ts",                    "// TODO later"],
  [rules.findUnfinished,      "tools/a.ts",                    "const a = b as any;"],
  [rules.findUnfinished,      "tools/a.ts",                    "test.only(a)"],
  [rules.findReveals,         "tools/a.ts",                    "card.number.reveal()"],
  [rules.findDecisions,       "gateway/wiring/a.ts",           "const a = b ? c : d;"],
  [rules.findStrayStatements, "gateway/engine/run.ts",         "query(`select id\n  from orders`)"],
  [rules.findStrayStatements, "gateway/engine/run.ts",         'query("update orders o set a = 1")'],
  [rules.findClocks,          "gateway/orders/advance.ts",     "const now = Date.now();"],
  [rules.findMissingOpening,  "tools/a.ts",                    "export const a = 1;"],
  [rules.findTitleFaults,     "docs/a.md",                     "# One\n\n# Two\n"],
  [rules.findLongDocuments,   "README.md",                     "line\n".repeat(121)],
  [rules.findLongDocuments,   "ARCHITECTURE.md",               "word ".repeat(2_001)],
  [rules.findMachineTraces,   "docs/a.md",                     `see /${"home"}/somebody/clone`],
  [rules.findMachineTraces,   "package-lock.json",             `"resolved": ${'"http'}s://somewhere`],
  [rules.findDeepFolders,     "gateway/a/b/c/d/e.ts",          ""],
];

test("every rule finds what it forbids", () => {
  for (const [rule, path, text] of offences) {
    assert.equal(rule(textFile(path, text)).length, 1, `${rule.name} overlooks ${text}`);
  }
});

test("a circle is found and printed as the shortest way round", () => {
  const files = [
    textFile("gateway/a.ts", 'import { b } from "./b.ts";'),
    textFile("gateway/b.ts", 'import type { C } from "./c.ts"; import { d } from "./d.ts";'),
    textFile("gateway/c.ts", 'export * from "./a.ts";'),
    textFile("gateway/d.ts", 'import { c } from "./c.ts";'),
    textFile("gateway/e.ts", 'import { a } from "./a.ts";'),
  ];

  const circles = findCircles(files).map(printCircle);

  assert.equal(circles[0], "gateway/a.ts → gateway/b.ts → gateway/c.ts → gateway/a.ts");
  assert.ok(!circles.join().includes("gateway/e.ts"));
});

// biome-ignore format: a table
const innocents: readonly (readonly [rule: Rule, path: string, text: string])[] = [
  [findImportFaults,          "gateway/pages/finish.ts",       'import type { FindReceipt } from "../engine/find.ts";'],
  [findImportFaults,          "gateway/orders/apply.ts",       '// import fs from "node:fs";'],
  [findImportFaults,          "gateway/orders/apply.test.ts",  'import { a } from "../storage/orders/commit.ts";'],
  [rules.findLongLines,       "tools/a.test.ts",               `const sent = "${"0f".repeat(60)}";`],
  [rules.findBannedNames,     "gateway/wiring/services.ts",    "export type Services = {};"],
  [rules.findBannedNames,     "gateway/storage/server/database.ts",   "export function decodeBase64() {}"],
  [rules.findBannedNames,     "gateway/vault/card-data.ts",    "export const effectHandlers = {};"],
  [rules.findEmptyNames,      "tools/a.ts",                    "export type OrderPosition = { place: string };"],
  [rules.findUnclearComments, "tools/a.ts",                    "/** Returns undefined if the merchant does not exist. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "// As in every release, the lock file is checked."],
  [rules.findUnclearComments, "tools/a.ts",                    "// Nothing is claimed on hold."],
  [rules.findUnclearComments, "tools/a.ts",                    "/** Returns advice if there is none. */"],
  [rules.findUnclearComments, "tools/a.ts",                    "// The address is far away from the host."],
  [rules.findUnclearComments, "tools/a.ts",                    'const told = "// Of a string";'],
  [rules.findUnclearComments, "tests/a.ts",                    "// Of a test."],
  [rules.findShortFiles,      "gateway/values/pair.test.ts",   "x\n".repeat(39)],
  [rules.findUnfinished,      "tools/a.ts",                    'const currency = "XXX"; // as any other'],
  [rules.findDecisions,       "gateway/wiring/a.ts",           "type A = { b?: string }; // if (c)\na?.b ?? c;"],
  [rules.findStrayStatements, "gateway/engine/run.ts",         "// select id from orders"],
  [rules.findStrayStatements, "gateway/engine/run.ts",         'a("select "); b(" from ");'],
  [rules.findTitleFaults,     "docs/a.md",                     "# One\n```sh\n# a comment\n```\n"],
  [rules.findMachineTraces,   "docs/a.md",                     "https://example.com/home/page"],
];

test("no rule complains of what it allows", () => {
  for (const [rule, path, text] of innocents) {
    assert.deepEqual(rule(textFile(path, text)), [], rule.name);
  }
});
