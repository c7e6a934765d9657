/** What `/metrics` shows, in Prometheus text. One object, made once per process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const millisecondBuckets = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 30_000];
const sizeBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export type Metrics = ReturnType<typeof makeMetrics>;

export function makeMetrics() {
  const registers = [new Registry()];
  const [registry] = registers;
  if (registry === undefined) throw new Error("unreachable");
  collectDefaultMetrics({ register: registry });

  return {
    registry,
    /** Figures that are read when they are scraped. */
    watch(read: { inFlight: () => number; inDoubt: () => Promise<number> }): void {
      gauge("tollgate_orders_in_flight", "orders in flight on this node", async () =>
        read.inFlight(),
      );
      gauge("tollgate_orders_in_doubt", "orders with a transaction in doubt", read.inDoubt);
    },
    requests: new Counter({
      name: "tollgate_requests_total",
      help: "requests of merchants by operation, type of answer and error code",
      labelNames: ["operation", "type", "code"],
      registers,
    }),
    requestMs: histogram("tollgate_request_duration_ms", "from request to answer", ["operation"]),
    stages: new Counter({
      name: "tollgate_order_stages_total",
      help: "steps of orders, by the stage that they led to",
      labelNames: ["kind", "stage"],
      registers,
    }),
    commitMs: histogram("tollgate_commit_duration_ms", "statements of the commit queue", ["queue"]),
    commitSize: new Histogram({
      name: "tollgate_commit_batch_size",
      help: "orders per statement of the commit queue",
      labelNames: ["queue"],
      buckets: sizeBuckets,
      registers,
    }),
    acquirerMs: histogram("tollgate_acquirer_answer_ms", "from message to answer", ["gate", "mti"]),
    walletMs: histogram("tollgate_wallet_opening_ms", "opening of wallets' tokens", ["wallet"]),
    callbackMs: histogram("tollgate_callback_ms", "from callback to answer", ["outcome"]),
    alarms: new Counter({
      name: "tollgate_doubt_alarms_total",
      help: "alarms raised for orders that have been in doubt for long",
      registers,
    }),
  };

  function histogram(name: string, help: string, labelNames: string[]) {
    return new Histogram({ name, help, labelNames, buckets: millisecondBuckets, registers });
  }

  function gauge(name: string, help: string, read: () => Promise<number>) {
    return new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  }
}
