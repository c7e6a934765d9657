/**
 * A server with an archive of its write-ahead log is lost and restored to a point in time, by
 * PostgreSQL alone. The first node that starts on it puts the installation on hold: nothing is sent
 * before an operator has verified and released it, and no reference of a lost order comes again.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import pg from "pg";
import { readRows } from "../support/books.ts";
import { atEnd, endOfFile } from "../support/clean-up.ts";
import { crashTimes } from "../support/crash-world.ts";
import { startServerGuard } from "../support/database-server.ts";
import { type GatewayProcess, startProcess } from "../support/gateway-process.ts";
import { makeMerchant } from "../support/merchant.ts";
import { readGw, runGw } from "../support/programs.ts";
import { until } from "../support/until.ts";

const salesEach = 2;

test("a server that was restored to a point in time is on hold until it is released", async () => {
  const root = await makeRoot();
  const [archive, folder] = [join(root, "archive"), join(root, "one")];
  const source = await start(folder, {
    ...{ archive_mode: "on", archive_command: `cp %p ${archive}/%f`, wal_level: "replica" },
  });
  await mkdir(archive);
  give(archive, folder);
  const first = await startProcess({ env: { ...crashTimes, GW_DATABASE_URL: source.url } });
  const early = await pay(first);
  await copyRunning(source.url, folder, join(root, "two"));
  const kept = await pay(first);
  const [{ moment = "" } = {}] = await readRows<{ moment: string }>(
    source.url,
    "select clock_timestamp()::text as moment",
  );
  const lost = await pay(first);
  await archiveAll(source.url);
  await first.stop();
  await source.stop();

  const restored = await start(join(root, "two"), {
    ...{ restore_command: `cp ${archive}/%f %p`, recovery_target_time: moment },
    recovery_target_action: "promote",
  });
  await until("it takes writes", async () => {
    const rows = await readRows(restored.url, "select where not pg_is_in_recovery()");
    return rows.length > 0 ? true : undefined;
  });
  const env = { ...crashTimes, GW_DATABASE_URL: restored.url };
  const second = await startProcess({ env, dataDir: first.dataDir });
  const place = { installation: { databaseUrl: restored.url }, dataDir: first.dataDir };

  const { merchant } = await at(second);
  assert.equal((await readReady(second)).status, "on hold");
  assert.match((await readReady(second)).why ?? "", /restored to a point in time/);
  for (const { sale } of [...early, ...kept]) {
    assert.equal((await merchant.status(sale)).status, "approved");
  }
  for (const { sale } of lost) await assert.rejects(merchant.status(sale));
  await assert.rejects(merchant.sale());
  const unverified = await runGw(place, "restore", "release", "--unreconciled");
  assert.match(unverified.complaint, /not verified/);
  assert.equal(
    ((await readGw(place, "restore", "verify")) as { verified: string }).verified,
    "yes",
  );
  const released = await runGw(place, "restore", "release", "--unreconciled", "--why", "a test");
  assert.equal(released.code, 0, released.complaint);
  await until("it can take payments", async () =>
    (await readReady(second)).status === "ready" ? true : undefined,
  );
  const fresh = await pay(second);

  const references = [...early, ...kept, ...lost, ...fresh].map(({ reference }) => reference);
  assert.equal(new Set(references).size, 4 * salesEach);
  assert.match((await runGw(place, "doctor")).printed, /still have recovery_target_time/);
  await second.stop();
  await restored.stop();
});

/** Its user is another one when the tests are run by root. */
async function makeRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "tollgate-archive-"));
  await chmod(root, 0o711);
  atEnd(endOfFile, () => rm(root, { recursive: true, force: true }));
  return root;
}

async function start(folder: string, settings: Readonly<Record<string, string>>) {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const postgres = join(folder, "postgres");
  const server = await startEmbedded({ folder: postgres, report: () => undefined, settings });
  if (server instanceof Problem) throw new Error(server.sentence);
  const guard = startServerGuard(postgres);
  return {
    url: server.url,
    async stop() {
      await server.stop();
      guard.kill("SIGKILL");
    },
  };
}

function give(path: string, folder: string): void {
  const { uid, gid } = statSync(join(folder, "postgres"));
  chownSync(path, uid, gid);
}

/** As `pg_basebackup` does it, which the packages do not bring. */
async function copyRunning(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("select pg_backup_start('test', true)");
  await mkdir(to, { mode: 0o711 });
  for (const name of ["postgres", "postgres.password"]) {
    execFileSync("cp", ["-a", join(from, name), join(to, name)]);
  }
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  const postgres = join(to, "postgres");
  execFileSync("sh", ["-c", 'rm -rf "$0"/pg_wal/* "$0/postmaster.pid"', postgres]);
  await mkdir(join(postgres, "pg_wal", "archive_status"), { mode: 0o700, recursive: true });
  for (const [name, text] of [
    ["backup_label", rows[0].labelfile],
    ["recovery.signal", ""],
  ]) {
    await writeFile(join(postgres, name), text, { mode: 0o600 });
    give(join(postgres, name), to);
  }
  give(join(postgres, "pg_wal", "archive_status"), to);
}

/** The segment that the last commits are in is in the archive. */
async function archiveAll(url: string): Promise<void> {
  const [{ segment = "" } = {}] = await readRows<{ segment: string }>(
    url,
    "select pg_walfile_name(pg_switch_wal()) as segment",
  );
  await until("the log is in the archive", async () => {
    const done = "select from pg_stat_archiver where last_archived_wal >= ";
    return (await readRows(url, `${done} '${segment}'`)).length > 0 ? true : undefined;
  });
}

async function at({ demo, baseUrl }: GatewayProcess) {
  const set = { ...demo.merchant, ...demo };
  return { merchant: makeMerchant({ set, baseUrl: () => baseUrl, makeClient }) };
}

async function pay(gateway: GatewayProcess) {
  const { merchant } = await at(gateway);
  const sales = Array.from({ length: salesEach }, async () => {
    const sale = await merchant.sale();
    const status = await until("the sale is approved", async () => {
      const now = await merchant.status(sale);
      return now.status === "approved" ? now : undefined;
    });
    return { sale, reference: status["processor-rrn"] };
  });
  return Promise.all(sales);
}

async function readReady({ baseUrl }: GatewayProcess) {
  const answer = await fetch(`${baseUrl}/health/ready`);
  return (await answer.json()) as { status: string; why?: string };
}
