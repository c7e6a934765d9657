/**
 * Several gateway processes on this machine, sharing one port. Each is a node of its own with links
 * of its own; one that ends unexpectedly is replaced.
 */
import cluster, { type Worker } from "node:cluster";
import { openSync } from "node:fs";
import { join, resolve } from "node:path";
import { keyFromParent } from "../config/config.ts";
import { Problem } from "../values/problem.ts";
import type { Installation } from "./installation.ts";
import { handKeyTo } from "./master-key.ts";
import { rotate } from "./rotate.ts";

export type Workers = { readonly port: number; stop(): Promise<void> };

export async function startWorkers({
  config,
  databaseUrl,
  masterKey,
}: Installation): Promise<Workers | Problem> {
  const log = openSync(await rotate(join(resolve(config.dataDir), "gateway.log")), "a");
  cluster.setupPrimary({
    exec: join(import.meta.dirname, "gw.ts"),
    args: ["serve"],
    stdio: ["ignore", log, "inherit", "ipc"],
  });
  let stopping = false;
  const first = await Promise.all(
    Array.from({ length: config.workers }, (_, index) => startOne(index)),
  );
  const port = first.find((each) => each !== undefined);
  if (port === undefined) {
    await stop();
    return new Problem("No gateway process could be started: see the lines above.");
  }
  return { port, stop };

  function startOne(index: number): Promise<number | undefined> {
    const worker = cluster.fork({
      GW_DATABASE_URL: databaseUrl,
      GW_NODE_NAME: `${config.nodeName}-worker-${index + 1}`,
      GW_WORKERS: "1",
      [keyFromParent]: "1",
    });
    handKeyTo(worker, masterKey);
    return new Promise((listening) => {
      let port: number | undefined;
      worker.on("message", (message: { readonly listening?: number }) => {
        if (message.listening === undefined) return;
        port = message.listening;
        listening(port);
      });
      worker.once("exit", () => {
        listening(undefined);
        // One that never listened would only fail again.
        if (!stopping && port !== undefined) void startOne(index);
      });
    });
  }

  async function stop(): Promise<void> {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((each): each is Worker => !!each);
    await Promise.all(workers.map(end));
  }
}

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.process.kill("SIGTERM");
  await ended;
}
