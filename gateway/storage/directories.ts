/** Directory servers and the card ranges that they have told. */
import type { StoredRange } from "../threeds/directories/card-ranges.ts";
import type { DirectoryServer } from "../threeds/directories/directory.ts";
import type { RangeChanges, RangeStore } from "../threeds/directories/refresh-ranges.ts";
import type { Clock } from "../values/time.ts";
import { configurationChannel } from "./configuration.ts";
import type { Database, Query } from "./database.ts";

export async function loadDirectories(query: Query): Promise<readonly DirectoryServer[]> {
  return query<DirectoryServer>(
    "select name, networks, settings from directory_servers order by name",
  );
}

export function makeDirectoryAdministration(query: Query) {
  return {
    /** Its ranges are asked for anew: another address may tell others. */
    async put({ name, networks, settings }: DirectoryServer): Promise<void> {
      await query(
        `insert into directory_servers (name, networks, settings) values ($1, $2, $3)
         on conflict (name) do update set networks = $2, settings = $3, serial_number = null,
           ranges_due_at = 'epoch'`,
        [name, networks, JSON.stringify(settings)],
      );
      await notify(query);
    },

    async remove(name: string): Promise<boolean> {
      const gone = await query("delete from directory_servers where name = $1 returning name", [
        name,
      ]);
      await notify(query);
      return gone.length > 0;
    },

    /** The whole list is asked for as soon as a node looks. */
    async askAgain(name: string): Promise<boolean> {
      const found = await query(
        `update directory_servers set ranges_due_at = 'epoch', serial_number = null
         where name = $1 returning name`,
        [name],
      );
      await notify(query);
      return found.length > 0;
    },

    async countRanges(): Promise<ReadonlyMap<string, { count: number; dueAt: string }>> {
      const rows = await query<{ name: string; count: string; due_at: string }>(
        `select name, to_char(ranges_due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC') as due_at,
           (select count(*) from card_ranges where directory = name) as count
         from directory_servers`,
      );
      return new Map(
        rows.map(({ name, count, due_at }) => [name, { count: Number(count), dueAt: due_at }]),
      );
    },
  };
}

export function makeRangeStore(database: Database, clock: Clock): RangeStore {
  return {
    async list() {
      const rows = await database.query<RangeRow>(
        "select directory, first, last, version, method_url from card_ranges",
      );
      return rows.map(({ method_url, ...range }) =>
        method_url === null ? range : { ...range, methodUrl: method_url },
      );
    },

    async claim(directory, retryMs) {
      const now = clock.now();
      const [row] = await database.query<{ serial_number: string | null }>(
        `update directory_servers set ranges_due_at = to_timestamp($2::float8 / 1000)
         where name = $1 and ranges_due_at <= to_timestamp($3::float8 / 1000)
         returning serial_number`,
        [directory, now + retryMs, now],
      );
      if (row === undefined) return undefined;
      return row.serial_number === null ? {} : { serialNumber: row.serial_number };
    },

    save(changes, directory, nextMs) {
      return database.transaction(async (query) => {
        for (const each of changes) await applyChanges(query, each);
        const told = changes.find(({ protocol }) => protocol === "2");
        await query(
          `update directory_servers set ranges_due_at = to_timestamp($2::float8 / 1000),
             serial_number = case when $3 then $4 else serial_number end
           where name = $1`,
          [directory, clock.now() + nextMs, told !== undefined, told?.serialNumber ?? null],
        );
        await notify(query);
      });
    },
  };
}

type RangeRow = Omit<StoredRange, "methodUrl"> & { readonly method_url: string | null };

async function applyChanges(query: Query, changes: RangeChanges): Promise<void> {
  const { directory, protocol, put, remove } = changes;
  if (changes.replaces) {
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

async function notify(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}
