/**
 * `npm test`: checks types, format and lint, then runs every test of the workspaces, with as many
 * files at a time as keep two cores busy. A group (`npm test -- scenarios`) or a file (`npm test --
 * path/x.test.ts`) can run alone. `npm test -- long` runs what is too slow for that: the slow
 * groups, and the long form of the files that have one. `npm test -- citus` runs the scenarios on
 * the Citus cluster whose coordinator GW_TEST_CITUS_URL names.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { constants, freemem, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import { settingsForTests } from "@tollgate/gateway/settings-for-tests";
import {
  browserPackage,
  browserSetting,
  chooseBrowser,
  installBrowser,
  thisMachine,
} from "./find-browser.ts";
import { runInLanes, shareProcesses } from "./lanes.ts";
import { makeTally, runFiles, type Tally } from "./run-files.ts";
import {
  citus,
  filesOf,
  findTests,
  type Group,
  groups,
  isGroup,
  isWanted,
  long,
} from "./test-groups.ts";
import { describeTimes, startTimes, writeTimes } from "./times.ts";

type Step = { readonly name: string; readonly program: string; readonly parameters: string[] };
const root = resolve(import.meta.dirname, "..");
const timesFile = join(root, "tests/results/times.json");

/** Several checkers would each compute the types that files share. */
const checkTypes = ["--noEmit", "--checkers", "1"];

const steps: readonly Step[] = [
  { name: "types", program: "typescript/bin/tsc", parameters: [...checkTypes, "-p", "."] },
  {
    name: "portal's types",
    program: "typescript/bin/tsc",
    parameters: [...checkTypes, "-p", "portal"],
  },
  { name: "format and lint", program: "@biomejs/biome/bin/biome", parameters: ["check"] },
];

const longMinutes = 60;

/** The memory that the databases of a whole run need, with room for the programs beside them. */
const roomBytes = 14 * 2 ** 30;

const stopping = new AbortController();
let stopDatabase = async (): Promise<void> => undefined;

process.chdir(root);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void leave(signal));
process.exitCode = await main(process.argv.slice(2));

async function main(wanted: readonly string[]): Promise<number> {
  const tally = makeTally();
  const times = startTimes(root);
  const unknown = wanted.filter((name) => !isGroup(name) && !fs.existsSync(name));
  if (unknown.length > 0) {
    say(`There is no group and no test file called ${unknown.join(", ")}; the groups are:`);
    say([...groups.map(({ name }) => name), long, citus.name].join(", "));
    return close({ ...tally, failed: unknown.length });
  }
  if (wanted.length === 0) {
    for (const failed of await Promise.all(steps.map(runStep))) tally.failed += failed;
    tally.failed += complainOfStrays();
  }
  if (wanted.includes(long)) process.env["TOLLGATE_LONG"] = "yes";
  const jobs = groups.flatMap((group) => jobsOf(group, (file) => isWanted(file, group, wanted)));
  const needsBrowser = jobs.some(({ name }) => name === "browser");
  const withoutBrowser = needsBrowser ? prepareBrowser() : undefined;
  await runAll(jobs, tally);
  if (wanted.length === 0 || wanted.includes(citus.name)) await runOnCitus(tally);
  await stopDatabase();
  const took = times.end();
  if (wanted.length === 0 || wanted.includes(long)) writeTimes(timesFile, took);
  say(`\n${describeTimes(took)}`);
  // Failures are repeated at the end of the log, where readers look first.
  for (const fault of tally.faults) say(`\n${fault}`);
  if (withoutBrowser !== undefined) say(`\nThe browser tests were skipped: ${withoutBrowser}.`);
  return close(tally);
}

async function runAll(jobs: readonly Job[], tally: Tally): Promise<void> {
  if (jobs.length > 0) await startDatabase();
  const { signal } = stopping;
  await runInLanes(jobs, async ({ files, minutes }) => {
    if (!signal.aborted) await runFiles({ files, minutes, tally, say, signal });
  });
}

/** Finds a browser, and installs one where that is possible. Returns advice if there is none. */
function prepareBrowser(): string | undefined {
  const choice = chooseBrowser(thisMachine());
  if (choice.kind === "packaged") return undefined;
  if (choice.kind === "program") {
    process.env[browserSetting] = choice.path;
    return undefined;
  }
  const advice = `install Chromium, Chrome or Edge, or name its program in ${browserSetting}`;
  if (choice.kind === "none") return advice;
  say(`No browser is installed: installing ${browserPackage} for the browser tests …`);
  const problem = installBrowser();
  if (problem !== undefined) return `${advice}; apt-get failed: ${problem}`;
  const installed = chooseBrowser(thisMachine());
  if (installed.kind !== "program") return advice;
  process.env[browserSetting] = installed.path;
  return undefined;
}

/** Runs the tests on Citus. They come last, because this process uses the cluster from then on. */
async function runOnCitus(tally: Tally): Promise<void> {
  if (process.env["GW_TEST_CITUS_URL"] === undefined) {
    tally.skipped += 1;
    return say("– citus: skipped, because GW_TEST_CITUS_URL names no coordinator of a cluster");
  }
  await stopDatabase();
  const folder = fs.mkdtempSync(join(tmpdir(), `tollgate-check-${process.pid}-`));
  process.env["TOLLGATE_TEST_FOLDER"] = folder;
  process.env["TOLLGATE_ON_CITUS"] = "yes";
  stopDatabase = async () => fs.rmSync(folder, { recursive: true, force: true });
  // A test file that freezes a worker runs alone on the cluster.
  const isAlone = (file: string) => file.startsWith("tests/citus");
  const alone = jobsOf({ ...citus, lane: "alone" }, isAlone);
  await runAll([...jobsOf(citus, (file) => !isAlone(file)), ...alone], tally);
}

/** Starts one PostgreSQL for all files of a run. A file that runs without it starts its own. */
async function startDatabase(): Promise<void> {
  if (process.env["TOLLGATE_TEST_FOLDER"] !== undefined) return;
  const folder = fs.mkdtempSync(join(findRoom(), `tollgate-check-${process.pid}-`));
  // The database runs as another user if root runs the tests.
  fs.chmodSync(folder, 0o711);
  // Connections need no password: with thousands of them, checking passwords would take a twelfth
  // of the server's time.
  const rules = join(folder, "pg_hba.conf");
  fs.writeFileSync(rules, "local all all trust\n");
  const server = await startEmbedded({
    folder: join(folder, "postgres"),
    report: () => undefined,
    settings: { ...settingsForTests, hba_file: rules },
  });
  if (server instanceof Problem) throw new Error(server.sentence);
  process.env["TOLLGATE_TEST_FOLDER"] = folder;
  stopDatabase = async () => {
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
}

/**
 * Returns a folder in memory if there is enough, because a run creates and deletes hundreds of
 * databases.
 */
function findRoom(): string {
  const memory = "/dev/shm";
  if (!fs.existsSync(memory)) return tmpdir();
  deleteLeftOvers(memory);
  const { bavail, bsize } = fs.statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= roomBytes ? memory : tmpdir();
}

/** Deletes the folders of runs that were killed. The name of a folder has the id of its process. */
function deleteLeftOvers(memory: string): void {
  for (const folder of fs.globSync(join(memory, "tollgate-check-*-*"))) {
    const pid = folder.split("-").at(-2);
    if (fs.existsSync(`/proc/${pid}`)) continue;
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Stops the tests and the database after a signal, so that nothing keeps running. */
async function leave(signal: "SIGINT" | "SIGTERM"): Promise<never> {
  say(`\nThe run is stopped by ${signal}.`);
  stopping.abort();
  await stopDatabase();
  process.exit(128 + constants.signals[signal]);
}

/**
 * Prints the counts and returns the exit code. A run without any test fails, because it proves
 * nothing.
 */
function close({ passed, failed, skipped }: Tally): number {
  const nothing = passed + failed + skipped === 0;
  if (nothing) say("\nNo test was run.");
  say(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed > 0 || nothing ? 1 : 0;
}

async function runStep({ name, program, parameters }: Step): Promise<0 | 1> {
  const began = Date.now();
  const child = spawn(process.execPath, [join("node_modules", program), ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  const code = await new Promise((done) => child.on("close", done));
  say(`${code === 0 ? "✔" : "✖"} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  if (code === 0) return 0;
  say(output.trim());
  return 1;
}

/** Complains of tests that belong to no group, because they would never run. */
function complainOfStrays(): number {
  const known = new Set([...groups, citus].flatMap(filesOf));
  const strays = findTests(".").filter((file) => !known.has(file));
  for (const file of strays) say(`✖ ${file} belongs to no group of tools/test-groups.ts`);
  return strays.length;
}

type Job = Pick<Group, "name" | "lane" | "minutes"> & { readonly files: readonly string[] };

function jobsOf(group: Group, isWanted: (file: string) => boolean): readonly Job[] {
  const wanted = filesOf(group).filter(isWanted);
  const processes = group.lane === "works" ? shareProcesses(wanted) : wanted.map((file) => [file]);
  const isLongRun = process.env["TOLLGATE_LONG"] !== undefined;
  const minutes = isLongRun ? longMinutes : group.minutes;
  return processes.map((files) => ({ ...group, minutes, files }));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
