/**
 * Directory servers as the operator configures them, the card ranges that they have sent, and the
 * leases of nodes that request them.
 */
import { randomUUID } from "node:crypto";
import type {
  ListStamp,
  RangeChanges,
  RangePortions,
  RangeStore,
  RefreshLease,
  StoredRange,
} from "../../threeds/card-ranges.ts";
import type { DirectoryServer } from "../../threeds/directory-client.ts";
import type { Clock } from "../../values/time.ts";
import type { Audit } from "../people/audit.ts";
import type { Database, Query } from "../server/database.ts";
import { notifyNodes } from "./configuration.ts";

export async function loadDirectories(query: Query): Promise<readonly DirectoryServer[]> {
  return query<DirectoryServer>(
    "select name, networks, settings from directory_servers order by name",
  );
}

/** Makes a request for all card ranges due, and ends the lease of a node that is sending one. */
const dueAtOnce =
  "due_at = 'epoch', claim = null, failures = 0, version = null, serial_number = null";

export function makeDirectoryAdministration(audit: Audit, query: Query) {
  const find = (ask: Query, name: string) =>
    ask<DirectoryServer>("select networks, settings from directory_servers where name = $1", [
      name,
    ]);
  /** Changes and audits a directory server. Returns whether the statement has changed a row. */
  const change = (action: string, name: string, text: string, values: readonly unknown[]) =>
    audit.change(async (inside, write) => {
      const [before] = await find(inside, name);
      const changed = await inside(text, values);
      if (changed.length === 0) return false;
      const [after] = await find(inside, name);
      await write({ action, subject: `directory server ${name}`, before, after });
      await notifyNodes(inside);
      return true;
    });
  return {
    /** A request for all card ranges becomes due, because the new address may have other ranges. */
    async put({ name, networks, settings }: DirectoryServer): Promise<void> {
      await change(
        "directory put",
        name,
        `with server as (
           insert into directory_servers (name, networks, settings) values ($1, $2, $3)
           on conflict (name) do update set networks = $2, settings = $3 returning name)
         insert into card_range_lists (directory, protocol, stamp)
         select name, protocol, $4 from server, (values ('1'), ('2')) as known (protocol)
         on conflict (directory, protocol) do update set ${dueAtOnce} returning directory`,
        [name, networks, JSON.stringify(settings), randomUUID()],
      );
    },

    remove(name: string): Promise<boolean> {
      const statement = "delete from directory_servers where name = $1 returning name";
      return change("directory remove", name, statement, [name]);
    },

    refresh(name: string): Promise<boolean> {
      const statement = `update card_range_lists set ${dueAtOnce} where directory = $1
        returning directory`;
      return change("directory refresh", name, statement, [name]);
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

/** The ranges in a page: few, because a node processes no orders while it unpacks a page. */
const pageRows = 250;

const whileLeased = "where directory = $1 and protocol = $2 and claim = $3";

export function makeRangeStore(database: Database, clock: Clock): RangeStore {
  return {
    stamps: () =>
      database.query<ListStamp>("select directory, protocol, stamp from card_range_lists"),

    readRanges(directory, protocol, take) {
      return database.transaction(async (query) => {
        await query("set transaction isolation level repeatable read, read only");
        await query(
          `declare pages cursor for select first, last, version, method_url from card_ranges
           where directory = $1 and protocol = $2 order by first, last`,
          [directory, protocol],
        );
        for (let count = pageRows; count === pageRows; ) {
          const rows = await query<RangeRow>(`fetch ${pageRows} from pages`);
          take(rows.map(toRange));
          count = rows.length;
        }
      });
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
        directory,
        protocol,
        mark,
        failures,
        ...(serialNumber === null ? {} : { serialNumber }),
        ...(version === null ? {} : { version }),
      };
    },

    save(lease, changes, nextMs) {
      const { replaces, put, remove, version = null, serialNumber = null } = changes;
      const isChanged = replaces || put.count + remove.count > 0;
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
  const list = [directory, protocol];
  if (replaces) {
    await query("delete from card_ranges where directory = $1 and protocol = $2", list);
  } else {
    await eachPortion(remove, (portion) =>
      query(
        `delete from card_ranges using json_to_recordset($3) as removed (first text, last text)
         where directory = $1 and protocol = $2
           and card_ranges.first = removed.first and card_ranges.last = removed.last`,
        [...list, portion],
      ),
    );
  }
  await eachPortion(put, (portion) =>
    query(
      `insert into card_ranges (directory, protocol, first, last, version, method_url)
       select $1, $2, sent.* from
         json_to_recordset($3) as sent (first text, last text, version text, "methodUrl" text)
       on conflict (directory, protocol, first, last)
       do update set version = excluded.version, method_url = excluded.method_url`,
      [...list, portion],
      "put_card_ranges",
    ),
  );
  await notifyNodes(query);
}

async function eachPortion(
  { count, read }: RangePortions,
  write: (portion: string) => Promise<unknown>,
): Promise<void> {
  if (count === 0) return;
  for await (const portion of read()) await write(portion);
}

function toRange({ method_url, ...range }: RangeRow): StoredRange {
  return method_url === null ? range : { ...range, methodUrl: method_url };
}
