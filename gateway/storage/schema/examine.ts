/** Reads the database for `gw doctor` and the metrics: rights, expiring keys, and queues. */

import type { Instant } from "../../values/time.ts";
import type { Cells } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";

type ConnectionRights = {
  readonly login: string;
  readonly isSuperuser: boolean;
  /** True if every database role may make tables and functions in the schema of the gateway. */
  readonly publicCreates: boolean;
  readonly changesAudit: boolean;
};

export async function examineRights(query: Query): Promise<ConnectionRights> {
  const [row] = await query<ConnectionRights>(
    `select session_user as login,
       (select rolsuper from pg_roles where rolname = session_user) as "isSuperuser",
       exists (select from pg_namespace, aclexplode(nspacl) as granted
         where nspname = 'public' and granted.grantee = 0
           and granted.privilege_type = 'CREATE') as "publicCreates",
       has_table_privilege('audit', 'update, delete, truncate') as "changesAudit"`,
  );
  if (row === undefined) throw new Error("the server did not answer");
  return row;
}

export async function examineLink(query: Query): Promise<"TLS" | "local" | "plain text"> {
  const [row] = await query<{ readonly isEncrypted: boolean; readonly address: string | null }>(
    `select coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false)
         as "isEncrypted", host(inet_server_addr()) as address`,
  );
  if (row === undefined) throw new Error("the server did not answer");
  if (row.isEncrypted) return "TLS";
  return row.address === null || /^(127\.|::1$)/.test(row.address) ? "local" : "plain text";
}

/** Counts the audit's entries of the last hour that an operator should know of, by their kind. */
export async function countWatchedEntries(query: Query): Promise<ReadonlyMap<string, number>> {
  const [row = {}] = await query<Readonly<Record<string, number>>>(
    `select
       count(*) filter (where action = 'portal sign-in refused')::int as sign_in_refused,
       count(*) filter (where action in ('user add', 'user role')
         and after ->> 'role' in ('admin', 'merchant-admin'))::int as administrator_made,
       count(*) filter (where action in ('merchant show', 'merchant control-key renew',
         'merchant control-key set', 'callback secret'))::int as secret_revealed
     from audit
     where seq > (select seq - 20000 from audit_head) and at > now() - interval '1 hour'`,
  );
  return new Map(Object.entries(row));
}

export function findEndingWalletKeys(query: Query, days: number) {
  return query<{ readonly id: string; readonly wallet: string; readonly days: number }>(
    `select id, wallet, floor(extract(epoch from expires_at - now()) / 86400)::int as days
     from vault.wallet_keys
     where removed_at is null and expires_at < now() + $1 * interval '1 day' order by id`,
    [days],
  );
}

/** Finds gates whose last delivered key is three times as old as the gate's settings expect. */
export async function findOverdueKeys(query: Query): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `select name from gate_zone_keys join gates on gates.id = gate_id
     where every_s is not null and now() - 3 * every_s * interval '1 second' > coalesce(
       (select max(delivered_at) from gate_key_deliveries as delivered
        where delivered.gate_id = gate_zone_keys.gate_id), asked_at)
     order by name`,
  );
  return rows.map(({ name }) => name);
}

/** Finds merchants whose old control key is still accepted this many days after its replacement. */
export async function findOldControlKeys(query: Query, days: number): Promise<readonly string[]> {
  const rows = await query<{ login: string }>(
    `select login from merchants where old_control_key is not null
       and control_key_set_at < now() - $1 * interval '1 day' order by login`,
    [days],
  );
  return rows.map(({ login }) => login);
}

/** Returns the age of the newest audit entry, or undefined if it is signed. */
export async function findUnsignedAge(query: Query): Promise<number | undefined> {
  const [row] = await query<{ seconds: number }>(
    `select extract(epoch from now() - audit.at)::float8 as seconds
     from audit_head join audit on audit.seq = audit_head.seq
     where not exists (select from audit_signatures where seq = audit_head.seq)`,
  );
  return row?.seconds;
}

const countedMax = 100_000;

/** Counts callbacks that were due before this time and were not sent, up to a limit. */
async function countOverdueCallbacks(query: Query, before: Instant): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from (
       select from callbacks where due_at <= to_timestamp($1::float8 / 1000) limit ${countedMax}
     ) as overdue`,
    [before],
  );
  return row?.count ?? 0;
}

export async function countOverdue(cells: Pick<Cells, "stores">, before: Instant) {
  const stores = cells.stores(({ node }) => node.query);
  const counts = await stores.each((query) => countOverdueCallbacks(query, before));
  return counts.reduce((sum, each) => sum + each, 0);
}

type UnreachableReceiver = { readonly receiver: string; readonly waiting: number };

/** Finds receivers of open callbacks that have failed at least this many times. */
export function findUnreachableReceivers(query: Query, tries: number, most: number) {
  return query<UnreachableReceiver>(
    `select receiver, count(*)::int as waiting
     from callbacks where due_at is not null and tries >= $1
     group by receiver order by waiting desc limit $2`,
    [tries, most],
  );
}
