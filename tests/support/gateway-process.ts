/**
 * A gateway as a process: started like `npm start`, with a database, a bank and an installation
 * that it makes itself. It also has what such a process shares with a node of a world. Nothing
 * keeps running after its owner has ended, or when this process is killed.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { portsOfBank } from "./bank/bank-program.ts";
import { atEnd, type Test } from "./clean-up.ts";
import { startServerGuard, stopServerOf } from "./databases/gateway-server.ts";
import { makeFolder } from "./folder.ts";
import { extendProgram, migrateFirst, type Program, startProgram } from "./programs.ts";
import { isReady } from "./readiness.ts";
import { until } from "./until.ts";

export type GatewayProgram = Program & { readonly url: string; untilReady(): Promise<void> };
export type GatewayProcess = GatewayProgram & {
  /** The address from `demo.json` or, in production, from the line that says where it listens. */
  readonly baseUrl: string;
  readonly demo: Demo;
  readonly dataDir: string;
};

export type Demo = {
  readonly baseUrl: string;
  readonly merchant: { readonly login: string; readonly controlKey: string };
  readonly oauth: { readonly privateKeyFile: string };
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
  readonly bank: { readonly url: string; readonly host: string };
};

export type ProcessOptions = {
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** The command; by default without the preparation that `npm start` does before. */
  readonly command?: readonly string[];
  /** A folder of the caller. Without it one is made, and removed at the end. */
  readonly dataDir?: string;
};

/**
 * Settings for one process on every machine, because tests kill it by its id and read its log as
 * that of one node.
 */
const defaults = { GW_WORKERS: "1", GW_PORT: "0", GW_RESULTS_PORT: "0", ...portsOfBank() };

/**
 * Starts the gateway. A killed gateway leaves its database running, which the next process on the
 * folder adopts.
 */
export async function startProcess(
  t: Test,
  { env = {}, command = ["gateway/cli/gw.ts", "start"], dataDir: given }: ProcessOptions = {},
): Promise<GatewayProcess> {
  const dataDir = given ?? (await makeFolder(t, "process"));
  const settings = { ...defaults, ...env, GW_DATA_DIR: dataDir };
  if (env["GW_ENV"] === "production") await migrateFirst(settings);
  const program = startProgram(command, settings);
  const guard = startServerGuard(dataDir);
  atEnd(t, async () => {
    await program.stop();
    await stopServerOf(dataDir);
    guard.kill("SIGKILL");
  });

  const gateway = await untilUp(program, "start");
  const demo = await readDemo(dataDir);
  return extendProgram(gateway, {
    baseUrl: gateway.url,
    dataDir,
    get demo() {
      assert.ok(demo !== undefined, "there is no demo.json in production");
      return demo;
    },
  });
}

/**
 * The line that is printed when everything is up. A whole gateway also prints the lines of its
 * nodes.
 */
const saysUp = {
  serve: [/^Listening on (\S+) as/m],
  start: [
    /^Tollgate listens on (\S+)$/m,
    /^ *Gateway +(\S+?)\/$(?=[\s\S]*^Ctrl-C stops everything\.$)/m,
  ],
};

export async function untilUp(
  program: Program,
  command: keyof typeof saysUp,
): Promise<GatewayProgram> {
  const url = await until("the gateway is up", () => {
    const { isRunning, output } = program;
    if (!isRunning) throw new Error(`The gateway did not start:\n${output}`);
    return saysUp[command].map((pattern) => pattern.exec(output)?.[1]).find(Boolean);
  });
  const untilReady = async () => {
    await until("the gateway is ready", () => {
      const { isRunning, output } = program;
      if (!isRunning) throw new Error(`The gateway has ended:\n${output.slice(-4000)}`);
      return isReady(url);
    });
  };
  return extendProgram(program, { url, untilReady });
}

async function readDemo(dataDir: string): Promise<Demo | undefined> {
  const text = await readFile(join(dataDir, "demo.json"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}
