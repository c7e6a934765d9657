/**
 * A node among others: one connection holds a lock on the node's name while the process lives, and
 * receives notifications of changed configuration. A node that gets the lock on its name knows that
 * the previous node of that name has ended, and may claim its orders at once.
 */
import type pg from "pg";
import { configurationChannel } from "./configuration.ts";
import type { Database } from "./database.ts";

type Options = {
  /** The first one that is free is taken. */
  readonly names: readonly string[];
  readonly onConfiguration: () => void;
  readonly onLost: (error: Error) => void;
  readonly retryMs: number;
};

export async function takePresence(
  database: Database,
  { names, onConfiguration, onLost, retryMs }: Options,
) {
  let client: pg.Client | undefined;
  let stopped = false;
  const node = await join(names);

  return {
    node,
    async stop() {
      stopped = true;
      await leave();
    },
  };

  /** Until the connection is complete, its loss is the failure of this call. */
  async function join(candidates: readonly string[]): Promise<string> {
    const joining = await database.connect();
    try {
      const name = await lockFirst(joining, candidates);
      joining.on("notification", onConfiguration);
      await joining.query(`listen ${configurationChannel}`);
      // A loss is reported more than once.
      joining.on("error", (error) => joining === client && void rejoin(error));
      client = joining;
      return name;
    } catch (error) {
      joining.end().catch(() => undefined);
      throw error;
    }
  }

  async function leave(): Promise<void> {
    await client?.end().catch(() => undefined);
  }

  /** The lock ended with the connection; that is safe, because versions decide claims. */
  async function rejoin(error: unknown): Promise<void> {
    client = undefined;
    if (stopped) return;
    onLost(error instanceof Error ? error : new Error(String(error)));
    try {
      await join([node]);
      if (stopped) await leave();
      else onConfiguration();
    } catch (again) {
      setTimeout(() => void rejoin(again), retryMs).unref();
    }
  }
}

async function lockFirst(client: pg.Client, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const { rows } = await client.query(
      "select pg_try_advisory_lock(hashtextextended($1, 8583)) as got",
      [name],
    );
    if (rows[0]?.got === true) return name;
  }
  return names.at(-1) ?? "";
}
