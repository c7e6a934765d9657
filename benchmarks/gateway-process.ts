/**
 * The gateway under test: `gw start` on a fresh folder, with PostgreSQL and the sandbox bank as it
 * starts them itself and every setting at its default. It gets one signal and the time to end
 * cleanly; one that does not is killed together with its database.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findEmbeddedUrl } from "../gateway/storage/embedded.ts";
import type { Target } from "./requests.ts";

export type GatewayProcess = {
  readonly target: Target;
  /** The same merchant's endpoint that does 3-D Secure. */
  readonly secure: Target;
  readonly bankUrl: string;
  readonly databaseUrl: string;
  readonly logFile: string;
  readMemoryBytes(): number;
};

const program = join(import.meta.dirname, "../gateway/cli/gw.ts");
const endWithinMs = 60_000;

export async function startGatewayProcess(
  folder: string,
  { stack, nodeFlags }: { stack: AsyncDisposableStack; nodeFlags: readonly string[] },
): Promise<GatewayProcess> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  // With the flags that this process was started with: they are those of `npm start`.
  const flags = [...process.execArgv, ...nodeFlags];
  const child = spawn(process.execPath, [...flags, program, "start"], {
    // Its own process group: of a Ctrl-C it must see one signal, ours, or it would end at once.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...withoutSettings(process.env),
      GW_DATA_DIR: folder,
      GW_PORT: "0",
      GW_RESULTS_PORT: "0",
      GW_BANK_DIRECTORY_PORT: "0",
      GW_BANK_PORT: "0",
      GW_BANK_HOST_PORT: "0",
      GW_BANK_BINARY_HOST_PORT: "0",
    },
  });
  stack.defer(() => stop(child, folder));
  await untilUp(child);
  const { pid } = child;
  const databaseUrl = findEmbeddedUrl(join(folder, "postgres"));
  if (pid === undefined || databaseUrl === undefined) throw new Error("no gateway, no database");
  return {
    ...readDemonstration(join(folder, "demo.json")),
    databaseUrl,
    logFile: join(folder, "gateway.log"),
    readMemoryBytes: () => readMemoryBytes(pid),
  };
}

/** What somebody set for a gateway of his own is not what is measured here. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^GW_/.test(name)));
}

function untilUp(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  const listen = (chunk: unknown) => {
    said = `${said}${chunk}`.slice(-10_000);
    if (/^Tollgate is up/m.test(said)) resolve();
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  child.once("error", reject);
  child.once("exit", () => reject(new Error(`the gateway did not start:\n${said}`)));
  return promise;
}

function readDemonstration(file: string): Pick<GatewayProcess, "target" | "secure" | "bankUrl"> {
  const { baseUrl, merchant, endpoints, bank } = JSON.parse(readFileSync(file, "utf8"));
  const target = {
    port: Number(new URL(String(baseUrl)).port),
    endpoint: String(endpoints.plain),
    login: String(merchant.login),
    controlKey: String(merchant.controlKey),
  };
  return {
    target,
    secure: { ...target, endpoint: String(endpoints.secure) },
    bankUrl: String(bank.url),
  };
}

function readMemoryBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return Number(kilobytes) * 1024;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", () => resolve("ended")));
  child.kill("SIGTERM");
  const late = new Promise((resolve) => setTimeout(resolve, endWithinMs, "late").unref());
  if ((await Promise.race([ended, late])) === "ended") return;

  // The bank ends with its parent; PostgreSQL is made to outlive it and must be told.
  const postmaster = readPostmaster(join(folder, "postgres", "postmaster.pid"));
  child.kill("SIGKILL");
  await ended;
  if (postmaster !== undefined) process.kill(postmaster, "SIGQUIT");
}

function readPostmaster(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}
