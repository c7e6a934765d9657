/**
 * A PostgreSQL of our own, out of an npm package, for whoever has none. It outlives a gateway that
 * was killed, and the next one adopts it; whatever the person at the terminal can put right comes
 * back as one sentence.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findBinaries } from "./embedded/binaries.ts";
import {
  type Cluster,
  explain,
  lastLine,
  openCluster,
  openPlace,
  passwordFileOf,
} from "./embedded/cluster.ts";
import { greet, urlOf } from "./embedded/connection.ts";
import { giveUpOwnership, takeOwnership } from "./embedded/owner.ts";
import {
  endOrphans,
  findPostmaster,
  launchPostmaster,
  makeSocketFolder,
  type Postmaster,
  removeSocketFolder,
  stopPostmaster,
} from "./embedded/postmaster.ts";
import { isAlive } from "./embedded/processes.ts";
import { StartProblem } from "./embedded/start-problem.ts";

export { StartProblem };

export type EmbeddedServer = {
  /** For `pg`, with the socket's folder as the host; the same after the server was restarted. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  /** `<data folder>/postgres`. The password and the log stand beside it. */
  readonly folder: string;
  readonly report: (progress: string) => void;
  readonly settings?: Readonly<Record<string, string>>;
};

const startLimitMs = 120_000;
const retryEveryMs = 50;
const progressEveryMs = 3_000;
const watchEveryMs = 500;
const restartsPerMinuteMax = 5;

export async function startEmbedded(
  options: EmbeddedOptions,
): Promise<EmbeddedServer | StartProblem> {
  const folder = resolve(options.folder);
  const ownerFile = `${folder}.owner`;
  let owned = false;
  try {
    const binaries = await findBinaries();
    if (binaries instanceof StartProblem) return binaries;
    const place = openPlace(folder, binaries);
    if (place instanceof StartProblem) return place;
    const refusal = takeOwnership(ownerFile);
    if (refusal !== undefined) return refusal;
    owned = true;

    const cluster = await openCluster(place, options.report);
    if (cluster instanceof StartProblem) return cluster;
    const postmaster = await bringUp(cluster, options);
    if (postmaster instanceof StartProblem) return postmaster;
    owned = false;
    return keepRunning(cluster, postmaster, { ...options, ownerFile });
  } catch (error) {
    return explain(error, folder);
  } finally {
    if (owned) giveUpOwnership(ownerFile);
  }
}

/** The address of the server that runs on this folder, for a command beside a running gateway. */
export function findEmbeddedUrl(folder: string): string | undefined {
  if (!existsSync(folder) || !existsSync(passwordFileOf(resolve(folder)))) return undefined;
  const postmaster = findPostmaster(realpathSync(folder));
  if (postmaster === undefined) return undefined;
  return urlOf(postmaster, readFileSync(passwordFileOf(resolve(folder)), "utf8").trim());
}

/** Adopts or launches the server and waits until it takes connections. */
async function bringUp(
  cluster: Cluster,
  { report, settings = {} }: EmbeddedOptions,
  givenSocketFolder?: string,
): Promise<Postmaster | StartProblem> {
  const progress = reportEvery(progressEveryMs, report);
  const deadline = Date.now() + startLimitMs;
  const socketFolder = givenSocketFolder ?? makeSocketFolder(cluster);
  if (socketFolder instanceof StartProblem) return socketFolder;

  while (Date.now() < deadline) {
    const logged = sizeOf(cluster.logFile);
    const adopted = await adopt(cluster, report);
    const postmaster: Postmaster | StartProblem =
      adopted ?? (await launchPostmaster(cluster, socketFolder, settings));
    if (postmaster instanceof StartProblem) return postmaster;
    if (postmaster.socketFolder !== socketFolder) removeSocketFolder(socketFolder);

    const answer = await awaitAnswer(cluster, postmaster, { deadline, progress });
    if (answer === "ready") return postmaster;
    if (answer instanceof StartProblem) {
      if (adopted === undefined) await stopPostmaster(postmaster);
      return answer;
    }
    if (isAlive(postmaster.pid)) break;
    const complaint = adopted === undefined ? complaintIn(cluster.logFile, logged) : undefined;
    if (complaint !== undefined && !mayPass(complaint)) {
      removeSocketFolder(socketFolder);
      return new StartProblem(`PostgreSQL did not start: ${complaint} (see ${cluster.logFile}).`);
    }
    endOrphans(cluster.folder);
    progress("Processes of the PostgreSQL that was stopped hard are still ending");
    await pause(retryEveryMs);
  }
  return new StartProblem(
    `PostgreSQL does not answer after ${startLimitMs / 1000} s: see ${cluster.logFile}; if it is ` +
      "still recovering, start again, and it goes on from where it is.",
  );
}

/** "gone" when the server ended, or when it is too late to wait for it. */
async function awaitAnswer(
  cluster: Cluster,
  postmaster: Postmaster,
  { deadline, progress }: { readonly deadline: number; readonly progress: (line: string) => void },
): Promise<"ready" | "gone" | StartProblem> {
  while (isAlive(postmaster.pid) && Date.now() < deadline) {
    const answer = await greet(cluster, postmaster);
    if (answer !== "not yet") return answer;
    progress("PostgreSQL is starting; after a hard stop it first recovers what it wrote");
    await pause(retryEveryMs);
  }
  return "gone";
}

async function adopt(
  { folder }: Cluster,
  report: (progress: string) => void,
): Promise<Postmaster | undefined> {
  const found = findPostmaster(folder);
  if (found === undefined) return undefined;
  if (existsSync(found.socketFolder)) {
    report(`Taking over the PostgreSQL that already runs here (process ${found.pid})`);
    return found;
  }
  report("Restarting PostgreSQL, whose temporary folder was cleared away");
  await stopPostmaster(found);
  return undefined;
}

/** Restarts a server that ends by itself, until it is stopped or ends too often. */
function keepRunning(
  cluster: Cluster,
  first: Postmaster,
  options: EmbeddedOptions & { readonly ownerFile: string },
): EmbeddedServer {
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
      options.report(`PostgreSQL keeps ending and is left so: see ${cluster.logFile}`);
      return;
    }
    restarts.push(now);
    options.report("PostgreSQL ended unexpectedly; starting it again");
    const again = await bringUp(cluster, options, first.socketFolder);
    if (again instanceof StartProblem) options.report(again.sentence);
    else postmaster = again;
  }

  async function stop(): Promise<void> {
    clearInterval(watch);
    await restarting;
    await stopPostmaster(postmaster);
    giveUpOwnership(options.ownerFile);
  }

  return {
    url: urlOf(first, cluster.password),
    get pid() {
      return postmaster.pid;
    },
    stop: () => (stopped ??= stop()),
  };
}

/** What PostgreSQL said since it was launched, when it gave up. */
function complaintIn(logFile: string, from: number): string {
  const log = readFileSync(logFile);
  // A log that is shorter than before was put aside at the launch.
  const said = log.subarray(log.length < from ? 0 : from).toString();
  const fatal = said.split("\n").findLast((line) => /FATAL|PANIC/.test(line));
  return (fatal ?? lastLine(said)).replace(/^.*?(FATAL|PANIC): +/, "").trim();
}

/** The old server's processes are ending on their own: a little later there will be room. */
function mayPass(complaint: string): boolean {
  return /shared memory block|lock file/.test(complaint);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function reportEvery(gapMs: number, report: (progress: string) => void) {
  const began = Date.now();
  let last = began;
  return (progress: string): void => {
    if (Date.now() - last < gapMs) return;
    last = Date.now();
    report(`${progress} (${Math.round((last - began) / 1000)} s) …`);
  };
}
