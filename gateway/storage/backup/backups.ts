/**
 * The record of finished backups. `gw doctor` and the metrics show the age of the latest one, so
 * that an operator notices when backups fail.
 */
import { asInstant, type Instant } from "../../values/time.ts";
import type { Query } from "../server/database.ts";

type MadeBackup = {
  /** The time of the snapshot: the backup contains the data as it was then. */
  readonly takenAt: Instant;
  readonly place: string;
  readonly rows: number;
  readonly bytes: number;
  /** The SHA-256 of the backup's manifest, the file that lists its content. */
  readonly manifest: string;
};

/** Writes no audit entry, because the command that makes the backup writes its own. */
export async function recordBackup(query: Query, made: MadeBackup): Promise<void> {
  const { takenAt, place, rows, bytes, manifest } = made;
  await query(
    `insert into backups (taken_at, place, rows, bytes, manifest)
     values (to_timestamp($1::float8 / 1000), $2, $3, $4, $5)`,
    [takenAt, place, rows, bytes, manifest],
  );
}

type LatestBackup = Pick<MadeBackup, "takenAt" | "place"> & {
  /** The age by the database's clock, which all nodes share. */
  readonly ageS: number;
};

export async function findLatestBackup(query: Query): Promise<LatestBackup | undefined> {
  const [row] = await query<{ taken: string; age: number; place: string }>(
    `select (extract(epoch from taken_at) * 1000)::bigint as taken, place,
       extract(epoch from clock_timestamp() - taken_at)::float8 as age
     from backups order by taken_at desc limit 1`,
  );
  if (row === undefined) return undefined;
  return { takenAt: asInstant(Number(row.taken)), place: row.place, ageS: row.age };
}
