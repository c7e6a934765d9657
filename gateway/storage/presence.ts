/**
 * This node among others: a connection of its own that holds a lock on the node's name for as long
 * as the process lives, and hears when the configuration has changed. A node that gets the lock on
 * its name knows that whoever had the name before is dead, and may take up its orders at once.
 */
import type pg from "pg";
import { configurationChannel } from "./configuration.ts";
import type { Database } from "./database.ts";

export type Presence = { readonly node: string; stop(): Promise<void> };

export type PresenceOptions = {
  /** Of which the first that nobody holds is taken. */
  readonly names: readonly string[];
  readonly onConfiguration: () => void;
  readonly onLost: (error: Error) => void;
  readonly retryMs: number;
};

export async function takePresence(
  database: Database,
  options: PresenceOptions,
): Promise<Presence> {
  let client: pg.Client | undefined;
  let stopped = false;
  const node = await join(options.names);

  return {
    node,
    async stop() {
      stopped = true;
      await leave();
    },
  };

  /** A connection counts when all is done; until then its loss is the failure of this call. */
  async function join(names: readonly string[]): Promise<string> {
    const joining = await database.connect();
    try {
      const name = await takeFirst(joining, names);
      joining.on("notification", options.onConfiguration);
      await joining.query(`listen ${configurationChannel}`);
      // One loss is told more than once.
      joining.on("error", (error) => joining === client && void comeBack(error));
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

  /** The lock went with the connection. Claims are decided by versions, so that is no danger. */
  async function comeBack(error: Error): Promise<void> {
    client = undefined;
    if (stopped) return;
    options.onLost(error);
    try {
      await join([node]);
      if (stopped) await leave();
      else options.onConfiguration();
    } catch (again) {
      const delayed = setTimeout(() => void comeBack(toError(again)), options.retryMs);
      delayed.unref();
    }
  }
}

async function takeFirst(client: pg.Client, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const { rows } = await client.query(
      "select pg_try_advisory_lock(hashtextextended($1, 8583)) as got",
      [name],
    );
    if (rows[0]?.got === true) return name;
  }
  return names.at(-1) ?? "";
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
