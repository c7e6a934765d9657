/**
 * The users' accounts as the portal uses them: passwords, sessions and counts of sign-in tries.
 * Sessions are in the main database, so that every node knows them.
 */
import type { Api } from "../../portal-api/api.ts";
import type { Account, Caller, PortalSession } from "../../portal-api/route.ts";
import type { DigestBound, SignInTries } from "../../portal-api/sign-in.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Role } from "../../values/roles.ts";
import type { Secret } from "../../values/secret.ts";
import { asInstant, type Instant } from "../../values/time.ts";
import type { Query } from "../server/database.ts";
import { bytesArray } from "../server/gather.ts";
import type { Audit } from "./audit.ts";
import { idleDaysShown, isIdle, keepPassword } from "./users.ts";

type Actor = Caller["actor"];

export type AccountStoreOptions = {
  readonly query: Query;
  readonly auditAs: (actor: Actor) => Audit;
  readonly hashPassword: (password: Secret<string>) => Promise<string>;
  readonly idleMs: number;
  readonly sessionMs: number;
};

type SessionRow = {
  readonly digest: Buffer;
  readonly began: number;
  readonly seen: number;
  readonly second_factor: boolean;
  readonly challenge: string | null;
  readonly pending_totp: Buffer | null;
  readonly id: string;
  readonly login: string;
  readonly role: Role;
  readonly merchant_id: MerchantId | null;
  readonly merchant: string | null;
  readonly has_totp: boolean;
  readonly passkeys: number;
  readonly recovery_codes: number;
  readonly password_temporary: boolean;
  readonly demands_second_factor: boolean;
};

export const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
export const moment = (place: string) => `to_timestamp(${place}::float8 / 1000)`;

/** Runs at each request, so that a disabled user or an ended session takes effect at once. */
const sessionStatement = `
  select digest, ${milliseconds("began_at")} as began, ${milliseconds("seen_at")} as seen,
    second_factor, case when challenge_expires_at > ${moment("$2")} then challenge end as challenge,
    pending_totp, users.id, users.login, role, merchant_id,
    merchants.login as merchant, totp_sealed is not null as has_totp,
    (select count(*)::int from passkeys where user_id = users.id) as passkeys,
    cardinality(users.recovery_codes) as recovery_codes, password_temporary,
    coalesce(demands_second_factor, false) as demands_second_factor
  from portal_sessions join users on users.id = user_id
    left join merchants on merchants.id = merchant_id
  where digest = $1 and users.enabled and users.password is not null`;

export function makeSessionStore({ query, idleMs, sessionMs }: AccountStoreOptions) {
  return {
    async find(digest: Uint8Array, now: Instant): Promise<PortalSession | undefined> {
      const [row] = await query<SessionRow>(sessionStatement, [digest, now]);
      if (row === undefined) return undefined;
      if (now - row.seen >= idleMs || now - row.began >= sessionMs) return undefined;
      return sessionOf(row);
    },
    async touch(digest: Uint8Array, now: Instant): Promise<void> {
      await query(`update portal_sessions set seen_at = ${moment("$2")} where digest = $1`, [
        ...[digest, now],
      ]);
    },
    async deleteExpired(now: Instant): Promise<void> {
      await query(
        `delete from portal_sessions where seen_at < ${moment("$1")} or began_at < ${moment("$2")}`,
        [now - idleMs, now - sessionMs],
      );
      // Expired counts are kept for a day, so that a login's next lock lasts longer than the last.
      await query(`delete from sign_in_tries where expires_at < ${moment("$1")}`, [
        now - lockedMsMax,
      ]);
    },
  };
}

function sessionOf(row: SessionRow): PortalSession {
  const account: Account = {
    id: row.id,
    login: row.login,
    role: row.role,
    passkeys: row.passkeys,
    merchantId: row.merchant_id ?? undefined,
    merchant: row.merchant ?? undefined,
    hasTotp: row.has_totp,
    recoveryCodes: row.recovery_codes,
    isPasswordTemporary: row.password_temporary,
    isFactorDemanded: row.demands_second_factor,
  };
  return {
    digest: row.digest,
    account,
    beganAt: asInstant(row.began),
    seenAt: asInstant(row.seen),
    secondFactor: row.second_factor,
    challenge: row.challenge ?? undefined,
    pendingTotp: row.pending_totp ?? undefined,
  };
}

type StoredPassword = {
  readonly id: string;
  readonly stored: string;
  readonly isTemporary: boolean;
  /** True if the password is temporary and the user has not replaced it in time. */
  readonly isExpired: boolean;
};

type NewSession = {
  readonly digest: Uint8Array;
  readonly userId: string;
  readonly now: Instant;
  readonly network: string;
  readonly agent: string;
};

export type ListedSession = {
  readonly digest: Uint8Array;
  readonly beganAt: Instant;
  readonly seenAt: Instant;
  readonly network: string;
  readonly agent: string;
};

export type AccountStore = ReturnType<typeof makeAccountStore>;

/** Every change is written with its audit entry. */
export function makeAccountStore(options: AccountStoreOptions) {
  const { query, auditAs, hashPassword } = options;
  return {
    async findPassword(login: string, now: Instant): Promise<StoredPassword | undefined> {
      const [user] = await query<StoredPassword>(
        `select id, password as stored, password_temporary as "isTemporary",
           coalesce(password_expires_at <= ${moment("$2")}, false) as "isExpired"
         from users where login = $1 and enabled and password is not null`,
        [login, now],
      );
      return user;
    },
    async openSession(session: NewSession): Promise<PortalSession | undefined> {
      const { digest, userId, now, network, agent } = session;
      await query(
        `insert into portal_sessions (digest, user_id, began_at, seen_at, network, agent)
         values ($1, $2, ${moment("$3")}, ${moment("$3")}, $4, $5)`,
        [digest, userId, now, network, agent],
      );
      const [row] = await query<SessionRow>(sessionStatement, [digest, now]);
      return row && sessionOf(row);
    },
    async closeSession(digest: Uint8Array): Promise<void> {
      await query("delete from portal_sessions where digest = $1", [digest]);
    },
    async listSessions(userId: string) {
      return query<ListedSession>(
        `select digest, ${milliseconds("began_at")} as "beganAt",
           ${milliseconds("seen_at")} as "seenAt", network, agent
         from portal_sessions where user_id = $1 order by seen_at desc limit 100`,
        [userId],
      );
    },
    /** Lists the present password and the four before it. */
    async listPasswords(userId: string): Promise<readonly string[]> {
      const rows = await query<{ stored: string }>(
        `select unnest(password || earlier_passwords) as stored from users where id = $1`,
        [userId],
      );
      return rows.map(({ stored }) => stored);
    },
    async markUsed(userId: string, now: Instant): Promise<void> {
      await query(`update users set used_at = ${moment("$2")} where id = $1`, [userId, now]);
    },
    revokeSession: async (actor: Actor, login: string, id: string) =>
      (await endSessions(auditAs(actor), login, id)) > 0,
    /** Replaces the password and ends the user's other sessions. */
    async setPassword(
      actor: Actor,
      { account, digest }: PortalSession,
      password: Secret<string>,
    ): Promise<void> {
      const stored = await hashPassword(password);
      await auditAs(actor).change(async (change, write) => {
        await change(
          `update users set password = $2, password_temporary = false, password_expires_at = null,
             ${keepPassword} where id = $1`,
          [account.id, stored],
        );
        await change("delete from portal_sessions where user_id = $1 and digest <> $2", [
          ...[account.id, digest],
        ]);
        await write({ action: "user password", subject: `user ${account.login}` });
      });
    },
  };
}

type TeamUser = Omit<Api["GET /users"]["output"]["users"][number], "merchant" | "seenAt"> & {
  readonly merchant: string | null;
  readonly seenAt: number | null;
};

export type TeamReads = ReturnType<typeof makeTeamReads>;

export function makeTeamReads({ query, idleMs }: Pick<AccountStoreOptions, "query" | "idleMs">) {
  return {
    list: (now: Instant) =>
      query<TeamUser>(
        `select users.login, role, merchants.login as merchant, users.enabled,
           case when password is null then 'none' when not password_temporary then 'own'
             when password_expires_at <= ${moment("$1")} then 'expired' else 'temporary'
           end as password, totp_sealed is not null as totp,
           (select count(*)::int from passkeys where user_id = users.id) as passkeys,
           coalesce((select ${milliseconds("max(seen_at)")} from portal_sessions
             where user_id = users.id), ${milliseconds("used_at")}) as "seenAt",
           ${isIdle("users", "$2")} as "isIdle"
         from users left join merchants on merchants.id = merchant_id order by users.login`,
        [now, idleDaysShown],
      ),
    listSessions: (merchantId: MerchantId | undefined, now: Instant) =>
      query<ListedSession & { login: string }>(
        `select login, digest, ${milliseconds("began_at")} as "beganAt",
           ${milliseconds("seen_at")} as "seenAt", network, agent
         from portal_sessions join users on users.id = user_id
         where ($1::bigint is null or merchant_id = $1) and seen_at > ${moment("$2")}
         order by seen_at desc limit 500`,
        [merchantId, now - idleMs],
      ),
  };
}

/** Ends the user's session with that id, or all without an id. Returns how many have ended. */
export function endSessions(audit: Audit, login: string, id?: string): Promise<number> {
  return audit.change(async (change, write) => {
    const ended = await change<{ id: string }>(
      `delete from portal_sessions using users where user_id = users.id and login = $1
         and ($2::text is null or left(encode(digest, 'hex'), 32) = $2)
       returning left(encode(digest, 'hex'), 32) as id`,
      [login, id ?? null],
    );
    for (const { id: session } of ended) {
      const subject = `session ${session}`;
      await write({ action: "user end-session", subject, before: { login } });
    }
    return ended.length;
  });
}

/** The longest time for which a login is locked after failed sign-ins. */
const lockedMsMax = 86_400_000;

export function makeSignInTries(query: Query): SignInTries {
  return {
    async add(bounds, now) {
      // Rows are locked in the order of their keys, so that two requests never wait for each other.
      const sorted = bounds.toSorted((one, other) => Buffer.compare(one.key, other.key));
      const rows = await query<{ key: Buffer; tries: number }>(
        `insert into sign_in_tries (key, tries, expires_at)
         select key, 1, ${moment("ends")} from unnest($1::bytea[], $3::float8[]) as own (key, ends)
         where not exists (
           select from sign_in_tries as full_count
             join unnest($1::bytea[], $4::int[]) as bound (key, most) using (key)
           where tries >= most and expires_at > ${moment("$2")}
         )
         on conflict (key) do update set
           tries = case when sign_in_tries.expires_at <= ${moment("$2")} then 1
             else sign_in_tries.tries + 1 end,
           expires_at = case when sign_in_tries.expires_at <= ${moment("$2")}
             then excluded.expires_at else sign_in_tries.expires_at end
         returning key, tries`,
        [
          ...[bytesArray(sorted.map(({ key }) => key)), now],
          ...[sorted.map(({ expiresAt }) => expiresAt), sorted.map(({ max }) => max)],
        ],
      );
      const triesOf = (key: Uint8Array) => rows.find((row) => row.key.equals(key))?.tries;
      for (const bound of sorted) if (triesOf(bound.key) === bound.max) await lock(bound, now);
      // The counts are compared after this try was added to them, because other requests add their
      // tries at the same time.
      return bounds.every(({ key, max }) => {
        const tries = triesOf(key);
        return tries !== undefined && tries <= max;
      });
    },
    async release(key) {
      await query("update sign_in_tries set tries = tries - 1 where key = $1", [key]);
    },
    async clear(key) {
      await query("delete from sign_in_tries where key = $1", [key]);
    },
  };

  /** Locks sign-ins for the login, browser or network whose count of tries reaches its maximum. */
  async function lock({ key, lockMs, grows }: DigestBound, now: Instant): Promise<void> {
    await query(
      `update sign_in_tries set locks = locks + 1, expires_at = to_timestamp((
         $2::float8 + least($3::float8 * case when $4 then 2 ^ least(locks, 20) else 1 end, $5)
       ) / 1000) where key = $1`,
      [key, now, lockMs, grows, lockedMsMax],
    );
  }
}
