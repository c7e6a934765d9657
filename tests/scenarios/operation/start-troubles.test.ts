/** Every problem at the start is reported in one clear sentence with advice. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { atEnd, type Test } from "../../support/clean-up.ts";
import { makeDatabase } from "../../support/databases/database-server.ts";
import { copyInstallation } from "../../support/installation.ts";
import { runGw } from "../../support/programs.ts";
import { isLongRun, testInLongRun } from "../../support/series.ts";

const program = join(import.meta.dirname, "../../../gateway/cli/gw.ts");
const freePorts = {
  GW_PORT: "0",
  GW_BANK_PORT: "0",
  GW_BANK_HOST_PORT: "0",
  GW_BANK_BINARY_HOST_PORT: "0",
  GW_BANK_ISO93_HOST_PORT: "0",
  GW_BANK_DIRECTORY_PORT: "0",
  GW_RESULTS_PORT: "0",
};

type Settings = Readonly<Record<string, string>>;

for (const setting of isLongRun ? ["GW_PORT", "GW_BANK_PORT"] : ["GW_PORT"]) {
  test(`a port in use is named, with ${setting}, which chooses another`, async (t) => {
    const port = await occupy(t);

    const ended = await run(t, { ...(await install(t)), [setting]: String(port) });

    assertSentence(ended, new RegExp(`${port}(: it)? is in use.*${setting}`));
  });
}

testInLongRun(
  "gateway processes without a port or a name of their own end, and so does the start",
  async (t) => {
    const port = String(await occupy(t));
    const taken = { GW_NODE_NAME: "kiosk", GW_NODE_NAME_WAIT_S: "0" };
    const place = await holdNames(t, "kiosk-worker-1");

    const outcome = await run(t, { ...taken, ...place, GW_PORT: port, GW_WORKERS: "2" });

    assert.match(outcome.output, new RegExp(`Port ${port} is in use: .*GW_PORT`));
    assert.match(outcome.output, /another node is running as kiosk-worker-1\. Set GW_NODE_NAME/);
    assertSentence(outcome, /No gateway process could be started/);
  },
);

testInLongRun("a node whose name another one has does not start", async (t) => {
  const taken = { GW_NODE_NAME: "kiosk", GW_NODE_NAME_WAIT_S: "0" };

  const outcome = await run(t, { ...taken, ...(await holdNames(t, "kiosk")) });

  assertSentence(outcome, /another node is running as kiosk\. Set GW_NODE_NAME/);
});

/** Makes an installation in which nodes of these names are running. */
async function holdNames(t: Test, ...names: readonly string[]): Promise<Settings> {
  const place = await install(t);
  const client = new pg.Client({ connectionString: place.GW_DATABASE_URL });
  await client.connect();
  atEnd(t, () => client.end());
  for (const name of names) {
    await client.query("select pg_advisory_lock(hashtextextended($1, 8583))", [name]);
  }
  return place;
}

testInLongRun("a certificate that is no certificate is named", async (t) => {
  const place = await install(t);
  const file = join(await makeFolder(t), "file.pem");
  await writeFile(file, "nothing");

  const outcome = await refuse(t, {
    ...place,
    GW_TLS_CERTIFICATE_FILE: file,
    GW_TLS_KEY_FILE: file,
  });

  assertSentence(outcome, /file\.pem cannot be used: .*GW_TLS_KEY_FILE/);
});

test("a data folder that cannot be written is named", async (t) => {
  const folder = await makeFolder(t);
  const file = join(folder, "file");
  await writeFile(file, "");

  const outcome = await refuse(t, { GW_DATA_DIR: join(file, "data") });

  assertSentence(outcome, /The data folder .* is not writable .*GW_DATA_DIR/);
});

test("a database that does not answer is named by its host, never with its password", async (t) => {
  const url = "postgres://tollgate:hidden-word@127.0.0.1:1/tollgate";

  const outcome = await refuse(t, { GW_DATABASE_URL: url });

  assertSentence(outcome, /The database at 127\.0\.0\.1:1 \(GW_DATABASE_URL\) cannot be used/);
  assert.doesNotMatch(outcome.output, /hidden-word/);
});

test("a database of a newer version is not changed", async (t) => {
  const url = await makeDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table migrations (name text primary key, compatible_from text)");
  await client.query("insert into migrations (name) values ('9999-tomorrow.sql')");
  await client.end();

  const outcome = await refuse(t, { GW_DATABASE_URL: url });

  assertSentence(outcome, /made by another version of Tollgate \(it has 9999-tomorrow\.sql\)/);
});

test("a setting that cannot be read is named with what it expects", async (t) => {
  const outcome = await refuse(t, { GW_PORT: "http", GW_LINE_FEEDS: "yes" });

  assertSentence(outcome, /GW_PORT must be a port\.\nGW_LINE_FEEDS must be on or off\./);
});

test("a key-encryption key of another database is reported as such", async (t) => {
  const place = await install(t);
  const other = join(await makeFolder(t), "other.key");
  await writeFile(other, "b".repeat(64));

  const outcome = await refuse(t, { ...place, GW_MASTER_KEY_FILE: other });

  assertSentence(outcome, /key-encryption key does not open .*GW_MASTER_KEY_FILE/);
});

test("production reports everything that keeps it from starting", async (t) => {
  const bare = await refuse(t, { GW_ENV: "production" });
  const place = await install(t);
  const key = join(place.GW_DATA_DIR, "keys/master.key");
  const database = { ...place, GW_MASTER_KEY_FILE: key };
  const production = { GW_ENV: "production", GW_BASE_URL: "https://pay.example" };
  const nowhere = { GW_LOG_FILE: join(place.GW_DATA_DIR, "nowhere/gateway.log") };
  const used = await refuse(t, { ...database, ...production, ...nowhere, GW_HOST: "0.0.0.0" });
  const half = await refuse(t, { ...database, ...production, GW_TLS_KEY_FILE: key });

  assertSentence(bare, /GW_BASE_URL must be an https:\/\/ address\.\n.*GW_MASTER_KEY_FILE/);
  assertSentence(used, /demonstration merchant[\s\S]*sandbox/);
  assertSentence(used, /requests would come unencrypted: set GW_TLS_CERTIFICATE_FILE/);
  assertSentence(used, /shorten the audit unnoticed: set GW_AUDIT_HEAD_FILE .* add local-audit/);
  assertSentence(used, /The log cannot be written \(ENOENT.* or add unwritable-log to GW_ALLOW/);
  assertSentence(half, /Give both GW_TLS_CERTIFICATE_FILE and GW_TLS_KEY_FILE/);
});

test("staging does not start on an address that other machines reach, unless that is allowed", async (t) => {
  const { GW_DATABASE_URL, GW_DATA_DIR } = await install(t);
  const place = { GW_DATABASE_URL, GW_DATA_DIR, GW_HOST: "0.0.0.0" };

  const refused = await refuse(t, place);
  const misspelt = await refuse(t, { ...place, GW_ALLOW: "public" });

  assertSentence(refused, /GW_HOST is 0\.0\.0\.0, .* or add public-staging to GW_ALLOW/);
  assertSentence(misspelt, /GW_ALLOW must be comma-separated: plain-database, plain-gates/);
});

function assertSentence({ code, output }: { code: number | null; output: string }, form: RegExp) {
  assert.match(output, form);
  assert.doesNotMatch(output, /\n {4}at /, "a stack trace helps nobody here");
  assert.equal(code, 2);
}

/**
 * Runs a `gw start` that ends before it starts anything, in a thread whose sources are loaded once.
 */
async function refuse(t: Test, settings: Settings) {
  const { GW_DATABASE_URL = "", GW_DATA_DIR = await makeFolder(t), ...others } = settings;
  const place = { installation: { databaseUrl: GW_DATABASE_URL }, dataDir: GW_DATA_DIR };
  const given = { ...place, settings: { ...freePorts, ...others } };
  const { code, printed, complaint } = await runGw(given, "start");
  return { code, output: printed + complaint };
}

/** Runs `gw start` as a process, until it ends by itself. */
async function run(t: Test, settings: Settings) {
  const dataDir = await makeFolder(t);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GW_"));
  const child = spawn(process.execPath, [program, "start"], {
    env: { ...Object.fromEntries(inherited), ...freePorts, GW_DATA_DIR: dataDir, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  atEnd(t, () => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const code = await new Promise<number | null>((ended) => child.on("close", ended));
  return { code, output };
}

/**
 * Makes an installation as an earlier start has left it, because a first start, which makes keys
 * and tables, takes longer.
 */
async function install(t: Test) {
  const dataDir = await makeFolder(t);
  return { GW_DATA_DIR: dataDir, GW_DATABASE_URL: await copyInstallation(dataDir) };
}

async function makeFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-trouble-"));
  await chmod(folder, 0o711);
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function occupy(t: Test): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(t, () => server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
