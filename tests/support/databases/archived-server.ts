/**
 * A PostgreSQL of the embedded binaries that archives its write-ahead log, with a base backup made
 * while it runs, and another server that recovers from both to a point in time.
 */
import { execFileSync } from "node:child_process";
import { chownSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import pg from "pg";
import { readRows } from "../books.ts";
import { endOfFile } from "../end-of-file.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { startServerGuard } from "./gateway-server.ts";

export async function startArchived() {
  const root = await makeFolder(endOfFile, "archive");
  const [archive, folder] = [join(root, "archive"), join(root, "one")];
  await mkdir(archive);
  const command = { archive_mode: "on", archive_command: `cp %p ${archive}/%f` };
  const source = await start(folder, { ...command, wal_level: "replica" });
  give(archive, folder);
  return {
    ...source,
    backUp: () => copyRunning(source.url, folder, join(root, "two")),
    archiveAll: () => archiveAll(source.url),
    /** Recovers the backup up to a point in time. Resolves when the server accepts writes. */
    async recover(moment: string) {
      const restored = await start(join(root, "two"), {
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_time: moment,
        recovery_target_action: "promote",
      });
      await until("it takes writes", async () => {
        const rows = await readRows(restored.url, "select where not pg_is_in_recovery()");
        return rows.length > 0 ? true : undefined;
      });
      return restored;
    },
  };
}

async function start(folder: string, settings: Readonly<Record<string, string>>) {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const postgres = join(folder, "postgres");
  const server = await startEmbedded({ folder: postgres, report: () => undefined, settings });
  if (server instanceof Problem) throw new Error(server.sentence);
  const guard = startServerGuard(folder);
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

/** Copies the server as `pg_basebackup` does, which the packages do not contain. */
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

/** Waits until the segment with the last commits is in the archive. */
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
