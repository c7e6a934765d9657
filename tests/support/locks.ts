/** Makes the gateway hang at a table for as long as a test wants, without a clock. */
import type { Installation } from "@tollgate/gateway/installation";

export function makeLocks({ database }: Installation) {
  return {
    /** Does something after an order was decided on and before it is written. */
    whileOrdersWait: <Asked>(ask: () => Promise<Asked>, then: () => Promise<unknown>) =>
      whileLocked("orders", ask, then),
    /** Does something while a reader of the vault's cards hangs. */
    whileCardsWait: <Asked>(ask: () => Promise<Asked>, then: () => Promise<void>) =>
      whileLocked("cards", ask, then),
  };

  function whileLocked<Asked>(
    table: string,
    ask: () => Promise<Asked>,
    then: () => Promise<unknown>,
  ): Promise<{ readonly asked: Promise<Asked> }> {
    return database.transaction(async (query) => {
      await query(`lock table ${table} in access exclusive mode`);
      const asked = ask();
      while ((await query(waitingFor, [table])).length === 0);
      await then();
      return { asked };
    });
  }
}

/** Of this database only: the worlds of other tests are on the same server. */
export const waitingLocks = `from pg_locks where not granted
  and database = (select oid from pg_database where datname = current_database())`;
const waitingFor = `select ${waitingLocks} and relation = $1::regclass`;
