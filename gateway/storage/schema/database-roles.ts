/**
 * The two database roles of the gateway, and what `gw doctor` checks of them. Nodes have the first
 * role, which may add sealed cards and read nothing of the vault; the vault has the second.
 * Operators' commands keep the rights of their login. If the login may not make roles, the gateway
 * works without them.
 */
import type { Database, Query } from "../server/database.ts";

/** The schemas of the main cell. Every other cell has one schema. */
const mainSchemas = ["public", "vault"] as const;

export const nodeRole = "tollgate_gateway";
export const vaultRole = "tollgate_vault";

type Separation = {
  readonly schemas: readonly string[];
  /** True on Citus: its coordinator uses the session's role to log in to the worker servers. */
  readonly rolesLogIn: boolean;
};

/** Grants both roles their rights in a cell, or returns what an administrator has to do. */
export async function separateVault(
  { query, transaction }: Database,
  { schemas, rolesLogIn }: Separation = { schemas: mainSchemas, rolesLogIn: false },
): Promise<string | undefined> {
  const isSeparate = () => isVaultSeparate(query, { schemas, rolesLogIn });
  if (await isSeparate()) return undefined;
  try {
    await transaction(async (change) => {
      await change("select pg_advisory_xact_lock(8584, 0)");
      await change(makeRoles);
      for (const schema of schemas) await change(grantsIn(schema));
    });
    if (rolesLogIn) await letLogIn(query);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === notAllowed)) throw error;
  }
  if (await isSeparate()) return undefined;
  const [row] = await query<{ login: string }>("select current_user as login");
  return (
    "The gateway's own statements can read the vault's tables. Have an administrator of the " +
    `database run: create role ${nodeRole}; create role ${vaultRole}; ` +
    `grant ${nodeRole}, ${vaultRole} to "${row?.login}"; then start again.`
  );
}

/**
 * Lets the roles log in without a password, as far as each worker server's `pg_hba.conf` permits.
 * Citus forwards a change of a role only if the role was made through this database, so the change
 * is made on each server, after the roles are committed. Forwarding is off, because the servers
 * would wait for each other.
 */
async function letLogIn(query: Query): Promise<void> {
  for (const role of [nodeRole, vaultRole]) {
    const change = `do $$ begin
      perform set_config('citus.enable_ddl_propagation', 'off', true),
        set_config('citus.enable_alter_role_propagation', 'off', true);
      alter role ${role} login;
    end $$`;
    await query(change);
    await query("select run_command_on_workers($1)", [change]);
  }
}

/** Fails if a role cannot be used, for example because a Citus worker server refuses it. */
export async function checkRoles({ transaction }: Database): Promise<void> {
  for (const role of [nodeRole, vaultRole]) {
    await transaction(async (query) => {
      await query(`set local role ${role}`);
      await query("select from moved_merchants limit 1");
    });
  }
}

async function isVaultSeparate(
  query: Query,
  { schemas, rolesLogIn }: Separation,
): Promise<boolean> {
  const roles = await query(rolesStatement, [[nodeRole, vaultRole], rolesLogIn]);
  if (roles.length < 2) return false;
  const values = [nodeRole, vaultRole, schemas];
  const [row] = await query<{ separate: boolean }>(separateStatement, values);
  return row?.separate === true;
}

/** Returns the role of nodes, or undefined if the login may not use that role. */
export async function findNodeRole(query: Query): Promise<string | undefined> {
  const roles = await query(rolesStatement, [[nodeRole], false]);
  return roles.length > 0 ? nodeRole : undefined;
}

export async function canReadVault(query: Query): Promise<boolean> {
  const [row] = await query<{ can: boolean }>(
    "select has_table_privilege('cards', 'select') as can",
  );
  return row?.can === true;
}

export async function examineServer(query: Query) {
  const [row] = await query<ServerRow>(
    `select version() as version, current_setting('server_version_num')::int as number,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`,
  );
  if (row === undefined) throw new Error("the server did not answer");
  return row;
}

type ServerRow = Readonly<
  Record<"version" | "fsync" | "commit", string> & Record<"number", number>
>;

const notAllowed = "42501";

// A role belongs to the whole database server, so the gateway of another database may make it at
// the same moment. The error that the role exists is ignored.
const makeRoles = `
do $$
declare
  wanted text;
  kind text := case when current_setting('server_version_num')::int >= 160000
    then 'SET' else 'MEMBER' end;
begin
  foreach wanted in array array['${nodeRole}', '${vaultRole}'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
      exception when duplicate_object or unique_violation then null;
      end;
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user)
       and not pg_has_role(current_user, wanted, kind) then
      execute format('grant %I to current_user', wanted);
    end if;
  end loop;
end $$`;

/** Matches the vault's tables: by their schema, or in a cell with a single schema by name. */
const isVaults = `(relnamespace::regnamespace::text = 'vault'
  or relname in ('cards', 'condemned_cards', 'held_keys', 'held_secrets'))`;

/** The tables of the audit, whose rows are never changed or deleted. */
const appendOnly = "'audit', 'audit_signatures', 'audit_keys'";

const grantsIn = (schema: string) => `
do $$
declare
  each record;
begin
  grant usage on schema ${schema} to ${nodeRole}, ${vaultRole};
  for each in
    select oid::regclass as name, ${isVaults} as is_vaults, relname = 'cards' as is_cards,
      relname = 'moved_merchants' as is_fence, relname in (${appendOnly}) as is_append_only,
      relname = 'card_keys' as is_key_list, relkind = 'S' as is_sequence
    from pg_class where relkind in ('r', 'p', 'S') and relnamespace = '${schema}'::regnamespace
  loop
    if each.is_sequence then
      if not each.is_vaults then
        execute format('grant usage on sequence %s to ${nodeRole}', each.name);
      end if;
    elsif each.is_vaults then
      execute format('revoke all on %s from ${nodeRole}', each.name);
      execute format(
        'grant select, insert, update, delete, truncate on %s to ${vaultRole}', each.name);
    elsif each.is_append_only then
      execute format('revoke all on %s from ${nodeRole}', each.name);
      execute format('grant select, insert on %s to ${nodeRole}', each.name);
    else
      execute format('grant select, insert, update, delete on %s to ${nodeRole}', each.name);
    end if;
    if each.is_fence then
      execute format('grant select on %s to ${vaultRole}', each.name);
    end if;
    if each.is_key_list then
      execute format('grant select, insert, update on %s to ${vaultRole}', each.name);
    end if;
    if each.is_cards then
      execute format('grant insert on %s to ${nodeRole}', each.name);
    end if;
  end loop;
end $$`;

const rolesStatement = `
select from pg_roles
where rolname = any($1) and not rolsuper and (rolcanlogin or not $2)
  and pg_has_role(current_user, oid,
  case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`;

const separateStatement = `
with tables as (
  select oid, relkind = 'S' as is_sequence, ${isVaults} as is_vaults,
    relname in (${appendOnly}) as is_append_only
  from pg_class where relkind in ('r', 'p', 'S')
    and relnamespace::regnamespace::text = any($3::text[])
)
select current_schema() = ($3::text[])[1]
  and (select bool_and(has_schema_privilege(role, schema, 'usage'))
       from unnest($3::text[]) as schema, unnest(array[$1::text, $2::text]) as role)
  and has_table_privilege($1, 'cards', 'insert')
  and has_table_privilege($2, 'moved_merchants', 'select')
  and has_table_privilege($2, 'card_keys', 'update')
  and not exists (
    select from tables where case
      when is_sequence then not is_vaults and not has_sequence_privilege($1, oid, 'usage')
      when is_append_only then has_table_privilege($1, oid, 'update, delete, truncate') or not (
        has_table_privilege($1, oid, 'select') and has_table_privilege($1, oid, 'insert'))
      when not is_vaults then not (
        has_table_privilege($1, oid, 'select') and has_table_privilege($1, oid, 'insert')
        and has_table_privilege($1, oid, 'update') and has_table_privilege($1, oid, 'delete'))
      else has_table_privilege($1, oid, 'select') or not (
        has_table_privilege($2, oid, 'select') and has_table_privilege($2, oid, 'insert')
        and has_table_privilege($2, oid, 'update') and has_table_privilege($2, oid, 'delete'))
    end
  ) as separate`;
