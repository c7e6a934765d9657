/** Days that were compared with the acquirer's books, and their differences. */
import type { Query } from "../server/database.ts";

const differencesMax = 1_000;

type Result = {
  readonly gate: string;
  readonly day: string;
  readonly agrees: boolean;
  readonly matched?: number;
  readonly differences?: readonly object[];
  readonly totals: readonly object[];
};

export type ReconciliationRow = {
  readonly gate: string;
  readonly day: string;
  readonly way: "file" | "totals";
  readonly at: number;
  readonly by: string;
  readonly agrees: boolean;
  readonly matched: number;
  readonly differences: number;
};

type WithResult = ReconciliationRow & {
  readonly result: { readonly differences: readonly KeptDifference[] };
};
type KeptDifference = Readonly<Record<"kind" | "reference", string>> & {
  readonly here?: string;
  readonly there?: string;
};

/** Stores the latest comparison of a gate and day. */
export async function putReconciliation(
  query: Query,
  way: ReconciliationRow["way"],
  by: string,
  { gate, day, agrees, matched = 0, differences = [], totals }: Result,
): Promise<void> {
  const kept = { totals, differences: differences.slice(0, differencesMax) };
  await query(
    `insert into reconciliations (day, gate, way, by, agrees, matched, differences, result)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (day, gate, way) do update set at = now(), by = excluded.by,
       agrees = excluded.agrees, matched = excluded.matched, differences = excluded.differences,
       result = excluded.result`,
    [day, gate, way, by, agrees, matched, differences.length, JSON.stringify(kept)],
  );
}

const selected = `select to_char(day, 'YYYY-MM-DD') as day, gate, way, by, agrees, matched,
  differences, (extract(epoch from at) * 1000)::float8 as at`;

export type ReconciliationReads = ReturnType<typeof makeReconciliationReads>;

export function makeReconciliationReads(query: Query) {
  return {
    list: (filter: ReconciliationFilter) => listReconciliations(query, filter),
    find: (day: Parameters<typeof findReconciliation>[1]) => findReconciliation(query, day),
  };
}

type ReconciliationFilter = {
  readonly gate: string | undefined;
  readonly after: Pick<ReconciliationRow, "day" | "gate" | "way"> | undefined;
  readonly limit: number;
};

function listReconciliations(
  query: Query,
  { gate, after, limit }: ReconciliationFilter,
): Promise<readonly ReconciliationRow[]> {
  return query<ReconciliationRow>(
    `${selected} from reconciliations
     where ($1::text is null or gate = $1)
       and ($2::date is null or (day, gate, way) < ($2::date, $3::text, $4::text))
     order by day desc, gate desc, way desc limit $5`,
    [gate ?? null, after?.day ?? null, after?.gate ?? null, after?.way ?? null, limit],
  );
}

export async function findReconciliation(
  query: Query,
  { gate, day, way }: { readonly gate: string; readonly day: string; readonly way: string | null },
): Promise<WithResult | undefined> {
  const [row] = await query<WithResult>(
    `${selected}, result from reconciliations
     where gate = $1 and day = $2::date and ($3::text is null or way = $3)
     order by at desc limit 1`,
    [gate, day, way],
  );
  return row;
}
