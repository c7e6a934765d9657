/**
 * The sandbox bank as a child process. It is in a process group of its own, so that Ctrl-C reaches
 * only us and orders in hand can still be finished; it ends when we do, however we end.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Config } from "../config/config.ts";
import { Problem } from "../values/problem.ts";
import type { BankAddress } from "./demonstration.ts";

export type BankProcess = { readonly address: BankAddress; stop(): Promise<void> };

const program = join(import.meta.dirname, "../../sandbox-bank/main.ts");

export async function startBankProcess(config: Config): Promise<BankProcess | Problem> {
  const child = spawn(process.execPath, [program], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      GW_BANK_PORT: String(config.bankPort),
      GW_BANK_HOST_PORT: String(config.bankHostPort),
      GW_BANK_BINARY_HOST_PORT: String(config.bankBinaryHostPort),
      GW_BANK_DIRECTORY_PORT: String(config.bankDirectoryPort),
      GW_DATA_DIR: config.dataDir,
      GW_BANK_FOLLOW_STDIN: "1",
    },
  });
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-2000);
  });
  const address = await untilReady(child);
  if (address !== undefined) return { address, stop: () => stop(child) };
  return new Problem(
    `The sandbox bank did not start: ${complaint.trim()} ` +
      "Set GW_BANK_PORT, GW_BANK_HOST_PORT, GW_BANK_BINARY_HOST_PORT and " +
      "GW_BANK_DIRECTORY_PORT to free ports (0 takes any).",
  );
}

async function untilReady(child: ChildProcess): Promise<BankAddress | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const ready = parse(line);
    if (ready === undefined) continue;
    // Whatever else it says is not for us, but must not fill the pipe.
    child.stdout.resume();
    return { ...ready, url: ready.url.replace("127.0.0.1", "localhost") };
  }
  return undefined;
}

function parse(line: string): BankAddress | undefined {
  const [, url, host, binaryHost, directory] = saysReady.exec(line) ?? [];
  if (url === undefined || host === undefined) return undefined;
  if (binaryHost === undefined || directory === undefined) return undefined;
  return { url, host, binaryHost, directory };
}

const text = '"([^"]+)"';
const saysReady = new RegExp(
  `^\\{"bank":"ready","url":${text},"host":${text},"binaryHost":${text},"directory":${text}\\}$`,
);

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
