/** `gw backup` and `gw restore` for an operator, and attempts of an attacker. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { backUp, makeElsewhere, makeIdentity, restore } from "../../support/databases/restored.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { makeFolder } from "../../support/folder.ts";
import { cleanEnvironment, runGw, startProgram } from "../../support/programs.ts";
import { testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const keys = await makeFolder(endOfFile);
const identity = await makeIdentity(world, keys);
const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");
const settings = {
  GW_DATABASE_URL: world.installation.databaseUrl,
  GW_DATA_DIR: world.dataDir,
};
const refused = 2;

test("a missing backup is reported, and an existing one is not", async () => {
  const strict = { ...world, settings: { GW_BACKUP_AGE_MAX_H: "26" } };

  const never = await runGw(strict, "doctor");
  const folder = await makeFolder(endOfFile);
  const file = await backUp(world, folder, identity);
  const made = await runGw(strict, "doctor");
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();

  assert.match(never.printed, /trouble backup: never/);
  assert.match(made.printed, /good +backup: 0 hours ago/);
  assert.match(metrics, /^tollgate_backup_age_seconds \d/m);
  assert.match(metrics, /^tollgate_on_hold 0$/m);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(identity.file)).mode & 0o777, 0o600);
  const bytes = await readFile(file);
  assert.ok(!bytes.includes(world.set.login), "it can be read");
});

test("a full disk leaves neither a file nor a record of a backup", async () => {
  const folder = await makeFolder(endOfFile);
  const before = await countBackups();

  const filled = await runShell(`ulimit -f 1; exec "$NODE" "$GW" backup --to "$FOLDER"`, folder);
  const piped = await runShell(`exec "$NODE" "$GW" backup --to - > /dev/full`, folder);

  assert.equal(filled.code, refused);
  assert.match(filled.complaint, /^No backup was made: /m);
  assert.equal(piped.code, 1);
  assert.match(piped.complaint, /^The output cannot be written: ENOSPC/m);
  assert.deepEqual(await readdir(folder), []);
  assert.equal(await countBackups(), before);
});

testInLongRun(
  "a backup that is killed leaves nothing that looks whole; no second one runs beside it",
  async () => {
    const folder = await makeFolder(endOfFile);
    const { query } = world.installation.database;
    await query(`create table public.filler as
    select string_agg(md5(random()::text), '') as text
    from generate_series(1, 1000) as line, generate_series(1, 1500) as row group by row`);
    const words = ["backup", "--to", folder, "--recipient", identity.recipient];
    const program = startProgram([gw, ...words], settings);
    await until("it writes", async () => {
      const [name] = await readdir(folder);
      return name !== undefined && (await stat(join(folder, name))).size > 0 ? true : undefined;
    });

    const second = await runGw(world, ...words);
    await program.kill();
    await query("drop table public.filler");

    assert.match(second.complaint, /Another backup is running/);
    const left = await readdir(folder);
    assert.ok(
      left.every((name) => name.endsWith(".partial")),
      left.join(),
    );
    const next = await until("the next one runs", async () => {
      const ran = await runGw(world, ...words);
      return ran.code === 0 ? ran : undefined;
    });
    assert.match(next.printed, /\.tar\.zst\.age$/m);
  },
);

test("a restore is refused with a wrong key and into a database with rows, and reads standard input", async () => {
  await world.merchant().sale();
  await world.settle();
  const folder = await makeFolder(endOfFile);
  const file = await backUp(world, folder, identity);
  const place = await makeElsewhere(endOfFile, world);
  const stranger = await makeIdentity(world, folder);
  const masterKey = join(folder, "master.key");
  await writeFile(masterKey, `${"ab".repeat(32)}\n`, { mode: 0o600 });
  const cut = join(folder, "cut.age");
  await writeFile(cut, (await readFile(file)).subarray(0, -100));

  const sealed = await restore(place, file, stranger);
  const broken = await restore(place, cut, identity);
  const other = { ...place, settings: { GW_MASTER_KEY_FILE: masterKey } };
  const keyless = await restore(other, file, identity);
  const words = `--from - --identity-file "${identity.file}" --json < "${file}"`;
  const { installation, dataDir } = place;
  const own = { GW_DATABASE_URL: installation.databaseUrl, GW_DATA_DIR: dataDir };
  const good = await runShell(`"$NODE" "$GW" restore ${words}`, folder, own);
  const again = await restore(place, file, identity);
  const incomplete = await runGw(place, "restore");

  assert.match(sealed.complaint, /cannot be decrypted.*Nothing was restored/);
  assert.match(broken.complaint, /Nothing was restored/);
  assert.match(keyless.complaint, /key-encryption key .* is not the one/);
  assert.equal(good.code, 0, good.complaint);
  assert.equal(JSON.parse(good.printed).restored, "on hold");
  assert.match(again.complaint, /This database is not empty/);
  for (const { code } of [sealed, broken, keyless, again, incomplete]) assert.equal(code, refused);
});

test("a running installation is put on hold and released by an operator", async () => {
  const merchant = world.merchant();
  const sale = await merchant.sale();
  await world.settle();

  assert.match((await runGw(world, "restore", "release")).complaint, /is not on hold/);
  await runGw(world, "restore", "hold", "--why", "a copy");
  await until("sales are refused", () =>
    merchant.sale().then(
      () => undefined,
      () => true as const,
    ),
  );
  assert.equal((await merchant.status(sale)).status, "approved");
  assert.match((await runGw(world, "restore", "hold")).complaint, /on hold already/);
  assert.match((await runGw(world, "restore", "status")).printed, /^verified +no$/m);
  assert.equal((await runGw(world, "restore", "verify")).code, 0);
  await runGw(world, "restore", "release", "--unreconciled", "--why", "nothing was lost");
  const next = await until("sales are accepted", () => merchant.sale().catch(() => undefined));
  await world.settle();

  assert.equal((await merchant.status(next)).status, "approved");
});

async function countBackups(): Promise<number> {
  return (await world.installation.database.query("select from backups")).length;
}

/** Runs a line of shell in a separate process. */
async function runShell(line: string, folder: string, own: NodeJS.ProcessEnv = {}) {
  const env = {
    ...cleanEnvironment(),
    ...settings,
    ...own,
    NODE: process.execPath,
    GW: gw,
    FOLDER: folder,
    GW_BACKUP_RECIPIENTS: identity.recipient,
  };
  const child = spawn("sh", ["-c", line], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [printed, complaint] = ["", ""];
  child.stdout.on("data", (text) => {
    printed += text;
  });
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  const [code] = await once(child, "close");
  return { code: Number(code), printed, complaint };
}
