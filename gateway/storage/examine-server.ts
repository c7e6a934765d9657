/** What `gw doctor` wants to know of the database server. */
import type { Query } from "./database.ts";

export async function examineServer(query: Query) {
  const [row] = await query<Row>(
    `select version() as version, current_setting('server_version_num') as number,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
       (extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
  );
  return {
    version: row?.version ?? "",
    versionNumber: Number(row?.number),
    fsync: row?.fsync,
    synchronousCommit: row?.commit,
    nowMs: Number(row?.now),
  };
}

type Row = {
  readonly version: string;
  readonly number: string;
  readonly fsync: string;
  readonly commit: string;
  readonly now: string;
};
