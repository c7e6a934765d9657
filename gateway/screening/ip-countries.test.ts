/** The countries of IP addresses, read from valid and damaged files. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sandboxNetworks } from "../staging/sandbox-ranges.ts";
import { openIpCountries } from "./ip-countries.ts";
import { makeCountryDatabase } from "./testing/country-database.ts";

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "countries-"));
});

after(() => rm(folder, { recursive: true }));

const database = makeCountryDatabase({ "81.2.69.0/24": "GB", "89.160.20.0/25": "SE" });

async function open(name: string, content: string | Uint8Array) {
  const file = join(folder, name);
  await writeFile(file, content);
  const errors: unknown[] = [];
  const countries = await openIpCountries({ file, onError: (error) => errors.push(error) });
  return { file, countries, errors };
}

test("a MaxMind database tells the country of an address", async () => {
  const { countries } = await open("good.mmdb", database);

  assert.equal(countries.find("81.2.69.142"), "GB");
  assert.equal(countries.find("::ffff:89.160.20.112"), "SE");
  assert.equal(countries.find("89.160.20.200"), undefined);
  // A database without IPv6 finds no IPv6 address: its search tree has only 32 levels.
  assert.equal(countries.find("5102:458e::1"), undefined);
  assert.equal(countries.find("no address"), undefined);
});

test("a CSV file does the same, for both versions of IP and all ends of networks", async () => {
  const { countries } = await open(
    "good.csv",
    'country,network\ngb,81.2.69.0/24\nSWE,"89.160.20.0/25"\n' +
      "DE,2001:db8::/33\nFR,2001:db8:8000::/33\n",
  );

  assert.equal(countries.find("81.2.69.0"), "GB");
  assert.equal(countries.find("81.2.69.255"), "GB");
  assert.equal(countries.find("81.2.70.0"), undefined);
  assert.equal(countries.find("89.160.20.127"), "SE");
  assert.equal(countries.find("2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"), "DE");
  assert.equal(countries.find("2001:db8:8000::"), "FR");
  assert.equal(countries.find("ff02::1"), undefined);
});

// biome-ignore format: a table
const unusable: readonly (readonly [what: string, name: string, content: string | Uint8Array, problem: RegExp])[] = [
  ["an empty file",              "empty.mmdb",   "",                                      /./],
  ["bytes that are no database", "bytes.mmdb",   new Uint8Array(100_000).fill(7),         /./],
  ["a truncated database",       "cut.mmdb",     database.subarray(0, -200),              /./],
  ["a database without its start", "end.mmdb",   database.subarray(100),                  /search tree/],
  ["a CSV file without a header", "bare.csv",    "81.2.69.0/24,GB\n",                     /columns are network and country/],
  ["a malformed network",        "net.csv",      "network,country\n81.2.69.0/33,GB\n",    /line 2: its prefix has/],
  ["an unknown country",         "land.csv",     "network,country\n81.2.69.0/24,XX\n",    /line 2: not a country code/],
  ["networks out of order",      "order.csv",    "network,country\n9.0.0.0/8,GB\n8.0.0.0/8,US\n", /line 3: the networks are not sorted/],
  ["an open quote",              "quote.csv",    'network,country\n"9.0.0.0/8,GB\n',      /quotes do not match/],
];

for (const [what, name, content, problem] of unusable) {
  test(`${what} gives no data and says why`, async () => {
    const { countries, errors } = await open(name, content);

    assert.equal(countries.hasData, false);
    assert.equal(countries.find("81.2.69.142"), undefined);
    assert.match(countries.problem ?? "", problem);
    assert.equal(errors.length, 1);
  });
}

test("a damaged file leaves the data before it in use, and is reported once", async () => {
  const { file, countries, errors } = await open("live.mmdb", database);

  await writeFile(file, database.subarray(0, 500));
  await countries.reload();
  await countries.reload();

  assert.equal(countries.find("81.2.69.142"), "GB");
  assert.equal(errors.length, 1);
  assert.ok(countries.problem);

  await writeFile(file, makeCountryDatabase({ "81.2.69.0/24": "FR" }));
  await countries.reload();

  assert.equal(countries.find("81.2.69.142"), "FR");
  assert.equal(countries.problem, undefined);
});

test("a file that vanishes leaves its data in use", async () => {
  const { file, countries } = await open("gone.mmdb", database);

  await rm(file);
  await countries.reload();

  assert.equal(countries.find("81.2.69.142"), "GB");
  assert.match(countries.problem ?? "", /ENOENT/);
});

test("in staging the networks of documents have countries, and a file goes before them", async () => {
  const file = join(folder, "staging.csv");
  await writeFile(file, "network,country\n192.0.2.0/25,JP\n");
  const onError = (error: unknown) => assert.fail(String(error));

  const none = await openIpCountries({ file: "", builtIn: sandboxNetworks, onError });
  const both = await openIpCountries({ file, builtIn: sandboxNetworks, onError });

  assert.equal(none.find("192.0.2.200"), "US");
  assert.equal(none.find("2001:db8:1::1"), "DE");
  assert.equal(none.hasData, true);
  assert.equal(both.find("192.0.2.1"), "JP");
  assert.equal(both.find("192.0.2.200"), "US");
});
