/** The card ranges that directory servers have told, and whose turn it is to ask for them. */
import { randomUUID } from "node:crypto";
import type { Protocol, StoredRange } from "../threeds/directories/card-ranges.ts";
import type {
  ListStamp,
  RangeChanges,
  RangeStore,
  RefreshLease,
} from "../threeds/directories/range-store.ts";
import type { Clock } from "../values/time.ts";
import { configurationChannel } from "./configuration.ts";
import type { Database, Query } from "./database.ts";

type RangeRow = Omit<StoredRange, "methodUrl"> & { readonly method_url: string | null };
type ClaimRow = {
  readonly serial_number: string | null;
  readonly version: string | null;
  readonly failures: number;
};

export function makeRangeStore(database: Database, clock: Clock): RangeStore {
  return {
    stamps: () =>
      database.query<ListStamp>("select directory, protocol, stamp from card_range_lists"),

    async list(directory, protocol) {
      const rows = await database.query<RangeRow>(
        `select first, last, version, method_url from card_ranges
         where directory = $1 and protocol = $2 order by first, last`,
        [directory, protocol],
      );
      return rows.map(({ method_url, ...range }) =>
        method_url === null ? range : { ...range, methodUrl: method_url },
      );
    },

    async claim(directory, protocol, claimMs) {
      const [now, mark] = [clock.now(), randomUUID()];
      const [row] = await database.query<ClaimRow>(
        `update card_range_lists set claim = $3, due_at = to_timestamp($4::float8 / 1000)
         where directory = $1 and protocol = $2 and due_at <= to_timestamp($5::float8 / 1000)
         returning serial_number, version, failures`,
        [directory, protocol, mark, now + claimMs, now],
      );
      return row === undefined ? undefined : claimOf({ directory, protocol, mark }, row);
    },

    save(claim, changes, nextMs) {
      return database.transaction(async (query) => {
        const isChanged = changes.replaces || changes.put.length + changes.remove.length > 0;
        const [own] = await query(
          `update card_range_lists set claim = null, due_at = to_timestamp($4::float8 / 1000),
             failures = 0, version = $5, serial_number = $6, stamp = coalesce($7, stamp)
           where directory = $1 and protocol = $2 and claim = $3 returning directory`,
          [
            ...keyOf(claim),
            clock.now() + nextMs,
            changes.version ?? null,
            changes.serialNumber ?? null,
            isChanged ? randomUUID() : null,
          ],
        );
        if (own === undefined) return false;
        if (!isChanged) return true;
        await applyChanges(query, claim, changes);
        await query("select pg_notify($1, '')", [configurationChannel]);
        return true;
      });
    },

    async postpone(claim, nextMs) {
      await database.query(
        `update card_range_lists set claim = null, failures = failures + 1,
           due_at = to_timestamp($4::float8 / 1000)
         where directory = $1 and protocol = $2 and claim = $3`,
        [...keyOf(claim), clock.now() + nextMs],
      );
    },

    async release(claim) {
      await database.query(
        `update card_range_lists set claim = null, due_at = to_timestamp($4::float8 / 1000)
         where directory = $1 and protocol = $2 and claim = $3`,
        [...keyOf(claim), clock.now()],
      );
    },
  };
}

function claimOf(
  key: Pick<RefreshLease, "directory" | "protocol" | "mark">,
  row: ClaimRow,
): RefreshLease {
  const { serial_number: serialNumber, version, failures } = row;
  return {
    ...{ ...key, failures },
    ...(serialNumber === null ? {} : { serialNumber }),
    ...(version === null ? {} : { version }),
  };
}

function keyOf({ directory, protocol, mark }: RefreshLease): readonly string[] {
  return [directory, protocol, mark];
}

async function applyChanges(
  query: Query,
  { directory, protocol }: { readonly directory: string; readonly protocol: Protocol },
  { replaces, put: told, remove }: RangeChanges,
): Promise<void> {
  if (replaces) {
    const all = "delete from card_ranges where directory = $1 and protocol = $2";
    await query(all, [directory, protocol]);
  } else {
    await query(
      `delete from card_ranges using unnest($3::text[], $4::text[]) as gone (first, last)
       where directory = $1 and protocol = $2
         and card_ranges.first = gone.first and card_ranges.last = gone.last`,
      [directory, protocol, remove.map(({ first }) => first), remove.map(({ last }) => last)],
    );
  }
  const put = lastOfEach(told);
  await query(
    `insert into card_ranges (directory, protocol, first, last, version, method_url)
     select $1, $2, told.* from
       unnest($3::text[], $4::text[], $5::text[], $6::text[]) as told
     on conflict (directory, protocol, first, last)
     do update set version = excluded.version, method_url = excluded.method_url`,
    [
      directory,
      protocol,
      put.map(({ first }) => first),
      put.map(({ last }) => last),
      put.map(({ version }) => version),
      put.map(({ methodUrl }) => methodUrl ?? null),
    ],
  );
}

/** One statement cannot write a row twice, and directory servers do repeat themselves. */
function lastOfEach(ranges: readonly StoredRange[]): readonly StoredRange[] {
  return [...new Map(ranges.map((range) => [range.first + range.last, range])).values()];
}
