/** Makes the gateway hang at a table for as long as a test wants, without a clock. */
import type { Installation } from "@tollgate/gateway/installation";

export function makeLocks({ config, database }: Installation) {
  return {
    /** Does something after an order was decided on and before it is written. */
    whileOrdersWait: <Asked>(ask: () => Promise<Asked>, then: () => Promise<unknown>) =>
      whileLocked("orders", ask, then),
    /** Does something while a reader of the vault's cards hangs. */
    whileCardsWait: <Asked>(ask: () => Promise<Asked>, then: () => Promise<void>) =>
      whileLocked("cards", ask, then),
    /** Does the same for a reader that comes after the order was written. */
    whileCardsWaitAfterWrite,
    whileAuditWaits,
  };

  /**
   * Makes the first request wait for the audit's head before the others, which may take all
   * connections.
   */
  async function whileAuditWaits<Asked>(
    first: () => Promise<Asked>,
    others: readonly (() => Promise<Asked>)[],
  ) {
    const asked: Promise<Asked>[] = [];
    await database.transaction(async (query) => {
      const untilWaiting = async (count: number) => {
        // Within a transaction, PostgreSQL shows the activity as at the first look, unless this is
        // cleared.
        do await query("select pg_stat_clear_snapshot()");
        while ((await query(waitingSessions)).length < count);
      };
      await query("select from audit_head for update");
      asked.push(first());
      await untilWaiting(1);
      for (const ask of others) asked.push(ask());
      await untilWaiting(config.databasePoolSize - 1);
    });
    return { asked: Promise.all(asked) };
  }

  function whileLocked<Asked>(
    table: string,
    ask: () => Promise<Asked>,
    then: () => Promise<unknown>,
    mode = "access exclusive",
  ): Promise<{ readonly asked: Promise<Asked> }> {
    return database.transaction(async (query) => {
      await query(`lock table ${table} in ${mode} mode`);
      const asked = ask();
      while ((await query(waitingFor, [table])).length === 0);
      await then();
      return { asked };
    });
  }

  /** A capture reads its card twice: before it begins, and before it is sent. */
  function whileCardsWaitAfterWrite<Asked>(
    ask: () => Promise<Asked>,
    then: () => Promise<unknown>,
  ): Promise<{ readonly asked: Promise<Asked> }> {
    return database.transaction(async (query) => {
      const lockCards = () => query("lock table cards in access exclusive mode");
      // Readers of orders pass, and the capture waits before it is written.
      const { asked } = await whileLocked("orders", ask, lockCards, "exclusive");
      while ((await query(waitingFor, ["cards"])).length === 0);
      await then();
      return { asked };
    });
  }
}

/** Locks of this database only, because other tests use the same server. */
export const waitingLocks = `from pg_locks where not granted
  and database = (select oid from pg_database where datname = current_database())`;
/** A wait for another transaction names no database in `pg_locks`. */
const waitingSessions = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;
const waitingFor = `select ${waitingLocks} and relation = $1::regclass`;
