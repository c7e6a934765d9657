/** Users and their roles, for `gw` and for the portal. */
import type { MerchantId } from "../../values/ids.ts";
import { isMerchantRole, type Role } from "../../values/roles.ts";
import type { Query } from "../server/database.ts";
import type { Audit } from "./audit.ts";

/** The hash of a new password, never the password itself. */
type NewPassword = { readonly stored: string; readonly isTemporary: boolean };

export type User = {
  readonly login: string;
  readonly role: Role;
  /** The login of the merchant, or null for an operator. */
  readonly merchant: string | null;
  readonly enabled: boolean;
};

type ListedUser = User & { readonly usedAt: string | null; readonly isIdle: boolean };

export const temporaryPasswordHours = 72;

const select = `select users.login, role, merchants.login as merchant, users.enabled
  from users left join merchants on merchants.id = merchant_id`;

/** The number of days without use after which lists mark a user as idle. */
export const idleDaysShown = 90;

export const isIdle = (users: string, days: string) =>
  `(${users}.role <> 'service' and
    coalesce(${users}.used_at, ${users}.created_at) < now() - make_interval(days => ${days}))`;

/** Keeps the hashes of the last passwords, except temporary ones, which other people have made. */
export const keepPassword = `earlier_passwords = case
  when password is null or password_temporary then earlier_passwords
  else (password || earlier_passwords)[1:4] end`;

/** Returns whether the schema has the tables `users` and `audit_head`. */
export async function hasUsers(query: Query): Promise<boolean> {
  const [row] = await query<{ has: boolean }>(
    "select to_regclass('users') is not null and to_regclass('audit_head') is not null as has",
  );
  return row?.has === true;
}

export async function findUser(query: Query, login: string): Promise<User | undefined> {
  const [user] = await query<User>(`${select} where users.login = $1`, [login]);
  return user;
}

export async function findMerchantOf(query: Query, login: string): Promise<MerchantId | undefined> {
  const [user] = await query<{ id: MerchantId | null }>(
    "select merchant_id as id from users where login = $1",
    [login],
  );
  return user?.id ?? undefined;
}

export async function findMerchantId(query: Query, login: string): Promise<MerchantId | undefined> {
  const [merchant] = await query<{ id: MerchantId }>("select id from merchants where login = $1", [
    login,
  ]);
  return merchant?.id;
}

export function listUsers(query: Query): Promise<readonly ListedUser[]> {
  return query<ListedUser>(
    `select users.login, role, merchants.login as merchant, users.enabled,
       to_char(used_at at time zone 'UTC', 'YYYY-MM-DD') as "usedAt",
       ${isIdle("users", "$1")} as "isIdle"
     from users left join merchants on merchants.id = merchant_id order by users.login`,
    [idleDaysShown],
  );
}

/** Lists the users for a person who confirms that each still needs the access (PCI DSS 7.2.4). */
export function reviewAccess(query: Query): Promise<readonly Readonly<Record<string, string>>[]> {
  const day = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD')`;
  return query(
    `with entries as materialized (
       select seq, actor, substr(subject, 6) as login from audit where action = 'user add'
     )
     select users.login, role, coalesce(merchants.login, '') as merchant,
       case when not users.enabled then 'off' when ${isIdle("users", "$1")} then 'idle'
         else 'on' end as state,
       coalesce(${day("used_at")}, 'never') as used,
       concat_ws(' + ', case when password is not null then 'password' end,
         case when totp_sealed is not null then 'app' end,
         (select nullif(count(*), 0) || ' passkeys' from passkeys where user_id = users.id)
       ) as factors,
       ${day("users.created_at")} as added, coalesce(admitted.actor, 'unknown') as "admitted by"
     from users left join merchants on merchants.id = merchant_id
       left join lateral (
         select actor from entries where entries.login = users.login order by seq desc limit 1
       ) as admitted on true
     order by users.login`,
    [idleDaysShown],
  );
}

/** Notes that operators have run a command of `gw`, at most once a day for each operator. */
export async function markUsed(query: Query, ...logins: readonly string[]): Promise<void> {
  await query(
    `update users set used_at = now()
     where login = any($1) and merchant_id is null
       and (used_at is null or used_at < now() - interval '1 day')`,
    [logins],
  );
}

/** Disables idle users, but never the last administrator, who alone can enable users again. */
export async function disableIdle(query: Query, audit: Audit, days: number): Promise<void> {
  if (days === 0) return;
  const idle = `users.enabled and ${isIdle("users", "$1")} and (role <> 'admin' or exists (
    select from users as other
    where other.role = 'admin' and other.enabled and not ${isIdle("other", "$1")}))`;
  if ((await query(`select from users where ${idle}`, [days])).length === 0) return;
  await audit.change(async (change, write) => {
    const disabled = await change<{ login: string }>(
      `update users set enabled = false where ${idle} returning login`,
      [days],
    );
    for (const { login } of disabled) {
      await write({ action: "user disable", subject: `user ${login}`, after: { idleDays: days } });
    }
  });
}

export function makeUserAdministration(audit: Audit) {
  return {
    add: (...given: NewUser) => addUser(audit, ...given),
    demandFactor: (...given: FactorDemand) => demandFactor(audit, ...given),
    /** A merchant's user cannot become an operator, or an operator a merchant's user. */
    setRole: (login: string, role: Role) =>
      change(
        ...(["user role", login] as const),
        role === "service"
          ? `with gone as (delete from passkeys using users where user_id = users.id and login = $1)
             update users set role = $2, password = null, totp_sealed = null, recovery_codes = '{}'
             where login = $1 and (merchant_id is not null) = $3`
          : "update users set role = $2 where login = $1 and (merchant_id is not null) = $3",
        [login, role, isMerchantRole(role)],
      ),
    /** Leaves the account of a program (`service`) without a password. */
    setPassword: (login: string, { stored, isTemporary }: NewPassword) =>
      change(
        ...(["user password", login] as const),
        `update users set password = $2, password_temporary = $3,
           password_expires_at = case when $3 then now() + make_interval(hours => $4) end,
           ${keepPassword}
         where login = $1 and role <> 'service'`,
        [login, stored, isTemporary, temporaryPasswordHours],
      ),
    /** Removes the second factors of a user who has lost their phone. */
    removeFactors: (login: string) =>
      change(
        ...(["user reset-factors", login] as const),
        `with gone as (delete from passkeys using users where user_id = users.id and login = $1)
         update users set totp_sealed = null, recovery_codes = '{}' where login = $1`,
        [login],
      ),
    enable: (login: string, enabled: boolean) =>
      change(
        ...([enabled ? "user enable" : "user disable", login] as const),
        "update users set enabled = $2 where login = $1",
        [login, enabled],
      ),
    remove: (login: string) =>
      change(
        ...(["user remove", login] as const),
        `with gone as (delete from passkeys using users where user_id = users.id and login = $1)
         delete from users where login = $1`,
        [login],
      ),
  };

  /** Also ends the user's sessions, because another person may use one, and lifts sign-in locks. */
  function change(action: string, login: string, text: string, values: readonly unknown[]) {
    return audit.change(async (query, write) => {
      const before = await findUser(query, login);
      await query(
        "delete from portal_sessions using users where user_id = users.id and login = $1",
        [login],
      );
      await query(
        `delete from sign_in_tries where key in (
           sha256(convert_to('login/' || lower($1), 'UTF8')),
           sha256(convert_to('code/login/' || lower($1), 'UTF8')))`,
        [login],
      );
      await query(text, values);
      const after = await findUser(query, login);
      await write({ action, subject: `user ${login}`, before, after });
    });
  }
}

type NewUser = [name: string, role: Role, merchant?: MerchantId | undefined];

/** Returns undefined if the login exists, in upper or lower case. */
function addUser(audit: Audit, ...[name, role, merchant]: NewUser): Promise<string | undefined> {
  return audit.change(async (query, write) => {
    const [added] = await query<{ login: string }>(
      `insert into users (login, role, merchant_id)
       select named.login, $2, $3 from (
         select $1::text || coalesce(
           (select '@' || merchants.login from merchants where id = $3::bigint), '') as login
       ) as named
       where not exists (select from users where lower(users.login) = lower(named.login))
       returning login`,
      [name, role, merchant ?? null],
    );
    if (added === undefined) return undefined;
    const { login } = added;
    const after = await findUser(query, login);
    await write({ action: "user add", subject: `user ${login}`, after });
    return login;
  });
}

type FactorDemand = [merchant: MerchantId, isDemanded: boolean];

function demandFactor(audit: Audit, ...[merchant, isDemanded]: FactorDemand): Promise<void> {
  return audit.change(async (query, write) => {
    const [row] = await query<{ login: string }>(
      "update merchants set demands_second_factor = $2 where id = $1 returning login",
      [merchant, isDemanded],
    );
    const subject = `merchant ${row?.login}`;
    await write({ action: "user demand-factor", subject, after: { isDemanded } });
  });
}
