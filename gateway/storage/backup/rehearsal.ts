/**
 * Marks a database that was used for a rehearsal. The mark is a name in the list of applied
 * migrations, because a backup contains this list.
 */
import { Problem } from "../../values/problem.ts";
import type { Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";

const mark = "0000-rehearsal";

type Usage = {
  readonly isMarked: boolean;
  readonly isUsed: boolean;
};

export async function findUsage(query: Query): Promise<Usage> {
  const [row] = await query<Usage>(
    `select exists (select from migrations where name = $1) as "isMarked",
       is_called or exists (select from gates) as "isUsed" from order_sequence`,
    [mark],
  );
  if (row === undefined) throw new Error("the sequence of orders has no row");
  return row;
}

/**
 * Refuses to restore a rehearsal's backup as a real installation, and the reverse. The list of
 * migrations tells them apart before other data of the backup is read.
 */
export function refuseBackup(
  migrations: readonly string[],
  { rehearsal }: { readonly rehearsal: boolean },
): Problem | undefined {
  const isMarked = migrations.includes(mark);
  if (isMarked === rehearsal) return undefined;
  return new Problem(
    isMarked
      ? "This backup is of a rehearsal, whose orders and keys are not real: set GW_REHEARSAL=on " +
          "to restore it. Nothing was restored."
      : "GW_REHEARSAL is on, and this backup is of no rehearsal: remove GW_REHEARSAL to restore " +
          "it. Nothing was restored.",
  );
}

/** Refuses a real database for a rehearsal, and a rehearsal's database for a real installation. */
export async function refuseDatabase(
  query: Query,
  { rehearsal }: { readonly rehearsal: boolean },
): Promise<Problem | undefined> {
  const { isMarked, isUsed } = await findUsage(query);
  if (isMarked && !rehearsal) {
    return new Problem(
      "This database was used for a rehearsal: its orders and keys are not real. Make a new " +
        "database and new keys for production (docs/rehearsal.md, Retire the rehearsal), or set " +
        "GW_REHEARSAL=on to go on with the rehearsal.",
    );
  }
  if (isMarked || !rehearsal || !isUsed) return undefined;
  return new Problem(
    "GW_REHEARSAL is on, and this database already has gates or orders without a rehearsal: " +
      "make a new database for the rehearsal, or remove GW_REHEARSAL.",
  );
}

/** Returns false if the database is marked already. No command removes the mark. */
export function markRehearsal(audit: Audit): Promise<boolean> {
  return audit.change(async (query, write) => {
    const marked = await query(
      `insert into migrations (name, compatible_from) values ($1, '0001')
       on conflict do nothing returning name`,
      [mark],
    );
    if (marked.length === 0) return false;
    await write({ action: "rehearsal", subject: "installation" });
    return true;
  });
}
