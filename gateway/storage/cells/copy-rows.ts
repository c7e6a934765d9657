/**
 * Copies a merchant's rows from one cell to another. All rows are compared page by page, by keys
 * and digests. Later changes are found by sums over ranges of rows, without transferring the rows,
 * in about a second for each hundred thousand orders.
 */
import type { MerchantId } from "../../values/ids.ts";
import type { Database, Query } from "../server/database.ts";

const pageSize = 1000;
const rangeSize = 200;

/** Tables of a cell that contain no merchants' rows. */
const others = [
  ...["card_keys", "moved_merchants", "cell_migrations", "retention_walks"],
  "order_index_progress",
];

/**
 * Tables whose changes the history of orders shows, because every commit that changes an order adds
 * a row to it. Where the history differs between the cells, the rows of these tables are copied
 * too. The history is copied first, so that the next comparison finds a change during the copy.
 */
const byHistory = ["orders", "callback_attempts"];
/** Rows of these tables never change, so it is enough to compare keys, which are in an index. */
const byKey = ["order_history", "requests", "callback_attempts"];

export type Pair = {
  readonly from: Database;
  readonly to: Database;
  /** When this run fenced the merchant. A later run changes the time, which stops this run. */
  readonly mark: string;
};

export type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  /**
   * The columns whose digests are compared. JSON documents are left out, because they only change
   * with another column or with the history.
   */
  readonly plain: readonly string[];
  readonly key: readonly string[];
  readonly types: readonly string[];
};

/** Lists the tables with a merchant's rows, named by merchant_id or by the start of `context`. */
export function listTables({ query }: Database, schema: string) {
  return query<Table>(
    `select relname as name,
       (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
       (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped
          and atttypid <> 'json'::regtype) as plain,
       (select array_agg(attname::text order by place) from unnest(indkey::int[])
          with ordinality as part(number, place)
        join pg_attribute on attrelid = pg_class.oid and attnum = number) as key,
       (select array_agg(format_type(atttypid, atttypmod) order by place)
        from unnest(indkey::int[]) with ordinality as part(number, place)
        join pg_attribute on attrelid = pg_class.oid and attnum = number) as types
     from pg_class join pg_index on indrelid = pg_class.oid and indisprimary
     where relkind in ('r', 'p') and not relispartition and relname <> all($2)
       and relnamespace = $1::regnamespace
     -- A row of \`due\` without its order is deleted as stale.
     order by relname = 'due', relname <> 'order_history', relname`,
    [schema, others],
  );
}

export type CopiedTable = Table & {
  /** The first value of each range, in the column by which the table is divided into ranges. */
  readonly bounds: readonly string[];
};

export async function copyTable(pair: Pair, table: Table, merchant: MerchantId) {
  const bounds: string[] = [];
  const place = rangePart(table);
  const changed = await copyRange(pair, table, { merchant }, (rows) => {
    for (const { key } of rows.filter((_, at) => at % rangeSize === 0)) {
      const bound: string = JSON.parse(key)[place];
      if (bound !== bounds.at(-1)) bounds.push(bound);
    }
  });
  return { changed, bounds };
}

/**
 * Finds the ranges of rows that differ between the cells and copies them. Returns how many rows
 * differed. Tables of `retriesUntilEqual` are copied again until no row differs.
 */
export async function copyChanges(
  pair: Pair,
  tables: readonly CopiedTable[],
  merchant: MerchantId,
  retriesUntilEqual: (table: Table) => boolean,
): Promise<number> {
  const found = await Promise.all(
    tables.map((table) => (table.name === "orders" ? [] : findDiffering(pair, table, merchant))),
  );
  const ofHistory = found[tables.findIndex(({ name }) => name === "order_history")] ?? [];
  let rows = 0;
  for (const [at, table] of tables.entries()) {
    const ranges = [...(byHistory.includes(table.name) ? ofHistory : []), ...(found[at] ?? [])];
    for (const range of ranges)
      rows += await copyUntilSame(pair, table, range, retriesUntilEqual(table));
  }
  return rows;
}

async function copyUntilSame(pair: Pair, table: Table, range: Range, retriesUntilEqual: boolean) {
  let rows = 0;
  for (let pass = 1; pass <= passesMax; pass += 1) {
    const changed = await copyRange(pair, table, range);
    rows += changed;
    if (changed === 0 || !retriesUntilEqual) return rows;
  }
  throw new Error(`rows still differ after ${passesMax} copies`);
}

/**
 * How often a range is copied before the move fails. The merchant is stopped at that time and few
 * rows change, so a range that still differs shows a fault.
 */
const passesMax = 10;

async function findDiffering(pair: Pair, table: CopiedTable, merchant: MerchantId) {
  const [wanted, known] = await Promise.all([
    sumRanges(pair.from, table, merchant),
    sumRanges(pair.to, table, merchant),
  ]);
  const all = [...new Set([...wanted.keys(), ...known.keys()])];
  const differing = all.filter((at) => wanted.get(at) !== known.get(at)).sort((a, b) => a - b);
  const { bounds } = table;
  const ranges: Range[] = [];
  for (const at of differing) {
    const last = ranges.at(-1);
    const isNext = last !== undefined && last.until === bounds[at - 1];
    if (isNext) ranges.pop();
    ranges.push({ merchant, from: isNext ? last.from : bounds[at - 1], until: bounds[at] });
  }
  return ranges;
}

/** Returns the number of rows and the sum of their digests for each range. */
async function sumRanges({ query }: Database, table: CopiedTable, merchant: MerchantId) {
  const place = rangePart(table);
  const columns = byKey.includes(table.name) ? table.key : table.plain;
  const rows = await query<{ range: number; sum: string }>(
    `select width_bucket(${sortable(table, place)}, $2::${table.types[place]}[]) as range,
       count(*) || '/' || sum(hash_record_extended(row(${columns.join(", ")}), 0)) as sum
     from ${table.name} where ${ownedBy(table)} group by 1`,
    [merchant, table.bounds],
  );
  return new Map(rows.map(({ range, sum }) => [range, sum]));
}

function rangePart({ key }: Table): number {
  return key[0] === "merchant_id" ? 1 : 0;
}

/** Sorts texts by their bytes, because two servers may sort texts by different rules. */
function sortable({ key, types }: Table, place: number): string {
  return types[place] === "text" ? `${key[place]} collate "C"` : (key[place] ?? "");
}

function ownedBy({ columns }: Table): string {
  if (columns.includes("merchant_id")) return "merchant_id = $1::bigint";
  return "context like $1::bigint || '/%'";
}

type KeyedHash = { readonly key: string; readonly hash: string };

/** Makes the rows of the new cell equal to those of the old one. Returns how many differed. */
async function copyRange(
  pair: Pair,
  table: Table,
  range: Range,
  onPage: (source: readonly KeyedHash[]) => void = () => undefined,
): Promise<number> {
  const { from, to } = pair;
  let changed = 0;
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const source = await readPage(from, table, { ...range, after, limit: pageSize });
    onPage(source);
    isLast = source.length < pageSize;
    const last = isLast ? undefined : source.at(-1)?.key;
    const target = await readPage(to, table, { ...range, after, upTo: last });
    const known = new Map(target.map(({ key, hash }) => [key, hash]));
    const wanted = new Set(source.map(({ key }) => key));
    const differing = source.filter(({ key, hash }) => known.get(key) !== hash);
    const gone = target.filter(({ key }) => !wanted.has(key));
    const stale = keysOf([...differing, ...gone]);
    if (stale.length > 0) {
      const rows = await readRows(from, table, keysOf(differing));
      await replaceRows(pair, table, range.merchant, { stale, rows });
    }
    changed += differing.length + gone.length;
    after = last;
  }
  return changed;
}

function keysOf(rows: readonly KeyedHash[]): readonly string[] {
  return rows.map(({ key }) => key);
}

async function replaceRows(
  { to, mark }: Pair,
  table: Table,
  merchant: MerchantId,
  { stale, rows }: { readonly stale: readonly string[]; readonly rows: string },
): Promise<void> {
  const columns = table.columns.join(", ");
  await to.transaction(async (query) => {
    await holdFence(query, merchant, mark);
    await query(`delete from ${table.name} where ${inKeys(table)}`, [`[${stale.join(",")}]`]);
    await query(
      `insert into ${table.name} (${columns})
       select ${columns} from json_populate_recordset(null::${table.name}, $1)`,
      [rows],
    );
  });
}

/**
 * A condition that this run of the move has set the fence. It is a plain comparison, because Citus
 * accepts only immutable functions in a delete.
 */
export const isMarked = "moved_at = to_timestamp($2::float8)";

/** Until the transaction ends, no other run of the move can remove the fence or set it again. */
async function holdFence(query: Query, merchant: MerchantId, mark: string): Promise<void> {
  const held = await query(
    `select merchant_id from moved_merchants
     where merchant_id = $1 and ${isMarked} for share`,
    [merchant, mark],
  );
  if (held.length === 0) throw new OtherRun();
}

/** The error of a paused run of a move, if a later run has continued the move or taken it back. */
export class OtherRun extends Error {
  constructor() {
    super("another run goes on with the move, or has taken it back");
  }
}

/** Deletes by pages, because one statement for millions of rows delays standbys and vacuums. */
export async function deleteRows(
  database: Database,
  table: Table,
  merchant: MerchantId,
  mark: string,
): Promise<void> {
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const page = await readPage(database, table, { merchant, after, limit: pageSize });
    const keys = `[${keysOf(page).join(",")}]`;
    await database.transaction(async (query) => {
      await holdFence(query, merchant, mark);
      await query(`delete from ${table.name} where ${inKeys(table)}`, [keys]);
    });
    isLast = page.length < pageSize;
    after = page.at(-1)?.key;
  }
}

/** Rows of one merchant, from the value `from` up to, but without, the value `until`. */
type Range = {
  readonly merchant: MerchantId;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
};

type Page = Range & {
  readonly after?: string | undefined;
  readonly upTo?: string | undefined;
  readonly limit?: number;
};

function readPage(database: Database, table: Table, page: Page) {
  const { merchant, after, upTo, from, until, limit } = page;
  const values: unknown[] = [merchant];
  const value = (text: string, at: number) => `$${values.push(text)}::${table.types[at]}`;
  const key = table.key.map((_, at) => sortable(table, at)).join(", ");
  const beyond = (sign: string, bound: string | undefined) => {
    if (bound === undefined) return "";
    const texts: readonly string[] = JSON.parse(bound);
    return ` and (${key}) ${sign} (${texts.map(value).join(", ")})`;
  };
  const place = rangePart(table);
  const limits = [
    ...(from === undefined ? [] : [` and ${sortable(table, place)} >= ${value(from, place)}`]),
    ...(until === undefined ? [] : [` and ${sortable(table, place)} < ${value(until, place)}`]),
  ];
  const statement = `
    select json_build_array(${table.key.map((each) => `${each}::text`).join(", ")})::text as key,
      md5(row(${table.columns.join(", ")})::text) as hash
    from ${table.name}
    where ${ownedBy(table)}${limits.join("")}${beyond(">", after)}${beyond("<=", upTo)}
    order by ${key} ${limit === undefined ? "" : `limit ${limit}`}`;
  return database.query<KeyedHash>(statement, values);
}

/** Reads rows as JSON text that the gateway never parses, so that numbers keep all their digits. */
async function readRows(database: Database, table: Table, keys: readonly string[]) {
  const [row] = await database.query<{ rows: string | null }>(
    `select json_agg(row_to_json(${table.name}))::text as rows from ${table.name}
     where ${inKeys(table)}`,
    [`[${keys.join(",")}]`],
  );
  return row?.rows ?? "[]";
}

function inKeys({ key, types }: Table): string {
  const parts = types.map((type, at) => `(wanted ->> ${at})::${type}`).join(", ");
  return `(${key.join(", ")}) in (select ${parts} from json_array_elements($1::json) as wanted)`;
}
