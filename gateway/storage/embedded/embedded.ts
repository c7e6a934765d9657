/**
 * Runs PostgreSQL from an npm package, for installations without a database server. If the gateway
 * is killed, the server keeps running and the next gateway adopts it. Problems that the operator
 * can solve are returned as sentences.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Problem } from "../../values/problem.ts";
import {
  type Cluster,
  explain,
  lastLine,
  openCluster,
  passwordFileOf,
  prepareLocation,
  type ReportProgress,
  releaseOwnership,
  takeOwnership,
} from "./cluster.ts";
import {
  checkConnection,
  endOrphans,
  findPostmaster,
  launchPostmaster,
  makeSocketFolder,
  type Postmaster,
  removeSocketFolder,
  stopPostmaster,
  urlOf,
} from "./postmaster.ts";
import { isAlive } from "./system.ts";

export type EmbeddedServer = ReturnType<typeof keepRunning>;

type EmbeddedOptions = {
  /** The folder of the cluster. The password and the log are files next to it. */
  readonly folder: string;
  readonly report: ReportProgress;
  readonly settings?: Readonly<Record<string, string>>;
};

const startLimitMs = 120_000;
const retryEveryMs = 50;
const progressEveryMs = 3_000;
const watchEveryMs = 500;
const restartsPerMinuteMax = 5;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer | Problem> {
  const folder = resolve(options.folder);
  const ownerFile = `${folder}.owner`;
  let owned = false;
  try {
    const location = await prepareLocation(folder);
    if (location instanceof Problem) return location;
    const refusal = takeOwnership(ownerFile);
    if (refusal !== undefined) return refusal;
    owned = true;

    const cluster = await openCluster(location, options.report);
    if (cluster instanceof Problem) return cluster;
    const postmaster = await startServer(cluster, options);
    if (postmaster instanceof Problem) return postmaster;
    owned = false;
    return keepRunning(cluster, postmaster, { ...options, ownerFile });
  } catch (error) {
    return explain(error, folder);
  } finally {
    if (owned) releaseOwnership(ownerFile);
  }
}

/** Returns the address of the running server, for commands that run beside a gateway. */
export function findEmbeddedUrl(folder: string): string | undefined {
  const passwordFile = passwordFileOf(resolve(folder));
  if (!existsSync(folder) || !existsSync(passwordFile)) return undefined;
  const postmaster = findPostmaster(realpathSync(folder));
  return postmaster && urlOf(postmaster, readFileSync(passwordFile, "utf8").trim());
}

/** Adopts or launches the server, and waits until it accepts connections. */
async function startServer(
  cluster: Cluster,
  { report, settings = {} }: EmbeddedOptions,
  givenSocketFolder?: string,
): Promise<Postmaster | Problem> {
  const progress = reportEvery(progressEveryMs, report);
  const deadline = Date.now() + startLimitMs;
  const socketFolder = givenSocketFolder ?? makeSocketFolder(cluster);
  if (socketFolder instanceof Problem) return socketFolder;

  while (Date.now() < deadline) {
    const logged = sizeOf(cluster.logFile);
    const adopted = await adopt(cluster, report);
    const postmaster: Postmaster | Problem =
      adopted ?? (await launchPostmaster(cluster, socketFolder, settings));
    if (postmaster instanceof Problem) return postmaster;
    if (postmaster.socketFolder !== socketFolder) removeSocketFolder(socketFolder);

    const answer = await untilConnected(cluster, postmaster, { deadline, progress });
    if (answer === "ready") return postmaster;
    if (answer instanceof Problem) {
      if (adopted === undefined) await stopPostmaster(postmaster);
      return answer;
    }
    if (isAlive(postmaster.pid)) break;
    const cause = adopted === undefined ? fatalErrorIn(cluster.logFile, logged) : undefined;
    // After these errors the server is launched again, because the old one is still ending.
    if (cause !== undefined && !/shared memory block|lock file/.test(cause)) {
      removeSocketFolder(socketFolder);
      return new Problem(`PostgreSQL did not start: ${cause} (see ${cluster.logFile}).`);
    }
    endOrphans(cluster.folder);
    progress("Processes of the PostgreSQL that was killed are still ending");
    await pause(retryEveryMs);
  }
  return new Problem(
    `PostgreSQL does not answer after ${startLimitMs / 1000} s: see ${cluster.logFile}; if it is ` +
      "still recovering, start again, and it continues from where it is.",
  );
}

/** Returns "gone" if the server has ended or the deadline has passed. */
async function untilConnected(
  cluster: Cluster,
  postmaster: Postmaster,
  { deadline, progress }: { readonly deadline: number; readonly progress: ReportProgress },
): Promise<"ready" | "gone" | Problem> {
  while (isAlive(postmaster.pid) && Date.now() < deadline) {
    const answer = await checkConnection(cluster, postmaster);
    if (answer !== "not yet") return answer;
    progress("PostgreSQL is starting; after a crash it first recovers what it wrote");
    await pause(retryEveryMs);
  }
  return "gone";
}

async function adopt({ folder }: Cluster, report: ReportProgress): Promise<Postmaster | undefined> {
  const found = findPostmaster(folder);
  if (found === undefined) return undefined;
  if (existsSync(found.socketFolder)) {
    report(`Taking over the PostgreSQL that already runs here (process ${found.pid})`);
    return found;
  }
  report("Restarting PostgreSQL, because its temporary folder was deleted");
  await stopPostmaster(found);
  return undefined;
}

/** Starts the server again whenever it ends unexpectedly, but not too often. */
function keepRunning(
  cluster: Cluster,
  first: Postmaster,
  options: EmbeddedOptions & { readonly ownerFile: string },
) {
  let postmaster = first;
  let restarting: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  const restarts: number[] = [];
  const watch = setInterval(() => {
    if (restarting !== undefined || isAlive(postmaster.pid)) return;
    restarting = restart().finally(() => {
      restarting = undefined;
    });
  }, watchEveryMs).unref();

  async function restart(): Promise<void> {
    const now = Date.now();
    const recent = restarts.filter((at) => at > now - 60_000).length;
    if (recent >= restartsPerMinuteMax) {
      clearInterval(watch);
      options.report(`PostgreSQL keeps ending and is not restarted: see ${cluster.logFile}`);
      return;
    }
    restarts.push(now);
    options.report("PostgreSQL ended unexpectedly; starting it again");
    const again = await startServer(cluster, options, first.socketFolder);
    if (again instanceof Problem) options.report(again.sentence);
    else postmaster = again;
  }

  async function stop(): Promise<void> {
    clearInterval(watch);
    await restarting;
    await stopPostmaster(postmaster);
    releaseOwnership(options.ownerFile);
  }

  return {
    /** The URL for `pg`, which stays the same after a restart of the server. */
    url: urlOf(first, cluster.password),
    get pid(): number {
      return postmaster.pid;
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Returns the last fatal error of a launch. `from` is the length of PostgreSQL's log before it. */
function fatalErrorIn(logFile: string, from: number): string {
  const log = readFileSync(logFile);
  // If the log is shorter than before, the launch has renamed the old log and begun a new one.
  const text = log.subarray(log.length < from ? 0 : from).toString();
  const fatal = text.split("\n").findLast((line) => /FATAL|PANIC/.test(line));
  return (fatal ?? lastLine(text)).replace(/^.*?(FATAL|PANIC): +/, "").trim();
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function reportEvery(gapMs: number, report: ReportProgress): ReportProgress {
  const startedAt = Date.now();
  let last = startedAt;
  return (progress) => {
    if (Date.now() - last < gapMs) return;
    last = Date.now();
    report(`${progress} (${Math.round((last - startedAt) / 1000)} s) …`);
  };
}
