/**
 * The database's server and the connections of nodes to it. It may be unreachable, read-only, or
 * replaced by a standby, lose statements or their answers, and execute a statement after its sender
 * has given up.
 */
import { configurationChannel } from "../../gateway/storage/configuration/configuration.ts";
import type { Database, Query } from "../../gateway/storage/server/database.ts";
import {
  makeDatabaseModel,
  type OrderRecord,
  type Row,
  RowLocked,
  readArray,
  ServerError,
} from "./database-model.ts";
import { makeSessions } from "./database-sessions.ts";
import { nameOf, statements } from "./database-statements.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Called after every executed statement. */
  readonly onExecuted: (
    statement: string,
    values: readonly unknown[],
    rows: Row[],
    sender: SimulatedProcess,
  ) => void;
};

export type DatabaseServer = ReturnType<typeof makeDatabaseServer>;

const readTimeoutMs = 5_000;
const lateMaxMs = 8_000;
const lockWaitMs = 5;

/** Statements that change nothing. */
const reads =
  /^(orders_by|orders_current|orders_owned|order_|request_by|find_|vault_keys|cvv_key|time|list_cards|list_secrets)/;

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
  /** The process whose statement is being executed. */
  let sender = server;

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
    /**
     * Replaces the server by a standby that lacks the latest commits. Returns the orders that it
     * lacks.
     */
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
      [awayUntil, readOnlyUntil] = [0, 0];
      lossyUntil = Math.min(lossyUntil, time.now());
    },
    /** Whether it has lost statements or answers since then. */
    wasLossy: (sinceMs: number) => lossyUntil > sinceMs,
    connect,
    notify,
    /** Ends the sessions of a process whose machine is lost, or that has ended. */
    endSessionsOf: sessions.endOf,
  };

  function wallMs(): number {
    return startOfTime + Math.floor(time.now());
  }

  /** Notifies listening nodes of a change some time later. */
  function notify(): void {
    const notice = { channel: configurationChannel, payload: "" };
    sessions.notify(notice, () => random.skewed(1, 5_000));
  }

  function handOver([channel, texts]: readonly unknown[]): void {
    for (const payload of readArray(texts)) {
      const notice = { channel: String(channel), payload: payload ?? "" };
      sessions.notify(notice, () => random.skewed(1, 5_000));
    }
  }

  function isAway(): boolean {
    return awayUntil > time.now();
  }

  /** The part of a `Database` that the simulated parts use. */
  function connect(): Database {
    const query = <Result>(text: string, values: readonly unknown[] = [], name?: string) => {
      const known = knownName(text, name);
      return send(() => execute(known, values)) as Promise<readonly Result[]>;
    };
    const missing = () => Promise.reject(new Error("no part of the simulation uses this"));
    const database = { query, hot: query, add: query, transaction, close: missing };
    return { ...database, connect: connectAlone } as unknown as Database;
  }

  /**
   * Runs a transaction. Its statements are tried out one after the other, and executed together at
   * the end. The row of a key that it has locked is kept from others.
   */
  async function transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    await roundTrip();
    const session = sessions.begin();
    const { tables } = model;
    let isRunning = false;
    const done: ((isTrial?: boolean) => Row[] | Error)[] = [];
    const inside = (text: string, values: readonly unknown[] = [], name?: string) => {
      const known = knownName(text, name);
      return send(() => {
        if (!sessions.isOpen(session)) return new Error("Connection terminated unexpectedly");
        if (known === "lock_card_key") lock(String(values[0]));
        const run = (isTrial = false) => execute(known, values, isTrial);
        isRunning = true;
        try {
          const rows = tables.tryOut(() => [...done, run].map((each) => each(true)).at(-1));
          done.push(run);
          return rows ?? [];
        } finally {
          isRunning = false;
        }
      });
    };
    try {
      const result = await work(inside as Query);
      await send(commit);
      return result;
    } finally {
      sessions.end(session);
    }

    function lock(key: string): void {
      if (tables.lockedKeys.get(key)?.() === true) throw new RowLocked();
      tables.lockedKeys.set(key, () => !isRunning && sessions.isOpen(session));
    }

    function commit(): Row[] | Error {
      if (!sessions.isOpen(session)) return new Error("Connection terminated unexpectedly");
      sessions.end(session);
      const failed = done.map((each) => each()).find((rows) => rows instanceof Error);
      return failed ?? [];
    }
  }

  /**
   * Returns the statement's name. An unknown one ends the simulation, because the gateway would
   * take an error for one of the server.
   */
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
        const known = own === undefined ? knownName(text) : "";
        if (own === undefined) return { rows: await send(() => execute(known, values)) };
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

  function send(work: () => Row[] | Error): Promise<Row[]> {
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
      time.after(latencyMs() + lateMs, server, run);

      function run(): void {
        const isBroken = begun !== epoch || isAway();
        sender = owner;
        const executed = isBroken ? [] : unlessLocked(work);
        if (executed === undefined) time.after(lockWaitMs, server, run);
        else if (isBroken || lost === "answer" || lost === "time") breakOff();
        else reply(executed);
      }

      function reply(executed: Row[] | Error): void {
        time.after(latencyMs(), owner, () => {
          if (begun !== epoch) reject(new Error("Connection terminated unexpectedly"));
          else if (executed instanceof Error) reject(executed);
          else resolve(executed);
        });
      }

      function breakOff(): void {
        const error = new Error("Connection terminated unexpectedly");
        time.after(random.skewed(1, 3_000), owner, () => reject(error));
      }
    });
  }

  function execute(name: string, values: readonly unknown[], isTrial = false): Row[] | Error {
    if (readOnlyUntil > time.now() && !reads.test(name)) return new ServerError("25006");
    try {
      const rows = model.execute(name, values, wallMs());
      if (!isTrial) onExecuted(name, values, rows, sender);
      if (!isTrial && name === "notify_nodes") notify();
      if (!isTrial && name === "hand_over") handOver(values);
      return rows;
    } catch (error) {
      if (error instanceof ServerError) return error;
      throw error;
    }
  }
}

/** Returns undefined while another transaction has locked the row. */
function unlessLocked(work: () => Row[] | Error): Row[] | Error | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof RowLocked) return undefined;
    throw error;
  }
}

const losses = ["nothing", "nothing", "nothing", "statement", "answer", "time"] as const;
