/** Holds a table still, so that a test can act while a statement of the gateway waits for it. */
import pg from "pg";
import type { Test } from "./world.ts";

export type TableLock = {
  /** Breaks off whatever waits for the table, then lets it go. */
  endOthersAndRelease(): Promise<void>;
};

export async function lockTable(t: Test, databaseUrl: string, table: string): Promise<TableLock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  t.after(() => client.end());
  await client.query(`begin; lock table ${table} in exclusive mode`);
  return {
    async endOthersAndRelease() {
      await endSessions(client);
      await client.query("rollback");
    },
  };
}

/** Ends every other session of the database, as an administrator can. */
export async function endSessions(client: pg.Client): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}
