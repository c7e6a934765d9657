/** Directory servers as the operator keeps them, the card ranges that they sent, and the leases. */
import { randomUUID } from "node:crypto";
import type {
  ListStamp,
  RangeChanges,
  RangeStore,
  RefreshLease,
  StoredRange,
} from "../threeds/card-ranges.ts";
import type { DirectoryServer } from "../threeds/directory-client.ts";
import type { Clock } from "../values/time.ts";
import { notifyNodes } from "./configuration.ts";
import type { Database, Query } from "./database.ts";

export async function loadDirectories(query: Query): Promise<readonly DirectoryServer[]> {
  return query<DirectoryServer>(
    "select name, networks, settings from directory_servers order by name",
  );
}

/** The whole list is due at once, in the newest version; a lease that is held now is void. */
const dueAtOnce =
  "due_at = 'epoch', claim = null, failures = 0, version = null, serial_number = null";

export function makeDirectoryAdministration(query: Query) {
  return {
    /** Its ranges become due: at another address they may be others. */
    async put({ name, networks, settings }: DirectoryServer): Promise<void> {
      await query(
        `with server as (
           insert into directory_servers (name, networks, settings) values ($1, $2, $3)
           on conflict (name) do update set networks = $2, settings = $3 returning name)
         insert into card_range_lists (directory, protocol, stamp)
         select name, protocol, $4 from server, (values ('1'), ('2')) as known (protocol)
         on conflict (directory, protocol) do update set ${dueAtOnce}`,
        [name, networks, JSON.stringify(settings), randomUUID()],
      );
      await notifyNodes(query);
    },

    async remove(name: string): Promise<boolean> {
      const statement = "delete from directory_servers where name = $1 returning name";
      const removed = await query(statement, [name]);
      await notifyNodes(query);
      return removed.length > 0;
    },

    /** A running node requests the whole list of ranges at once. */
    async refresh(name: string): Promise<boolean> {
      const found = await query(
        `update card_range_lists set ${dueAtOnce} where directory = $1 returning directory`,
        [name],
      );
      await notifyNodes(query);
      return found.length > 0;
    },

    async countRanges() {
      const rows = await query<{ name: string; count: number; dueAt: string }>(
        `select name,
           (select coalesce(to_char(min(due_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC'), '')
            from card_range_lists where directory = name
              and settings ? case protocol when '2' then 'url' else 'url102' end) as "dueAt",
           (select count(*)::int from card_ranges where directory = name) as count
         from directory_servers`,
      );
      return new Map(rows.map(({ name, ...ranges }) => [name, ranges]));
    },
  };
}

type RangeRow = Omit<StoredRange, "methodUrl"> & { readonly method_url: string | null };

type ListRow = {
  readonly serial_number: string | null;
  readonly version: string | null;
  readonly failures: number;
};

const whileLeased = "where directory = $1 and protocol = $2 and claim = $3";

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

    async claim(directory, protocol, leaseMs) {
      const [now, mark] = [clock.now(), randomUUID()];
      const [row] = await database.query<ListRow>(
        `update card_range_lists set claim = $3, due_at = to_timestamp($4::float8 / 1000)
         where directory = $1 and protocol = $2 and due_at <= to_timestamp($5::float8 / 1000)
         returning serial_number, version, failures`,
        [directory, protocol, mark, now + leaseMs, now],
      );
      if (row === undefined) return undefined;
      const { serial_number: serialNumber, version, failures } = row;
      return {
        ...{ directory, protocol, mark, failures },
        ...(serialNumber === null ? {} : { serialNumber }),
        ...(version === null ? {} : { version }),
      };
    },

    save(lease, changes, nextMs) {
      const { replaces, put, remove, version = null, serialNumber = null } = changes;
      const isChanged = replaces || put.length + remove.length > 0;
      return database.transaction(async (query) => {
        const [saved] = await query(
          `update card_range_lists set claim = null, due_at = to_timestamp($4::float8 / 1000),
             failures = 0, version = $5, serial_number = $6, stamp = coalesce($7, stamp)
           ${whileLeased} returning directory`,
          [
            ...[...keyOf(lease), clock.now() + nextMs],
            ...[version, serialNumber, isChanged ? randomUUID() : null],
          ],
        );
        if (saved === undefined) return false;
        if (isChanged) await writeChanges(query, lease, changes);
        return true;
      });
    },

    postpone: (lease, nextMs) => release(lease, nextMs, 1),
    release: (lease) => release(lease, 0, 0),
  };

  async function release(lease: RefreshLease, nextMs: number, failed: number): Promise<void> {
    await database.query(
      `update card_range_lists set claim = null, failures = failures + $5::int,
         due_at = to_timestamp($4::float8 / 1000) ${whileLeased}`,
      [...keyOf(lease), clock.now() + nextMs, failed],
    );
  }
}

function keyOf({ directory, protocol, mark }: RefreshLease): readonly string[] {
  return [directory, protocol, mark];
}

async function writeChanges(
  query: Query,
  { directory, protocol }: RefreshLease,
  { replaces, put, remove }: RangeChanges,
): Promise<void> {
  if (replaces) {
    const all = "delete from card_ranges where directory = $1 and protocol = $2";
    await query(all, [directory, protocol]);
  } else {
    await query(
      `delete from card_ranges using unnest($3::text[], $4::text[]) as removed (first, last)
       where directory = $1 and protocol = $2
         and card_ranges.first = removed.first and card_ranges.last = removed.last`,
      [directory, protocol, remove.map(({ first }) => first), remove.map(({ last }) => last)],
    );
  }
  const ranges = lastOfEach(put);
  await query(
    `insert into card_ranges (directory, protocol, first, last, version, method_url)
     select $1, $2, sent.* from
       unnest($3::text[], $4::text[], $5::text[], $6::text[]) as sent
     on conflict (directory, protocol, first, last)
     do update set version = excluded.version, method_url = excluded.method_url`,
    [
      directory,
      protocol,
      ranges.map(({ first }) => first),
      ranges.map(({ last }) => last),
      ranges.map(({ version }) => version),
      ranges.map(({ methodUrl }) => methodUrl ?? null),
    ],
  );
  await notifyNodes(query);
}

/** One statement cannot write a row twice, and directory servers do repeat ranges. */
function lastOfEach(ranges: readonly StoredRange[]): readonly StoredRange[] {
  return [...new Map(ranges.map((range) => [range.first + range.last, range])).values()];
}
