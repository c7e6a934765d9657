/** The PostgreSQL that a gateway has started for itself, in its data folder. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { findEmbeddedUrl, startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import { startGuard } from "../programs.ts";

/** Returns the address of the server, or undefined if it does not run. */
export function findServerOf(dataDir: string): string | undefined {
  return findEmbeddedUrl(join(dataDir, "postgres"));
}

/** Stops a server that a killed gateway has left running. */
export async function stopServerOf(dataDir: string): Promise<void> {
  if (findServerOf(dataDir) === undefined) return;
  const folder = join(dataDir, "postgres");
  const server = await startEmbedded({ folder, report: () => undefined });
  if (!(server instanceof Problem)) await server.stop();
}

/**
 * Starts a guard that stops the server when this process has ended, after the gateway that would
 * restart it.
 */
export function startServerGuard(dataDir: string): ChildProcess {
  const file = join(dataDir, "postgres", "postmaster.pid");
  return startGuard('sleep 1; kill -INT "$(head -n 1 "$0")"', file);
}
