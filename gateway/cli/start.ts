/**
 * `gw start`, which `npm start` runs, starts the database, the gateway and, in staging, the sandbox
 * with the demonstration merchant. `gw serve` starts one gateway node and logs to standard output.
 * An installation with several nodes runs `gw serve` several times on the same database.
 */
import cluster, { type Worker } from "node:cluster";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { rehearsalNotice } from "../administration/installation/rehearsal.ts";
import { loadStaging } from "../administration/installation/staging.ts";
import { UnusableCertificate } from "../certificates/certificate-files.ts";
import {
  baseUrlOf,
  type Config,
  countWorkers,
  keyFromParent,
  nodeNamesOf,
  userName,
} from "../config/config.ts";
import { type Installation, openInstallation } from "../installation/installation.ts";
import { sendKeyTo } from "../installation/master-key.ts";
import { type Gateway, type ShareMetrics, startGateway } from "../main.ts";
import { makeLog, openStandardOutput } from "../observability/log.ts";
import { openRotatingLog } from "../observability/log-file.ts";
import {
  type MetricsChannel,
  makeMetricsExchange,
  shareMetrics,
} from "../observability/metrics.ts";
import { loadGates } from "../storage/configuration/configuration.ts";
import { markUsed } from "../storage/people/users.ts";
import { NodeNameTaken } from "../storage/server/presence.ts";
import { Problem } from "../values/problem.ts";
import { untilStopSignal } from "./command.ts";
import { findUnbuilt, refuseStart } from "./environment.ts";
import { ownCommand } from "./machine-command.ts";
import { admitTo } from "./rights.ts";

export const startCommands = [
  ownCommand({
    name: "start",
    right: "run",
    mode: "keys",
    run(_, { json }) {
      const report = makeReport(process.stdout, json);
      if (!process.env["GW_DATABASE_URL"]) report("Starting PostgreSQL …");
      return inInstallation("start", report, (installation) => start(installation, report));
    },
  }),
];

export const serveCommands = [
  ownCommand({
    name: "serve",
    right: "run",
    mode: "keys",
    async run(_, { json }) {
      const report = makeReport(process.stderr, json);
      const problem = await inInstallation("serve", report, (installation) =>
        serve(installation, report),
      );
      // A worker process that is connected to its parent process does not end, so it disconnects
      // when all its work is done, even after a failure.
      process.disconnect?.();
      return problem;
    },
  }),
];

type Report = (progress: string) => void;

function makeReport(stream: NodeJS.WriteStream, json: boolean): Report {
  return (progress) => void stream.write(`${json ? JSON.stringify({ progress }) : progress}\n`);
}

async function inInstallation(
  command: "start" | "serve",
  report: Report,
  run: (installation: Installation) => Promise<Problem | undefined>,
): Promise<Problem | undefined> {
  const place = { environment: process.env, report, besideOthers: false };
  const installation = await openInstallation({ ...place, admit: admitTo(command) });
  if (installation instanceof Problem) return installation;
  try {
    await markUsed(installation.database.query, installation.actor.who, userName());
    const refused = await refuseStart(installation);
    if (refused !== undefined) return refused;
    if (cluster.isPrimary) tellState(installation.config, report);
    return await run(installation);
  } finally {
    const isOwnServer = installation.config.databaseUrl === "";
    if (isOwnServer) await installation.close();
    else await endsWithin(closingMs, installation.close());
  }
}

function tellState({ environment, rehearsal }: Config, report: Report): void {
  if (rehearsal) report(rehearsalNotice);
  // In staging, `npm start` builds portal and documentation, so only production may lack them.
  for (const sentence of environment === "production" ? findUnbuilt() : []) report(sentence);
}

/** If `closing` exceeds the limit, the process exits even if connections are still open. */
async function endsWithin(limitMs: number, closing: Promise<unknown>): Promise<boolean> {
  const late = delay(limitMs, false, { ref: false });
  const isEnded = await Promise.race([closing.then(() => true), late]);
  if (!isEnded) setTimeout(() => process.exit(), closingMs).unref();
  return isEnded;
}

async function serve(installation: Installation, report: Report): Promise<Problem | undefined> {
  const node = await startNode(installation, installation.config.logFile || 1, report);
  if (node instanceof Problem) return node;
  const { port, adminPort, portalPort } = node;
  process.send?.({ listening: { port, adminPort } });
  const admin = adminPort === "" ? "" : `, health and figures on port ${adminPort}`;
  const portal = portalPort === port ? "" : `, the portal on port ${portalPort}`;
  report(`Listening on ${node.url} as ${node.node}${admin}${portal}`);
  await untilStopSignal();
  await node.stop();
  return undefined;
}

async function start(installation: Installation, report: Report): Promise<Problem | undefined> {
  const { config } = installation;
  const startedAt = Number(process.env["TOLLGATE_STARTED_AT"] ?? Date.now());
  const staging = await loadStaging(config);
  const sandbox = await staging?.startSandbox(installation, report);
  if (sandbox instanceof Problem) return sandbox;
  try {
    const signal = untilStopSignal();
    report("Starting the gateway …");
    const logFile = resolve(config.logFile || join(config.dataDir, "gateway.log"));
    const workers = countWorkers(config, await loadGates(installation.database.query));
    if (workers < countWorkers(config)) {
      report(`${workers} processes of ${countWorkers(config)}: a gate has no more connections.`);
    }
    const gateway = await (workers > 1
      ? startWorkers(installation, { workers, logFile })
      : startNode(installation, logFile, report));
    if (gateway instanceof Problem) return gateway;
    if (sandbox !== undefined) await sandbox.announce(gateway, startedAt, workers);
    else report(`Tollgate listens on ${baseUrlOf(config, gateway.port)}`);
    await signal;
    report("Stopping: finishing the orders in flight …");
    await gateway.stop();
    return undefined;
  } finally {
    await sandbox?.stop();
  }
}

/** How long a stopping node waits for its connections, after the wait for its orders in flight. */
const closingMs = 2_000;

const drainToldEveryMs = 2_000;

async function startNode(installation: Installation, logFile: string | 1, report: Report) {
  const { config } = installation;
  const destination = logFile === 1 ? openStandardOutput() : openFile(logFile, config, onDropped);
  const log = makeLog(config.logLevel, destination);
  try {
    const staging = (await loadStaging(config))?.makeStagingParts(installation);
    const shared = process.send && { shareMetrics: shareWithParent };
    const gateway = await startGateway({
      ...installation,
      opened: installation,
      log,
      staging,
      ...shared,
    });
    return {
      ...gateway,
      async stop() {
        const limitMs = config.drainMs + closingMs;
        const stopping = endsWithin(limitMs, gateway.stop());
        const tellDrain = () => {
          const count = gateway.countInFlight();
          const most = `${config.drainMs / 1000} s at most`;
          if (count > 0) report(`${gateway.node} waits for ${count} orders in flight, ${most}.`);
        };
        tellDrain();
        const timer = setInterval(tellDrain, drainToldEveryMs);
        const isEnded = await stopping;
        clearInterval(timer);
        if (!isEnded) log("node.stopped_unfinished", { afterMs: limitMs });
        await destination.stop();
      },
    };
  } catch (error) {
    await destination.stop();
    return explainStart(error, config);
  }

  function onDropped(count: number): void {
    log("log.lines_dropped", { count });
  }
}

const shareWithParent: ShareMetrics = (registry, node) =>
  shareMetrics(channelOf(process), registry, node);

type Ipc = {
  send?(message: object, sent: () => void): unknown;
  on(event: "message", receive: (message: object) => void): unknown;
};

function channelOf(ipc: Ipc): MetricsChannel {
  return {
    send: (message) => void ipc.send?.(message, () => undefined),
    on: (event, receive) => ipc.on(event, receive),
  };
}

function openFile(path: string, config: Config, onDropped: (count: number) => void) {
  const { logFileBytesMax: bytesMax, logKeepDays: keepDays } = config;
  return openRotatingLog(path, { bytesMax, keepDays, onDropped });
}

function explainStart(error: unknown, config: Config): Problem {
  if (error instanceof NodeNameTaken) {
    return new Problem(
      `This node does not start: ${error.message}. ` +
        "Set GW_NODE_NAME to a name that no other node has, or stop that node.",
    );
  }
  if (error instanceof UnusableCertificate) {
    return new Problem(
      `${error.message}. Check GW_TLS_CERTIFICATE_FILE and GW_TLS_KEY_FILE, which are PEM files.`,
    );
  }
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const port = error instanceof Error && "port" in error ? error.port : config.port;
  const named = {
    [config.adminPort]: "GW_ADMIN_PORT",
    [config.resultsPort]: "GW_RESULTS_PORT",
    [config.portalPort]: "GW_PORTAL_PORT",
  };
  const setting = named[String(port)] ?? "GW_PORT";
  switch (code) {
    case "EADDRINUSE":
      return new Problem(
        `Port ${port} is in use: stop the program that has it, or set ${setting} ` +
          "(0 takes a free one).",
      );
    case "EACCES":
      return new Problem(`Port ${port} may not be used by this user: set ${setting} above 1023.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Problem(
        `${config.host} is no address of this machine: set GW_HOST to one that is.`,
      );
    default:
      throw error;
  }
}

/**
 * Starts several processes on this machine, which share one port. Each process is a node with its
 * own links to acquirers. A process that ends unexpectedly is replaced.
 */
async function startWorkers(
  { config, databaseUrl, masterKey }: Installation,
  { workers, logFile }: { readonly workers: number; readonly logFile: string },
) {
  cluster.setupPrimary({
    exec: join(import.meta.dirname, "gw.ts"),
    args: ["serve"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let stopping = false;
  const exchange = makeMetricsExchange();
  const started = await Promise.all(Array.from({ length: workers }, (_, index) => startOne(index)));
  const ports = started.find((each) => each !== undefined);
  if (ports !== undefined) return { ...ports, stop };
  await stop();
  return new Problem("No gateway process could be started: see the lines above.");

  function startOne(index: number): Promise<Ports | undefined> {
    const worker = cluster.fork({
      GW_DATABASE_URL: databaseUrl,
      GW_NODE_NAME: `${nodeNamesOf(config)[0]}-worker-${index + 1}`,
      GW_WORKERS: "1",
      GW_LINK_SHARE: `${index + 1}/${workers}`,
      GW_LOG_FILE: logFile,
      [keyFromParent]: "1",
    });
    sendKeyTo(worker, masterKey);
    const channel = channelOf(worker);
    exchange.add(channel);
    const { promise, resolve: settle } = Promise.withResolvers<Ports | undefined>();
    let listening: Ports | undefined;
    worker.on("message", (message: { readonly listening?: Ports }) => {
      if (message.listening === undefined) return;
      listening = message.listening;
      settle(listening);
    });
    worker.once("exit", () => {
      settle(undefined);
      exchange.remove(channel);
      // A process that ended before it listened is not replaced: a new one would fail too.
      if (!stopping && listening !== undefined) void startOne(index);
    });
    return promise;
  }

  async function stop(): Promise<void> {
    stopping = true;
    const running = Object.values(cluster.workers ?? {}).filter((each): each is Worker => !!each);
    await Promise.all(running.map(end));
  }
}

type Ports = Pick<Gateway, "port" | "adminPort">;

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = new Promise((done) => worker.once("exit", done));
  worker.process.kill("SIGTERM");
  await ended;
}
