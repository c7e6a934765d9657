/**
 * A whole gateway as a process, as `npm start` runs it: database, bank and gateway on free ports.
 * Nothing keeps running after the file's last test, nor when the test process is killed.
 */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "./clean-up.ts";
import { startServerGuard, stopServerOf } from "./databases/database-server.ts";
import { endOfFile } from "./end-of-file.ts";
import { extendProgram, migrateFirst, type Program, startProgram } from "./programs.ts";
import { until } from "./until.ts";

export type GatewayProcess = Program & {
  /** As `demo.json` or, in production, the line that says where it listens has it. */
  readonly baseUrl: string;
  readonly demo: Demo;
  readonly dataDir: string;
};

export type Demo = {
  readonly baseUrl: string;
  readonly merchant: { readonly login: string; readonly controlKey: string };
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
  readonly bank: { readonly url: string; readonly host: string };
};

export type ProcessOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** What is run; by default without what `npm start` does before. */
  readonly command?: readonly string[];
  /** A folder of the caller's; without it one is made, and removed at the end. */
  readonly dataDir?: string;
};

/** One process on every machine: tests kill it by its id, and read its log as one node's. */
const defaults = {
  GW_WORKERS: "1",
  GW_PORT: "0",
  GW_RESULTS_PORT: "0",
  GW_BANK_DIRECTORY_PORT: "0",
  GW_BANK_PORT: "0",
  GW_BANK_HOST_PORT: "0",
  GW_BANK_BINARY_HOST_PORT: "0",
  GW_BANK_ISO93_HOST_PORT: "0",
};

/** A killed gateway leaves its database running, and the next process on the folder adopts it. */
export async function startProcess(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? (await makeFolder());
  const settings = { ...defaults, ...options.env, GW_DATA_DIR: dataDir };
  if (options.env?.["GW_ENV"] === "production") await migrateFirst(settings);
  const { command = ["gateway/cli/gw.ts", "start"] } = options;
  const program = startProgram(command, settings);
  const guard = startServerGuard(join(dataDir, "postgres"));
  // Not when a test ends: a process may be killed, and another one of a later test follow it.
  atEnd(endOfFile, async () => {
    await program.stop();
    await stopServerOf(dataDir);
    guard.kill("SIGKILL");
  });

  const baseUrl = await until("the gateway is up", () => findAddress(program));
  const demo = await readDemo(dataDir);
  return extendProgram(program, {
    baseUrl,
    dataDir,
    get demo() {
      assert.ok(demo !== undefined, "there is no demo.json in production");
      return demo;
    },
  });
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-process-"));
  atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
  // PostgreSQL never runs as root: its user must be able to enter the folder.
  await chmod(folder, 0o711);
  return folder;
}

/** Printed when everything is up. */
function findAddress({ isRunning, output }: Program): string | undefined {
  if (!isRunning) throw new Error(`The gateway did not start:\n${output}`);
  const [, listening] = /^Tollgate listens on (\S+)$/m.exec(output) ?? [];
  const [, shown] = /^ *Gateway +(\S+?)\/$/m.exec(output) ?? [];
  return listening ?? (output.includes("Ctrl-C stops everything.") ? shown : undefined);
}

async function readDemo(dataDir: string): Promise<Demo | undefined> {
  const text = await readFile(join(dataDir, "demo.json"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}
