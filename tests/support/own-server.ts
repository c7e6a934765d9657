/** A PostgreSQL for one test alone, which may kill it: whoever started it starts it again. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEmbeddedUrl, startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import { startGuard } from "./program.ts";
import { until } from "./until.ts";
import type { Test } from "./world.ts";

export type OwnServer = {
  readonly url: string;
  /** Resolves when another process has taken the killed one's place and answers. */
  killAndAwaitNext(): Promise<void>;
  /** The same after it was stopped as an operator does, who waits for nobody. */
  stopAndAwaitNext(): Promise<void>;
};

export async function startOwnServer(t: Test): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-crash-server-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const options = { folder: join(folder, "postgres"), report: () => undefined };
  const server = await startEmbedded(options);
  if (server instanceof Problem) throw new Error(server.sentence);
  const guard = startGuard('kill -INT "$(head -n 1 "$0")"', join(options.folder, "postmaster.pid"));
  t.after(async () => {
    await server.stop();
    guard.kill("SIGKILL");
  });
  const endAndAwaitNext = async (signal: "SIGKILL" | "SIGINT") => {
    const ended = server.pid;
    process.kill(ended, signal);
    await until("PostgreSQL is started again", () =>
      server.pid === ended ? undefined : server.pid,
    );
  };
  return {
    url: server.url,
    killAndAwaitNext: () => endAndAwaitNext("SIGKILL"),
    stopAndAwaitNext: () => endAndAwaitNext("SIGINT"),
  };
}

/** The address of the server that a gateway has started for itself; nothing when it is gone. */
export function findServerOf(dataDir: string): string | undefined {
  return findEmbeddedUrl(join(dataDir, "postgres"));
}
