/** The second factors of portal users: secrets of apps, recovery codes and passkeys. */
import type { Caller, PortalSession } from "../../portal-api/route.ts";
import type { Secret } from "../../values/secret.ts";
import { asInstant, type Instant } from "../../values/time.ts";
import { bytesArray } from "../server/gather.ts";
import { type AccountStoreOptions, milliseconds, moment } from "./accounts.ts";

export type FactorStoreOptions = Pick<AccountStoreOptions, "query" | "auditAs"> & {
  readonly newSecret: () => Secret<string>;
  readonly seal: (secret: Secret<string>, context: string) => Uint8Array;
  readonly open: (sealed: Uint8Array, context: string) => Secret<string>;
  readonly findStep: (
    secret: Secret<string>,
    code: string,
    when: { readonly now: Instant; readonly after: number },
  ) => number | undefined;
  /** Returns the secret as an app reads it. `issuer` is the gateway's name in the app. */
  readonly show: (
    secret: Secret<string>,
    issuer: string,
    login: string,
  ) => { secret: string; picture: string };
  readonly issuer: string;
  readonly newCodes: () => {
    readonly codes: readonly string[];
    readonly digests: readonly Buffer[];
  };
  readonly digestCode: (code: string) => Buffer;
};

export function totpContext(userId: string): string {
  return `totp/${userId}`;
}

type Actor = Caller["actor"];

export type Passkey = {
  readonly id: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant | undefined;
};

export type FactorStore = ReturnType<typeof makeFactorStore>;

/** Every change is written with its audit entry. */
export function makeFactorStore(options: FactorStoreOptions) {
  const { query, auditAs, seal, open, findStep } = options;
  return {
    /** Returns true for a new code of the user's app, or for an unused recovery code. */
    async useCode({ account }: PortalSession, code: string, now: Instant): Promise<boolean> {
      if (!/^\d{6}$/.test(code)) {
        const used = await query(
          `update users set recovery_codes = array_remove(recovery_codes, $2::bytea)
           where id = $1 and $2::bytea = any(recovery_codes) returning id`,
          [account.id, options.digestCode(code)],
        );
        return used.length > 0;
      }
      const [user] = await query<{ sealed: Buffer; step: string }>(
        `select totp_sealed as sealed, totp_step as step from users
         where id = $1 and totp_sealed is not null`,
        [account.id],
      );
      if (user === undefined) return false;
      const when = { now, after: Number(user.step) };
      const step = findStep(open(user.sealed, totpContext(account.id)), code, when);
      if (step === undefined) return false;
      // If two requests send the same code, only one advances the stored time step and succeeds.
      const used = await query(
        "update users set totp_step = $2 where id = $1 and totp_step < $2 returning id",
        [account.id, step],
      );
      return used.length > 0;
    },

    async usePasskey(
      { account }: PortalSession,
      id: string,
      counter: number,
      now: Instant,
    ): Promise<boolean> {
      const used = await query(
        `update passkeys set counter = $3, last_used_at = ${moment("$4")}
         where id = $1 and user_id = $2 and (counter < $3 or (counter = 0 and $3 = 0))
         returning id`,
        [id, account.id, counter, now],
      );
      return used.length > 0;
    },

    /** Notes that the session has passed the second factor, and replaces the session's token. */
    async raiseSession(digest: Uint8Array, next: Uint8Array): Promise<void> {
      const raise =
        "update portal_sessions set second_factor = true, digest = $2 where digest = $1";
      await query(raise, [digest, next]);
    },
    /** Stores the challenge that a passkey has to sign. An empty text ends the previous one. */
    async setChallenge(digest: Uint8Array, challenge: string, expiresAt: Instant): Promise<void> {
      await query(
        `update portal_sessions set challenge = $2, challenge_expires_at = ${moment("$3")}
         where digest = $1`,
        [digest, challenge === "" ? null : challenge, expiresAt],
      );
    },

    async beginTotp({ account, digest }: PortalSession) {
      const secret = options.newSecret();
      await query("update portal_sessions set pending_totp = $2 where digest = $1", [
        ...[digest, seal(secret, totpContext(account.id))],
      ]);
      return options.show(secret, options.issuer, account.login);
    },

    /** Turns on an app's codes. Returns undefined if the code does not match the pending secret. */
    async confirmTotp(
      actor: Actor,
      { account, digest, pendingTotp }: PortalSession,
      code: string,
      now: Instant,
    ): Promise<readonly string[] | undefined> {
      if (pendingTotp === undefined) return undefined;
      const secret = open(pendingTotp, totpContext(account.id));
      const step = findStep(secret, code, { now, after: 0 });
      if (step === undefined) return undefined;
      const { codes, digests } = options.newCodes();
      await auditAs(actor).change(async (change, write) => {
        await change(
          `update users set totp_sealed = $2, totp_step = $3, recovery_codes = $4::bytea[]
           where id = $1`,
          [account.id, seal(secret, totpContext(account.id)), step, bytesArray(digests)],
        );
        await change("update portal_sessions set pending_totp = null where digest = $1", [digest]);
        await write({ action: "user totp on", subject: `user ${account.login}` });
      });
      return codes;
    },

    removeTotp: (actor: Actor, { account }: PortalSession): Promise<void> =>
      auditAs(actor).change(async (change, write) => {
        await change(
          `update users set totp_sealed = null, recovery_codes = case when
             exists (select from passkeys where user_id = $1) then recovery_codes else '{}' end
           where id = $1`,
          [account.id],
        );
        await write({ action: "user totp off", subject: `user ${account.login}` });
      }),

    async renewRecoveryCodes(actor: Actor, { account }: PortalSession): Promise<readonly string[]> {
      const { codes, digests } = options.newCodes();
      await auditAs(actor).change(async (change, write) => {
        await change("update users set recovery_codes = $2::bytea[] where id = $1", [
          ...[account.id, bytesArray(digests)],
        ]);
        await write({ action: "user recovery codes", subject: `user ${account.login}` });
      });
      return codes;
    },

    async listPasskeys(userId: string): Promise<readonly Passkey[]> {
      const rows = await query<PasskeyRow>(
        `select id, public_key, counter::float8 as counter, transports, name,
           ${milliseconds("created_at")} as created, ${milliseconds("last_used_at")} as used
         from passkeys where user_id = $1 order by created_at`,
        [userId],
      );
      return rows.map(passkeyOf);
    },

    async addPasskey(
      actor: Actor,
      { account }: PortalSession,
      passkey: Omit<Passkey, "lastUsedAt">,
    ): Promise<boolean> {
      const { id, publicKey, counter, transports, name, createdAt } = passkey;
      return auditAs(actor).change(async (change, write) => {
        const added = await change(
          `insert into passkeys (id, user_id, public_key, counter, transports, name, created_at)
           values ($1, $2, $3, $4, $5, $6, ${moment("$7")}) on conflict do nothing returning id`,
          [id, account.id, Buffer.from(publicKey), counter, transports, name, createdAt],
        );
        if (added.length === 0) return false;
        await write({
          action: "user passkey add",
          subject: `user ${account.login}`,
          after: { name },
        });
        return true;
      });
    },

    removePasskey: (actor: Actor, userId: string, id: string): Promise<boolean> =>
      auditAs(actor).change(async (change, write) => {
        const [gone] = await change<{ name: string }>(
          "delete from passkeys where id = $1 and user_id = $2 returning name",
          [id, userId],
        );
        if (gone === undefined) return false;
        await write({ action: "user passkey remove", subject: `user ${actor.who}`, before: gone });
        return true;
      }),
  };
}

type PasskeyRow = {
  readonly id: string;
  readonly public_key: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly created: number;
  readonly used: number | null;
};

function passkeyOf({ public_key, created, used, ...row }: PasskeyRow): Passkey {
  const times = {
    createdAt: asInstant(created),
    lastUsedAt: used === null ? undefined : asInstant(used),
  };
  return { ...row, ...times, publicKey: new Uint8Array(public_key) };
}
