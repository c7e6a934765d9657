/** Users and their roles, for `gw` and for the portal. */
import type { MerchantId } from "../values/ids.ts";
import { isMerchantRole, type Role } from "../values/roles.ts";
import type { Audit } from "./audit.ts";
import type { Query } from "./database.ts";

/** A hash, never the password itself. */
export type NewPassword = { readonly stored: string; readonly isTemporary: boolean };

export type User = {
  readonly login: string;
  readonly role: Role;
  /** The login of the merchant; null for an operator's user. */
  readonly merchant: string | null;
  readonly enabled: boolean;
};

/** A temporary password opens nothing after so long. */
export const temporaryPasswordHours = 72;

const select = `select users.login, role, merchants.login as merchant, users.enabled
  from users left join merchants on merchants.id = merchant_id`;

/** Whether the schema has users, and an audit with a head. */
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

export function listUsers(query: Query): Promise<readonly User[]> {
  return query<User>(`${select} order by users.login`);
}

export function makeUserAdministration(audit: Audit) {
  return {
    add: (...given: NewUser) => addUser(audit, ...given),
    /** Never from a merchant to the operators or back: a new user has a password of its own. */
    setRole: (login: string, role: Role) =>
      change(
        ...(["user role", login] as const),
        "update users set role = $2 where login = $1 and (merchant_id is not null) = $3",
        [login, role, isMerchantRole(role)],
      ),
    setPassword: (login: string, { stored, isTemporary }: NewPassword) =>
      change(
        ...(["user password", login] as const),
        `update users set password = $2, password_temporary = $3,
           password_expires_at = case when $3 then now() + make_interval(hours => $4) end
         where login = $1`,
        [login, stored, isTemporary, temporaryPasswordHours],
      ),
    /** For a person who has lost their phone: passkeys, codes of an app and recovery codes. */
    removeFactors: (login: string) =>
      change(
        ...(["user factors remove", login] as const),
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

  /** Ends the user's sessions in the portal: another person may sit in one. */
  function change(action: string, login: string, text: string, values: readonly unknown[]) {
    return audit.change(async (query, write) => {
      const before = await findUser(query, login);
      await query(
        "delete from portal_sessions using users where user_id = users.id and login = $1",
        [login],
      );
      await query(text, values);
      const after = await findUser(query, login);
      await write({ action, subject: `user ${login}`, before, after });
    });
  }
}

type NewUser = [name: string, role: Role, merchant?: MerchantId | undefined];

/** Returns the login; nothing if there is a user of that login, in any case of its letters. */
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
