/**
 * The processes of a run: two gateway nodes that are started again whenever they end, a database
 * with a synchronous standby, the sandbox bank and a receiver of callbacks, with a line between any
 * two of them. Each database server has a small disk of its own where root may mount one.
 */
import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { startBankProgram } from "../support/bank/bank-program.ts";
import { findFreePort, startResultsBalancer } from "../support/bank/results-balancer.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { settingsOfNode, shortLease } from "../support/crash-world.ts";
import { type PairServer, startPair } from "../support/databases/database-pair.ts";
import { furnishPlace, makePlace, startLinesTo } from "../support/place.ts";
import { type Program, startGuard, startProgram } from "../support/programs.ts";
import { isReady } from "../support/readiness.ts";
import { type Answer, answerWith, type Heard, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { type Line, startLine } from "./line.ts";

export type ChaosWorld = Awaited<ReturnType<typeof startChaosWorld>>;
export type NodeSlot = ReturnType<typeof keepNode>;

const diskMib = 1_500;
const heapMib = 192;
const restartAfterMs = 500;
const callbackGaps = [0.5, 1, 1, ...Array(300).fill(2)];

// biome-ignore format: a table
const times = {
  ...shortLease,
  GW_ACCEPT_RETRY_S:               "3",
  GW_ACQUIRER_ECHO_AFTER_S:        "2",
  GW_CALLBACK_RETRY_GAPS_S:        callbackGaps.join(","),
  GW_CALLBACK_TIMEOUT_S:           "2",
  GW_DATABASE_CONNECT_TIMEOUT_S:   "1",
  GW_DATABASE_STATEMENT_TIMEOUT_S: "2",
  GW_DIRECTORY_TIMEOUT_S:          "3",
};

export async function startChaosWorld(t: Test) {
  const disks: string[] = [];
  const pair = await startPair(t, async (folder) => {
    await mkdir(folder, { mode: 0o711 });
    if (mountDisk(t, folder)) disks.push(folder);
  });
  const lineTo = async (target: Parameters<typeof startLine>[0]) => {
    const line = await startLine(target);
    atEnd(t, () => line.close());
    return line;
  };
  const lines = new Map<string, readonly Line[]>();
  const replication = await lineTo(pair.primary.target);
  lines.set("replication", [replication]);
  const follow = (standby: PairServer, primary: PairServer) => {
    replication.lead(primary.target);
    return standby.follow(primary, `host=127.0.0.1 port=${replication.port}`);
  };

  const place = await makePlace(t, {
    databaseUrl: pair.primary.url,
    startBank: (dataDir) => startBankProgram(t, dataDir),
  });
  const { acquirer, directory, address } = await startLinesTo(t, place.bank, startLine);
  lines.set("acquirer", [acquirer]).set("directory", [directory]);
  const results = await startResultsBalancer(t);
  const { set, installation } = await furnishPlace(t, place, { address });
  await installation.close();
  await follow(pair.standby, pair.primary);

  const nodes = new Map<string, NodeSlot>();
  for (const name of ["left", "right"]) {
    const servers = [await lineTo(pair.primary.target), await lineTo(pair.standby.target)];
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const port = await findFreePort();
    const merchants = await lineTo({ host: "127.0.0.1", port });
    lines.set(`${name}-database`, servers).set(`merchants-${name}`, [merchants]);
    const node = keepNode(`http://127.0.0.1:${merchants.port}`, {
      ...(await settingsOfNode(place, results)),
      ...times,
      GW_DATABASE_URL: `postgres://tollgate:${pair.primary.password}@${hosts}/tollgate`,
      GW_NODE_NAME: name,
      GW_PORT: String(port),
      NODE_OPTIONS: `--max-old-space-size=${heapMib} --import=${import.meta.dirname}/balloon.ts`,
    });
    atEnd(t, () => node.end());
    nodes.set(name, node);
  }
  await Promise.all(
    [...nodes.values()].map(({ url }) => until("a node is ready", () => isReady(url))),
  );
  const accepted: Heard[] = [];
  const accept: Answer = (response, heard) => {
    accepted.push(heard);
    answerWith(200)(response, heard);
  };
  const receiver = await startReceiver(t, accept);
  return {
    ...place,
    set,
    lines,
    nodes,
    follow,
    receiver,
    accept,
    /** Callbacks that were answered with 200. */
    accepted,
    /** The primary and the standby, which change roles. */
    database: { primary: pair.primary, standby: pair.standby },
    diskOf: (server: PairServer) => disks.find((disk) => disk === server.folder),
  };
}

/** Keeps a node running like a supervisor: a node that ends is started again. */
function keepNode(url: string, settings: Readonly<Record<string, string>>) {
  const programs: Program[] = [];
  const unasked: string[] = [];
  let isKept = true;
  let isAsked = false;
  let held: Promise<unknown> = Promise.resolve();
  const running = keep();

  async function keep(): Promise<void> {
    while (isKept) {
      const program = startProgram(["gateway/cli/gw.ts", "serve"], settings);
      programs.push(program);
      isAsked = false;
      while (program.isRunning) await pause(20);
      // A node that finds no database at its start ends by itself.
      const hasStarted = program.output.includes("\nListening on ");
      if (!isAsked && hasStarted)
        unasked.push(`${settings["GW_NODE_NAME"]}: ${program.output.slice(-1500)}`);
      await held;
      await pause(restartAfterMs);
    }
  }

  const send = (name: NodeJS.Signals) => void programs.at(-1)?.child.kill(name);
  return {
    url,
    programs,
    /** The last output of processes that ended without a fault. */
    unasked,
    stop: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
    /** Kills the process, and starts it again after this time. */
    kill(forMs: number): Promise<unknown> {
      isAsked = true;
      held = pause(forMs);
      send("SIGKILL");
      return held;
    },
    fillMemory(): void {
      isAsked = true;
      send("SIGUSR2");
    },
    async end(): Promise<void> {
      isKept = false;
      isAsked = true;
      await programs.at(-1)?.kill();
      await running;
    },
  };
}

function mountDisk(t: Test, folder: string): boolean {
  try {
    const options = `size=${diskMib}m,mode=711`;
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return false;
  }
  const guard = startGuard('sleep 2; umount -l "$0"', folder);
  atEnd(t, () => {
    execFileSync("umount", ["-l", folder]);
    guard.kill("SIGKILL");
  });
  return true;
}
