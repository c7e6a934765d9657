/** The BIN table in a real database: replaced wholly or not at all, with a notice to every node. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type IssuerRange, makeRange, openIssuers, readIssuerFile } from "../../issuers/issuers.ts";
import { sandboxRanges } from "../../staging/sandbox-ranges.ts";
import { CsvFaults } from "../../values/csv-records.ts";
import type { Database } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { configurationChannel } from "./configuration.ts";
import { makeIssuerStore } from "./issuer-ranges.ts";

let database: Database;
let store: ReturnType<typeof makeIssuerStore>;
let cleanUp = async (): Promise<void> => undefined;

before(async () => {
  const tables = await startDatabase();
  database = tables.database;
  store = makeIssuerStore(database);
  cleanUp = tables.stop;
});

after(() => cleanUp());

beforeEach(() => store.replace(portionsOf([]), () => undefined));

const issuer = (prefix: string, bankName: string) => makeRange(prefix, prefix, { bankName });

test("a node knows exactly what the file contains, with any texts", async () => {
  const facts = {
    bankName: `Bank "of", {\\} O'Neill 銀行`,
    country: "NLD",
    productCode: "NULL",
    productName: "null",
    typeCode: "C",
    typeName: "CREDIT",
  };
  const ranges = [makeRange("40000010", "40000019", facts), makeRange("400000", "400000", {})];

  const count = await store.replace(portionsOf(ranges), () => undefined);
  const issuers = await open();

  assert.equal(count, 2);
  assert.deepEqual(issuers.find("40000015000"), facts);
  assert.deepEqual(issuers.find("40000020000"), {});
  assert.equal(issuers.find("40000100000"), undefined);
});

test("a table of many pages is read in full and in order", async () => {
  const ranges = Array.from({ length: 3000 }, (_, index) =>
    issuer(String(999_999 - index), String(index)),
  );
  await store.replace(portionsOf(ranges), () => undefined);

  const issuers = await open();

  for (let index = 0; index < 3000; index += 1) {
    assert.equal(issuers.find(`${999_999 - index}00000`)?.bankName, String(index));
  }
});

test("the next file replaces the whole table, and nodes know it after they reload", async () => {
  await store.replace(
    portionsOf([issuer("400000", "Old"), issuer("400001", "Old")]),
    () => undefined,
  );
  const issuers = await open();

  await store.replace(portionsOf([issuer("400000", "New")]), () => undefined);
  assert.equal(issuers.find("40000000000")?.bankName, "Old");
  await issuers.reload();

  assert.equal(issuers.find("40000000000")?.bankName, "New");
  assert.equal(issuers.find("40000100000"), undefined);
  const { ranges, loadedAt } = await store.count();
  assert.equal(ranges, 1);
  assert.match(loadedAt ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});

test("a file with one fault changes nothing and notifies no node", async () => {
  await store.replace(portionsOf([issuer("400000", "Old")]), () => undefined);
  const version = await store.findVersion();
  const heard = await listen();
  const rows = Array.from({ length: 20_000 }, (_, index) => `${500_000 + index},New`);
  const file = new Blob([["bin,bank", ...rows, "4,New"].join("\n")]).stream();

  await assert.rejects(
    store.replace(readIssuerFile(file), () => undefined),
    CsvFaults,
  );

  assert.equal(await store.findVersion(), version);
  assert.equal((await open()).find("40000000000")?.bankName, "Old");
  assert.deepEqual(await heard(), []);
});

test("all nodes are notified of a new table on the configuration channel", async () => {
  const heard = await listen();

  await store.replace(portionsOf([issuer("400000", "New")]), () => undefined);

  assert.deepEqual(await heard(), [configurationChannel]);
});

test("the table is not read again when something else has changed", async () => {
  let reads = 0;
  const counting = {
    ...store,
    readRanges(take: (ranges: readonly IssuerRange[]) => void) {
      reads += 1;
      return store.readRanges(take);
    },
  };
  const issuers = await openIssuers({ store: counting, builtIn: [], onError });

  await issuers.reload();
  await store.replace(portionsOf([]), () => undefined);
  await Promise.all([issuers.reload(), issuers.reload(), issuers.reload()]);

  assert.equal(reads, 2);
});

test("a node keeps its table when the database cannot be read", async () => {
  await store.replace(portionsOf([issuer("400000", "Old")]), () => undefined);
  const errors: unknown[] = [];
  let away = false;
  const findVersion = () => (away ? Promise.reject(new Error("away")) : store.findVersion());
  const issuers = await openIssuers({
    store: { ...store, findVersion },
    builtIn: [],
    onError: (error) => errors.push(error),
  });
  await store.replace(portionsOf([issuer("400000", "New")]), () => undefined);

  away = true;
  await issuers.reload();
  assert.equal(issuers.find("40000000000")?.bankName, "Old");
  away = false;
  await issuers.reload();

  assert.equal(issuers.find("40000000000")?.bankName, "New");
  assert.equal(errors.length, 1);
});

test("the sandbox's cards are known in staging, unless the operator knows better", async () => {
  await store.replace(portionsOf([issuer("40000020", "Operator's")]), () => undefined);

  const staging = await openIssuers({ store, builtIn: sandboxRanges, onError });
  const production = await open();

  assert.equal(staging.find("40000010000")?.bankName, "Sandbox Issuing Bank");
  assert.equal(staging.find("40000020000")?.bankName, "Operator's");
  assert.equal(production.find("40000010000"), undefined);
});

test("an operator sees all ranges that contain a prefix, the decisive one first", async () => {
  const ranges = [
    issuer("400000", "Wide"),
    issuer("40000010", "Narrow"),
    issuer("40000011", "Beside"),
    issuer("400001", "Elsewhere"),
  ];
  await store.replace(portionsOf(ranges), () => undefined);

  const found = await store.findRanges(40_000_010_000, 40_000_010_999);

  assert.deepEqual(
    found.map(({ issuer }) => issuer.bankName),
    ["Narrow", "Wide"],
  );
});

function open() {
  return openIssuers({ store, builtIn: [], onError });
}

function onError(error: unknown): never {
  throw error;
}

/** Returns what the channel has sent. A last notice shows that all others have arrived. */
async function listen(): Promise<() => Promise<readonly string[]>> {
  const client = await database.connect();
  const heard: string[] = [];
  const ended = new Promise<void>((resolve) => {
    client.on("notification", ({ channel }) => {
      if (channel === "the_end") resolve();
      else heard.push(channel);
    });
  });
  await client.query(`listen ${configurationChannel}; listen the_end`);
  return async () => {
    await database.query("select pg_notify('the_end', '')");
    await ended;
    await client.end();
    return heard;
  };
}

async function* portionsOf(items: readonly IssuerRange[]): AsyncGenerator<readonly IssuerRange[]> {
  for (let at = 0; at < items.length; at += 1000) yield items.slice(at, at + 1000);
}
