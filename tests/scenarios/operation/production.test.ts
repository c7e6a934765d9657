/** A production installation never loads the code of staging, with any command. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findFreePort } from "../../support/bank/results-balancer.ts";
import { atEnd } from "../../support/clean-up.ts";
import { makeDatabase } from "../../support/databases/database-server.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { migrateFirst, startProgram } from "../../support/programs.ts";
import { isLongRun, rowsOf, testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";

const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");

/** Writes the address of every module that the process and its workers load. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.RECORD_TO, url + "\\n");
      return next(url, context);
    },
  });
`)}`;

/** The first two addresses show that the portal answers. */
// biome-ignore format: a table
const portal: readonly (readonly [method: string, path: string, status: number])[] = [
  ["GET",  "/session",        200],
  ["GET",  "/orders",         401],
  ["GET",  "/sandbox",        404],
  ["GET",  "/sandbox/ledger", 404],
  ["POST", "/sandbox/pay",    404],
  ["POST", "/sandbox/switch", 404],
];

test("a gateway in production has no part of staging, with workers and without", async (t) => {
  for (const workers of isLongRun ? ["1", "2"] : ["2"]) {
    const place = await makePlace();
    const port = await findFreePort();
    const settings = { ...place.settings, GW_WORKERS: workers, GW_PORT: String(port) };
    const gateway = startProgram(["--import", recorder, gw, "start"], settings);
    atEnd(t, () => gateway.stop());

    await until("it listens", () => {
      assert.ok(gateway.isRunning, gateway.output);
      return gateway.output.includes("Tollgate listens on") || undefined;
    });
    const api = `http://127.0.0.1:${port}/portal/api`;
    for (const [method, path, status] of portal) {
      const headers = { "x-portal": "1", "content-type": "application/json" };
      const answer = await fetch(api + path, { method, headers });
      assert.equal(answer.status, status, `${method} ${path}: ${await answer.text()}`);
    }
    const origin = `http://127.0.0.1:${port}`;
    for (const path of ["/sandbox/callbacks", "/sandbox/chargebacks/42000001"]) {
      const headers = { "sec-fetch-site": "same-origin" };
      const answer = await fetch(origin + path, { method: "POST", headers });
      assert.equal(answer.status, 404, path);
    }
    assert.equal((await fetch(`${origin}/`)).status, 404);
    const listener = await run(place.settings, `callback listen --gateway ${origin}`);
    assert.match(listener.output, /has no demonstration merchant: it is not in staging/);
    const described = await (await fetch(`${api}/openapi.json`)).text();
    assert.ok(described.includes("/orders") && !described.includes("/sandbox"));
    await gateway.stop();

    const loaded = await place.loaded();
    assert.ok(loaded.includes("gateway/main.ts") && loaded.includes("gateway/wiring/http.ts"));
    assert.deepEqual(stagingOf(loaded), []);
  }
});

// biome-ignore format: a table
const commands: readonly (readonly [words: string, code: number, run: "short" | "long"])[] = [
  ["serve --help",     0, "short"],
  ["merchant list",    0, "long"],
  ["merchant show a",  2, "long"],
  ["endpoint list a",  2, "long"],
  ["bin find 400000",  0, "short"],
  ["doctor",           1, "short"],
];

testInLongRun("no command loads it in production", async () => {
  const { settings, loaded } = await makePlace();

  for (const [words, code] of rowsOf(commands, ([, , run]) => run === "short")) {
    const ended = await run(settings, words);

    assert.equal(ended.code, code, `${words}: ${ended.output}`);
    assert.deepEqual(stagingOf(await loaded()), [], words);
  }
});

test("the same command in staging has the parts of staging", async () => {
  const { settings, loaded } = await makePlace();

  const { output } = await run({ ...settings, GW_ENV: "staging" }, "bin find 400000");

  assert.match(output, /Sandbox Issuing Bank [\s\S]* from: built in/);
  assert.ok(stagingOf(await loaded()).includes("gateway/staging/sandbox-ranges.ts"));
});

let migrated: ReturnType<typeof migratePlace> | undefined;

/** The installation is one for all tests; each has a record of its own. */
async function makePlace() {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-production-"));
  atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
  migrated ??= migratePlace(join(folder, "data"));
  const record = join(folder, "loaded");
  const settings = { ...(await migrated), RECORD_TO: record };
  const root = new URL("../../..", import.meta.url).href;
  const loaded = async () =>
    (await readFile(record, "utf8")).split("\n").map((url) => url.replace(`${root}`, ""));
  return { settings, loaded };
}

async function migratePlace(dataDir: string) {
  const settings = {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: await makeDatabase(),
    GW_DATA_DIR: dataDir,
    GW_PORT: "0",
    GW_RESULTS_PORT: "0",
    GW_MASTER_KEY: "3".repeat(64),
    GW_ALLOW: "local-audit",
  };
  await migrateFirst(settings);
  return settings;
}

function stagingOf(loaded: readonly string[]): readonly string[] {
  return loaded.filter((path) => path.startsWith("gateway/staging/"));
}

async function run(settings: Readonly<Record<string, string>>, words: string) {
  const program = startProgram(["--import", recorder, gw, ...words.split(" ")], settings);
  await until(words, () => !program.isRunning || undefined);
  return { code: program.child.exitCode, output: program.output };
}
