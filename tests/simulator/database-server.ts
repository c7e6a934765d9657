/**
 * The database's server and the connections of nodes to it. It may be away, take no writes, be
 * replaced by a standby, lose statements on their way or their answers, and execute a statement
 * after its sender has given up.
 */
import type { Database } from "../../gateway/storage/database.ts";
import { makeDatabaseModel, type OrderRecord, type Row, ServerError } from "./database-model.ts";
import { makeSessions } from "./database-sessions.ts";
import { nameOf, statements } from "./database-statements.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  /** After every statement that was executed. */
  readonly onExecuted: (statement: string, values: readonly unknown[], rows: Row[]) => void;
};

export type DatabaseServer = ReturnType<typeof makeDatabaseServer>;

const readTimeoutMs = 5_000;
const lateMaxMs = 8_000;

/** They change nothing. */
const reads =
  /^(orders_by|orders_current|orders_owned|order_|request_by|find_|vault_keys|cvv_key|time)/;

export function makeDatabaseServer({ time, random, onExecuted }: Options) {
  const model = makeDatabaseModel(statements);
  const server = new SimulatedProcess("database");
  const sessions = makeSessions(time);
  let awayUntil = 0;
  let isSilent = false;
  let readOnlyUntil = 0;
  let lossyUntil = 0;
  /** Connections of an earlier epoch are broken. */
  let epoch = 0;

  return {
    tables: model.tables,
    goAway(forMs: number, silently: boolean): void {
      [awayUntil, isSilent] = [time.now() + forMs, silently];
      epoch += 1;
      sessions.endAll();
    },
    refuseWrites(forMs: number): void {
      readOnlyUntil = time.now() + forMs;
    },
    loseStatements(forMs: number): void {
      lossyUntil = time.now() + forMs;
    },
    /** A standby takes over that lacks the latest commits; returns the orders that it lacks. */
    failOver(lagMs: number): readonly OrderRecord[] {
      epoch += 1;
      sessions.endAll();
      const { orders } = model.tables;
      const before = orders.values();
      model.tables.setTime(wallMs());
      model.tables.rollBack(lagMs);
      return before.filter(({ id, version }) => orders.get(id)?.version !== version);
    },
    heal(): void {
      [awayUntil, readOnlyUntil, lossyUntil] = [0, 0, 0];
    },
    connect,
    /** The machine of the process is gone, or the process has ended. */
    endSessionsOf: sessions.endOf,
  };

  function wallMs(): number {
    return startOfTime + Math.floor(time.now());
  }

  function isAway(): boolean {
    return awayUntil > time.now();
  }

  /** The part of a `Database` that the simulated parts use. */
  function connect(): Database {
    const query = <Result>(text: string, values: readonly unknown[] = [], name?: string) =>
      send(knownName(text, name), values) as Promise<readonly Result[]>;
    const missing = () => Promise.reject(new Error("no part of the simulation uses this"));
    const database = { query, hot: query, add: query, transaction: missing, close: missing };
    return { ...database, connect: connectAlone } as unknown as Database;
  }

  /** The gateway would take the error for one of the server: it ends the simulation instead. */
  function knownName(text: string, name?: string): string {
    try {
      return nameOf(text, name);
    } catch (error) {
      time.after(0, server, () => {
        throw error;
      });
      throw error;
    }
  }

  async function connectAlone() {
    await roundTrip();
    const session = sessions.begin();
    return Object.assign(session.client, {
      async query(text: string, values: readonly unknown[] = []) {
        if (!sessions.isOpen(session)) throw new Error("Connection terminated unexpectedly");
        const own = sessions.execute(session, text, values);
        if (own === undefined) return { rows: await send(knownName(text), values) };
        await roundTrip();
        return { rows: own };
      },
      end: async () => sessions.end(session),
    });
  }

  function roundTrip(): Promise<void> {
    const owner = time.current();
    return new Promise((resolve, reject) => {
      if (isAway()) return void fail(owner, reject);
      time.after(latencyMs(), owner, resolve);
    });
  }

  function latencyMs(): number {
    return random.skewed(0.1, 12);
  }

  function fail(owner: SimulatedProcess, reject: (error: Error) => void): void {
    if (isSilent) {
      time.after(readTimeoutMs, owner, () => reject(new Error("Query read timeout")));
      return;
    }
    time.after(1, owner, () => reject(new ServerError("ECONNREFUSED")));
  }

  function send(name: string, values: readonly unknown[]): Promise<Row[]> {
    const owner = time.current();
    const lost = lossyUntil > time.now() ? random.pick(losses) : "nothing";
    return new Promise((resolve, reject) => {
      if (isAway()) return fail(owner, reject);
      if (lost === "statement") return breakOff();
      const lateMs = lost === "time" ? random.between(0, readTimeoutMs + lateMaxMs) : 0;
      if (lost === "time") {
        time.after(readTimeoutMs, owner, () => reject(new Error("Query read timeout")));
      }
      const begun = epoch;
      time.after(latencyMs() + lateMs, server, () => {
        if (begun !== epoch || isAway()) return breakOff();
        const executed = execute(name, values);
        if (lost === "answer" || lost === "time") return breakOff();
        time.after(latencyMs(), owner, () => {
          if (begun !== epoch) reject(new Error("Connection terminated unexpectedly"));
          else if (executed instanceof Error) reject(executed);
          else resolve(executed);
        });
      });

      function breakOff(): void {
        const error = new Error("Connection terminated unexpectedly");
        time.after(random.skewed(1, 3_000), owner, () => reject(error));
      }
    });
  }

  function execute(name: string, values: readonly unknown[]): Row[] | Error {
    if (readOnlyUntil > time.now() && !reads.test(name)) return new ServerError("25006");
    try {
      const rows = model.execute(name, values, wallMs());
      onExecuted(name, values, rows);
      return rows;
    } catch (error) {
      if (error instanceof ServerError) return error;
      throw error;
    }
  }
}

const losses = ["nothing", "nothing", "nothing", "statement", "answer", "time"] as const;
