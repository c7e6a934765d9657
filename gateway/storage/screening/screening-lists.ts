/**
 * Stores the allow and block lists. Every change has a new version, and a node reads only what has
 * changed since the version that it knows: for a new entry one row, however long the lists are.
 */
import type { ListEntry, ListKind, ListName, ListScope, ListStore } from "../../screening/lists.ts";
import type { EndpointId, MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import type { Database, Query } from "../server/database.ts";
import { textArray } from "../server/gather.ts";

const portionRows = 5_000;
/** The entries in a page: few, because a node processes no orders while it unpacks a page. */
const pageRows = 500;
/** How long removals are kept. A node that has not read the lists for longer must be restarted. */
const removedKeepDays = 30;

export type NewListEntry = Omit<ListEntry, "id">;
type StoredListEntry = ListEntry & { readonly addedBy: string; readonly addedAt: string };
/** A field that is not given matches every entry. */
type ListFilter = {
  readonly ids?: readonly string[];
  readonly list?: ListName | undefined;
  readonly kind?: ListKind | undefined;
  readonly value?: string | undefined;
  readonly scope?: ListScope;
  readonly expiredAt?: Instant;
  /** The number of the last entry on the previous page. The page contains lower numbers. */
  readonly before?: string | undefined;
};

type ListRow = {
  readonly id: string;
  readonly version: string;
  readonly list: ListName;
  readonly kind: ListKind;
  readonly value: string;
  readonly merchant_id: MerchantId | null;
  readonly endpoint_id: EndpointId | null;
  readonly expires: string | null;
  readonly reason: string;
  readonly removed: boolean;
  readonly added_by: string;
  readonly added: string;
};

const selected = `select id, version, list, kind, value, merchant_id, endpoint_id, reason, added_by,
  (extract(epoch from expires_at) * 1000)::bigint::text as expires,
  removed_at is not null as removed,
  to_char(added_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as added
  from list_entries`;

export function makeListStore({ query, transaction }: Database): ListStore {
  return {
    async readChanges(after, take) {
      const [row] = await query<{ version: string }>("select version from list_version");
      if (row?.version === after) return after;
      return transaction(async (ask) => {
        await ask("set transaction isolation level repeatable read, read only");
        const [present] = await ask<{ version: string }>("select version from list_version");
        await ask(`declare pages cursor for ${selected}
          where version > ${BigInt(after)} order by version, id`);
        for (let count = pageRows; count === pageRows; ) {
          const rows = await ask<ListRow>(`fetch ${pageRows} from pages`);
          take(rows.map((each) => (each.removed ? { removed: each.id } : { put: toEntry(each) })));
          count = rows.length;
        }
        return present?.version ?? after;
      });
    },
  };
}

type PutCounts = { readonly added: number; readonly changed: number };

/** Adds entries in the caller's transaction. A known entry gets the new expiry and reason. */
export async function putEntries(
  query: Query,
  entries: readonly NewListEntry[],
  { by, report }: { readonly by: string; readonly report?: (count: number) => void },
): Promise<PutCounts & { readonly ids: readonly string[] }> {
  const version = await nextVersion(query);
  const ids: string[] = [];
  let added = 0;
  for (let at = 0; at < entries.length; at += portionRows) {
    const portion = entries.slice(at, at + portionRows);
    const rows = await query<{ id: string; added: boolean }>(putStatement, [
      ...columnsOf(portion),
      version,
      by,
    ]);
    ids.push(...rows.map(({ id }) => id));
    added += rows.filter((row) => row.added).length;
    report?.(at + portion.length);
  }
  await notifyNodes(query);
  return { ids, added, changed: ids.length - added };
}

function columnsOf(entries: readonly NewListEntry[]): readonly string[] {
  const column = (read: (entry: NewListEntry) => string | undefined) =>
    textArray(entries.map((entry) => read(entry) ?? null));
  return [
    column(({ list }) => list),
    column(({ kind }) => kind),
    column(({ value }) => value),
    column(({ merchantId }) => merchantId),
    column(({ endpointId }) => endpointId),
    column(({ expiresAt }) => (expiresAt === undefined ? undefined : String(expiresAt))),
    column(({ reason }) => reason),
  ];
}

const putStatement = `
  insert into list_entries (version, list, kind, value, merchant_id, endpoint_id, expires_at,
                            reason, added_by, added_at)
  select $8::bigint, list, kind, value, merchant_id::bigint, endpoint_id::bigint,
         to_timestamp(expires::numeric / 1000), reason, $9, now()
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    as entry (list, kind, value, merchant_id, endpoint_id, expires, reason)
  on conflict (list, kind, value, merchant_id, endpoint_id) where removed_at is null
  do update set version = excluded.version, expires_at = excluded.expires_at,
    reason = excluded.reason, added_by = excluded.added_by, added_at = excluded.added_at
  where (list_entries.expires_at, list_entries.reason)
    is distinct from (excluded.expires_at, excluded.reason)
  returning id, xmax = 0 as added`;

/**
 * Removes entries inside the caller's transaction. The value is deleted at once, because it may
 * identify a person. The row stays for some time, so that nodes notice the removal.
 */
export async function removeEntries(
  query: Query,
  ids: readonly string[],
): Promise<readonly StoredListEntry[]> {
  const gone = await findListEntries(query, { ids });
  if (gone.length === 0) return [];
  const version = await nextVersion(query);
  await query(
    `update list_entries set removed_at = now(), version = $2, value = '', reason = ''
     where id = any($1::bigint[]) and removed_at is null`,
    [gone.map(({ id }) => id), version],
  );
  await query(
    `delete from list_entries where removed_at < now() - interval '${removedKeepDays} days'`,
  );
  await notifyNodes(query);
  return gone;
}

/** Gives card entries values by a new fingerprint key. `renamed` maps old values to new ones. */
export function renameCardEntries(
  { transaction }: Pick<Database, "transaction">,
  renamed: ReadonlyMap<string, string>,
): Promise<void> {
  return transaction(async (query) => {
    const version = await nextVersion(query);
    for (const [value, next] of renamed) {
      await query(renameEntry, [value, next, version]);
      // If the list has an entry for the card by the new key already, the old entry is removed.
      await query(
        `update list_entries set removed_at = now(), version = $2, value = '', reason = ''
         where kind = 'card' and value = $1 and removed_at is null`,
        [value, version],
      );
    }
    await notifyNodes(query);
  });
}

const renameEntry = `
update list_entries as entry set value = $2, version = $3
where kind = 'card' and value = $1 and removed_at is null and not exists (
  select from list_entries as other where other.value = $2 and other.removed_at is null
    and (other.list, other.kind) = (entry.list, entry.kind)
    and (other.merchant_id, other.endpoint_id)
      is not distinct from (entry.merchant_id, entry.endpoint_id))`;

export async function findListEntries(
  query: Query,
  { ids, list, kind, value, scope, expiredAt, before }: ListFilter,
  limit = 1_000_000,
): Promise<readonly StoredListEntry[]> {
  const rows = await query<ListRow>(
    `${selected} where removed_at is null
       and ($1::bigint[] is null or id = any($1)) and ($2::text is null or list = $2)
       and ($3::text is null or kind = $3) and ($4::text is null or value = $4)
       and ($5::bigint is null or merchant_id = $5) and ($6::bigint is null or endpoint_id = $6)
       and ($7::numeric is null or expires_at <= to_timestamp($7 / 1000))
       and ($8::bigint is null or id < $8)
     order by id desc limit $9`,
    [
      ...[ids ?? null, list ?? null, kind ?? null, value ?? null],
      ...[scope?.merchantId ?? null, scope?.endpointId ?? null, expiredAt ?? null],
      ...[before ?? null, limit],
    ],
  );
  return rows.map((row) => ({ ...toEntry(row), addedBy: row.added_by, addedAt: row.added }));
}

async function nextVersion(query: Query): Promise<string> {
  const [row] = await query<{ version: string }>(
    "update list_version set version = version + 1 returning version",
  );
  if (row === undefined) throw new Error("the lists have no version");
  return row.version;
}

function toEntry({ id, list, kind, value, reason, ...row }: ListRow): ListEntry {
  return {
    id,
    list,
    kind,
    value,
    reason,
    ...(row.merchant_id !== null && { merchantId: row.merchant_id }),
    ...(row.endpoint_id !== null && { endpointId: row.endpoint_id }),
    // The column was written from an `Instant`, so the cast is safe.
    ...(row.expires !== null && { expiresAt: Number(row.expires) as Instant }),
  };
}
