/**
 * The figures of several processes that share one port. A scrape reaches any one of them; it asks
 * its parent process, which asks them all. Every figure keeps the name of its node: added up, the
 * counters of a process that ends would be missing, and its successor's be counted twice.
 */
import { AggregatorRegistry, type Registry } from "prom-client";

/** Between a process and its parent, in both directions. */
type Message = {
  /** From a worker: it requests the metrics of all workers. From the parent: it sends them. */
  readonly allFigures?: { readonly scrape: number; readonly text?: string };
  /** From the parent: it requests a worker's metrics. From a worker: it sends them. */
  readonly ownFigures?: { readonly round: number; readonly metrics?: object[] };
};

export type MetricsChannel = {
  /** Without effect when the other process has ended. */
  send(message: Message): void;
  on(event: "message", receive: (message: Message) => void): unknown;
};

/** A process that hangs does not keep the figures of the others. */
const answerWithinMs = 2_000;

/** In a process that shares its port: answers its parent, and asks it for the figures of all. */
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

/** In the parent. */
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
