/** Directory servers as the operator keeps them. */
import { randomUUID } from "node:crypto";
import type { DirectoryServer } from "../threeds/directories/directory.ts";
import { configurationChannel } from "./configuration.ts";
import type { Query } from "./database.ts";

/** The whole list, by the newest messages, at once; an answer that is still to come is void. */
const asNeverAsked =
  "due_at = 'epoch', claim = null, failures = 0, version = null, serial_number = null";

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
        `with server as (
           insert into directory_servers (name, networks, settings) values ($1, $2, $3)
           on conflict (name) do update set networks = $2, settings = $3 returning name)
         insert into card_range_lists (directory, protocol, stamp)
         select name, protocol, $4 from server, (values ('1'), ('2')) as known (protocol)
         on conflict (directory, protocol) do update set ${asNeverAsked}`,
        [name, networks, JSON.stringify(settings), randomUUID()],
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
        `update card_range_lists set ${asNeverAsked} where directory = $1 returning directory`,
        [name],
      );
      await notify(query);
      return found.length > 0;
    },

    async countRanges(): Promise<ReadonlyMap<string, { count: number; dueAt: string }>> {
      const rows = await query<{ name: string; count: string; due_at: string | null }>(
        `select name,
           (select to_char(min(due_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC')
            from card_range_lists where directory = name
              and settings ? case protocol when '2' then 'url' else 'url102' end) as due_at,
           (select count(*) from card_ranges where directory = name) as count
         from directory_servers`,
      );
      return new Map(
        rows.map(({ name, count, due_at }) => [
          name,
          { count: Number(count), dueAt: due_at ?? "" },
        ]),
      );
    },
  };
}

async function notify(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}
