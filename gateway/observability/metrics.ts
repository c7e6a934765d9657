/**
 * The metrics of a node, and of the processes that share its port, in Prometheus text. One object
 * is made per process.
 */
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from "prom-client";

const inMilliseconds = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 30_000];
const sizeBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export type Metrics = ReturnType<typeof makeMetrics>;

type ByName = ReadonlyMap<string, number>;

type Watched = {
  readonly inFlight: () => number;
  readonly clockSkewMs: () => number;
  readonly inDoubt: () => Promise<number>;
  readonly callbacksOverdue: () => Promise<number>;
  readonly diskFree: () => Promise<number>;
  readonly cardRanges: () => number;
  readonly listEntries: () => number;
  readonly backupAgeS: () => Promise<number>;
  readonly onHold: () => number;
  readonly isRehearsal: () => number;
  readonly auditEntries: () => Promise<ByName>;
  readonly unfinishedBytes: () => number;
  readonly connectionsUp: () => ByName;
  readonly connections: () => ByName;
  readonly gateShares: () => ByName;
  readonly gateCertificateDays: () => Promise<ByName>;
  readonly certificateDays: () => Promise<ByName>;
  readonly certificateUnusable: () => number;
};

export function makeMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // biome-ignore format: a table
  const measured = {
    requests:   counter("tollgate_requests_total",          "requests of merchants by operation, type of answer and error code", ["operation", "type", "code"]),
    requestMs:  histogram("tollgate_request_duration_ms",   "from request to answer",                         ["operation"]),
    stages:     counter("tollgate_order_stages_total",      "steps of orders, by the stage that they led to", ["kind", "stage"]),
    commitMs:   histogram("tollgate_commit_duration_ms",    "statements of the commit queue",                 ["queue"]),
    commitSize: histogram("tollgate_commit_batch_size",     "orders per statement of the commit queue",       ["queue"], sizeBuckets),
    acquirerMs: histogram("tollgate_acquirer_answer_ms",    "from message to answer",                         ["gate", "mti"]),
    unreadable: counter("tollgate_acquirer_messages_unreadable_total", "messages of hosts that were not read or not believed", ["gate", "reason"]),
    walletMs:   histogram("tollgate_wallet_opening_ms",     "opening of wallets' tokens",                     ["wallet"]),
    callbackMs: histogram("tollgate_callback_ms",           "from callback to answer",                        ["outcome"]),
    httpRefused: counter("tollgate_http_refused_total",     "connections, requests and bodies that a bound of the HTTP server refused", ["cause"]),
    refusalsDropped: counter("tollgate_refusals_dropped_total", "refused requests that were not kept for the portal, because there were too many"),
    policyReports: counter("tollgate_page_policy_reports_total", "browsers' reports that the payment page's policy has stopped something", ["directive"]),
    destroyed:  counter("tollgate_cards_destroyed_total",   "card numbers that were destroyed, by the reason", ["why"]),
    findings:   counter("tollgate_screening_findings_total", "screening rules that fired, by what they did, and that could not tell (`no_data`)", ["kind", "scope", "did"]),
    headsLost:  counter("tollgate_audit_heads_unpublished_total", "signed heads of the audit that could not be written outside of the database"),
    alarms:     counter("tollgate_doubt_alarms_total",      "alarms raised for orders that have been in doubt for long, and for refused reversals"),
  };

  return {
    registry,
    /** Measurements that are made when the metrics are read. */
    watch(read: Watched): void {
      gauge("tollgate_orders_in_flight", "orders in flight on this node", read.inFlight);
      gauge(
        "tollgate_clock_skew_ms",
        "by how much this node's own clock is ahead of the database's",
        read.clockSkewMs,
      );
      gauge("tollgate_orders_in_doubt", "orders with a transaction in doubt", read.inDoubt);
      gauge(
        "tollgate_callbacks_overdue",
        "callbacks that should have been sent a minute ago or earlier",
        read.callbacksOverdue,
      );
      gauge(
        "tollgate_disk_free_bytes",
        "free space where the data folder or the log has least",
        read.diskFree,
      );
      const byGate = gaugeBy("gate");
      byGate("tollgate_gate_connections_up", "connections that are up", read.connectionsUp);
      byGate("tollgate_gate_connections", "connections that are wanted", read.connections);
      byGate(
        "tollgate_gate_share",
        "the share of its orders that a gate gets: 1 while it is healthy",
        read.gateShares,
      );
      byGate(
        "tollgate_gate_certificate_days",
        "until the gateway's client certificate expires",
        read.gateCertificateDays,
      );
      gaugeBy("of")(
        "tollgate_certificate_days",
        "until a certificate of a port, or one for a directory server, expires",
        read.certificateDays,
      );
      gauge(
        "tollgate_tls_files_unusable",
        "1 while the new files of the merchant port's certificate cannot be used",
        read.certificateUnusable,
      );
      gauge(
        "tollgate_http_unfinished_body_bytes",
        "bytes of request bodies that have not arrived whole",
        read.unfinishedBytes,
      );
      gauge("tollgate_list_entries", "entries of allow and block lists", read.listEntries);
      gauge(
        "tollgate_backup_age_seconds",
        "since the moment of the latest backup by `gw backup`; NaN while there is none",
        read.backupAgeS,
      );
      gauge("tollgate_on_hold", "1 while the installation is on hold, else 0", read.onHold);
      gauge("tollgate_rehearsal", "1 where GW_REHEARSAL is on, else 0", read.isRehearsal);
      gaugeBy("kind")(
        "tollgate_audit_last_hour",
        "entries of the audit within the last hour, of kinds that an operator should hear of",
        read.auditEntries,
      );
      gauge("tollgate_card_ranges", "card ranges that this node has in memory", read.cardRanges);
    },
    ...measured,
  };

  function counter(name: string, help: string, labelNames: string[] = []) {
    return new Counter({ name, help, labelNames, registers });
  }

  function histogram(name: string, help: string, labelNames: string[], buckets = inMilliseconds) {
    return new Histogram({ name, help, labelNames, buckets, registers });
  }

  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await inTime(read)) ?? Number.NaN);
      },
    });
  }

  function gaugeBy(label: string) {
    return (name: string, help: string, read: () => ByName | Promise<ByName>): void => {
      new Gauge({
        name,
        help,
        registers,
        labelNames: [label],
        async collect() {
          const values = (await inTime(read)) ?? [];
          // A removed gate has no figures.
          this.reset();
          for (const [each, value] of values) this.set({ [label]: each }, value);
        },
      });
    };
  }
}

const readWithinMs = 1_000;

/**
 * A figure that cannot be read now, for example because the database is unreachable, does not delay
 * the others.
 */
async function inTime<Value>(read: () => Value | Promise<Value>): Promise<Value | undefined> {
  const late = delay(readWithinMs, undefined, { ref: false });
  return Promise.race([Promise.try(read).catch(() => undefined), late]);
}

type Places = { readonly dataDir: string; readonly logFile: string };

/** Returns the free space of the data folder or the log folder, whichever is less. */
export async function findLeastFree({ dataDir, logFile }: Places): Promise<number> {
  const folders = [resolve(dataDir), ...(logFile === "" ? [] : [dirname(resolve(logFile))])];
  return Math.min(...(await Promise.all(folders.map(findFree))));
}

/** The free space in bytes, for the user of this process. */
export async function findFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

type NamedDays = readonly [name: string, left: number | undefined];

/** Returns the days until existing certificates expire, by name. */
export function listDays(days: readonly NamedDays[]): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const [name, left] of days) if (left !== undefined) known.set(name, left);
  return known;
}

/** If a source is unreachable, it has no figure, and the others are shown nevertheless. */
export async function orNone(read: () => Promise<number | undefined>): Promise<number> {
  return (await read().catch(() => undefined)) ?? Number.NaN;
}

/** The numbers of links that are up, and that should be. */
type Connections = ReadonlyMap<string, { readonly up: number; readonly wanted: number }>;

/** Makes the figures of connections by gate. */
export function linkFigures(connections: () => Connections) {
  const countOf = (which: "up" | "wanted") => () =>
    new Map([...connections()].map(([gate, count]) => [gate, count[which]]));
  return { connectionsUp: countOf("up"), connections: countOf("wanted") };
}

/** Messages between a process and its parent, in both directions. */
type Message = {
  /** From a worker: it requests the metrics of all workers. From the parent: it sends them. */
  readonly allFigures?: { readonly scrape: number; readonly text?: string };
  /** From the parent: it requests a worker's metrics. From a worker: it sends them. */
  readonly ownFigures?: { readonly round: number; readonly metrics?: object[] };
};

/**
 * Combines the figures of several processes that share one port. A scrape reaches any one of them,
 * which asks its parent process, which asks them all. Every figure keeps the name of its node: in a
 * sum, the counters of a process that ends would be missing, and its successor's would be counted
 * twice.
 */
export type MetricsChannel = {
  /** Sends a message. It has no effect if the other process has ended. */
  send(message: Message): void;
  on(event: "message", receive: (message: Message) => void): unknown;
};

/** A process that hangs does not hold up the figures of the others. */
const answerWithinMs = 2_000;

/**
 * Runs in a process that shares its port. It answers its parent, and asks it for the figures of all
 * processes.
 */
export function shareMetrics(parent: MetricsChannel, registry: Registry, node: string) {
  const scrapes = new Map<number, (text: string) => void>();
  let latest = 0;
  registry.setDefaultLabels({ node });
  parent.on("message", ({ allFigures, ownFigures }) => {
    if (ownFigures !== undefined) void tell(ownFigures.round);
    if (allFigures?.text === undefined) return;
    scrapes.get(allFigures.scrape)?.(allFigures.text);
    scrapes.delete(allFigures.scrape);
  });

  return (): Promise<string> => {
    latest += 1;
    const scrape = latest;
    const { promise, resolve } = Promise.withResolvers<string>();
    scrapes.set(scrape, resolve);
    parent.send({ allFigures: { scrape } });
    return promise;
  };

  async function tell(round: number): Promise<void> {
    parent.send({ ownFigures: { round, metrics: await registry.getMetricsAsJSON() } });
  }
}

/** Runs in the parent process. */
export function makeMetricsExchange() {
  const processes = new Set<MetricsChannel>();
  const rounds = new Map<number, (metrics: object[]) => void>();
  let latest = 0;

  return {
    add(process: MetricsChannel): void {
      processes.add(process);
      process.on("message", ({ allFigures, ownFigures }) => {
        if (ownFigures?.metrics !== undefined) rounds.get(ownFigures.round)?.(ownFigures.metrics);
        if (allFigures !== undefined) void answer(process, allFigures.scrape);
      });
    },
    remove: (process: MetricsChannel) => processes.delete(process),
  };

  async function answer(process: MetricsChannel, scrape: number): Promise<void> {
    const text = await AggregatorRegistry.aggregate(await gather()).metrics();
    if (processes.has(process)) process.send({ allFigures: { scrape, text } });
  }

  function gather(): Promise<object[][]> {
    latest += 1;
    const round = latest;
    const gathered: object[][] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, answerWithinMs);
    rounds.set(round, (metrics) => {
      gathered.push(metrics);
      if (gathered.length >= processes.size) resolve();
    });
    for (const each of processes) each.send({ ownFigures: { round } });
    return promise
      .finally(() => {
        clearTimeout(timer);
        rounds.delete(round);
      })
      .then(() => gathered);
  }
}
