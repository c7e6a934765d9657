/** Ends a gateway's process, and the database that it leaves running when it was killed. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findEmbeddedUrl, startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";

const endsWithinMs = 120_000;

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), endsWithinMs);
  await ended;
  clearTimeout(late);
}

/** The same for a process that is somebody else's child. */
export async function endProcessById(id: number): Promise<void> {
  const giveUpAt = Date.now() + endsWithinMs;
  if (!send(id, "SIGTERM")) return;
  while (send(id, 0) && Date.now() < giveUpAt) await pause(50);
  send(id, "SIGKILL");
}

/** Takes a server that was left running over, and stops it. */
export async function stopDatabase(dataDir: string): Promise<void> {
  const folder = join(dataDir, "postgres");
  if (findEmbeddedUrl(folder) === undefined) return;
  const server = await startEmbedded({ folder, report: () => undefined });
  if (!(server instanceof Problem)) await server.stop();
}

function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    return false;
  }
}
