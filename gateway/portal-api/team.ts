/** Users, their sessions, and the audit. A merchant's administrator sees that merchant's users. */
import type { MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { Role } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import { type ListedSession, viewSession } from "./account.ts";
import type { Api, Handlers } from "./api.ts";
import { type PerformAction, refusalOf } from "./perform.ts";
import { lookedThrough } from "./reads.ts";
import type { Caller } from "./route.ts";

export type TeamUser = {
  readonly login: string;
  readonly role: Role;
  readonly merchant: string | null;
  readonly enabled: boolean;
  readonly password: "own" | "temporary" | "expired" | "none";
  readonly totp: boolean;
  readonly passkeys: number;
  readonly seenAt: number | null;
  readonly isIdle: boolean;
};

type TeamSession = ListedSession & { readonly login: string };

export type TeamReads = {
  list(now: Instant): Promise<readonly TeamUser[]>;
  /** Those of a merchant's users, or all. */
  listSessions(merchantId: MerchantId | undefined, now: Instant): Promise<readonly TeamSession[]>;
};

export type TeamOptions = { readonly team: TeamReads; readonly perform: PerformAction };

export function teamHandlers({ team, perform }: TeamOptions) {
  return {
    async "GET /users"(_, { merchantId, account, now }) {
      const users = (await team.list(now))
        .filter(({ merchant }) => merchantId === undefined || merchant === account.merchant)
        .map(({ merchant, seenAt, ...user }) => ({
          ...user,
          ...(merchant === null ? {} : { merchant }),
          ...(seenAt === null ? {} : { seenAt }),
        }));
      return { users, isFactorDemanded: account.isFactorDemanded };
    },
    async "GET /users/sessions"(_, { merchantId, session, now }) {
      const found = await team.listSessions(merchantId, now);
      return { sessions: found.map((each) => viewSession(each, session)) };
    },
    async "POST /users/end-session/:login/:session"({ login, session }, caller) {
      const output = await perform("user end-session", { login, session }, caller);
      // The session has ended in the meantime.
      if (output instanceof Problem && output.code === "nothing_found") return { done: false };
      return output instanceof Problem ? refusalOf(output) : { done: true };
    },
  } satisfies Partial<Handlers>;
}

type AuditFilter = Omit<Api["GET /audit"]["input"], "after" | "from" | "limit"> & {
  readonly since?: Instant | number | undefined;
  /** Only entries before this one. */
  readonly before: number | undefined;
  readonly limit: number;
  /** How many entries are looked through at most. */
  readonly most: number;
};

export type AuditOptions = {
  /** The latest first. */
  readonly listAudit: (filter: AuditFilter) => Promise<Api["GET /audit"]["output"]>;
  readonly perform: PerformAction;
};

export function auditHandlers({ listAudit, perform }: AuditOptions) {
  let running: ReturnType<typeof verify> | undefined;
  const verify = (caller: Caller) => perform("audit verify", {}, caller);
  return {
    async "GET /audit"({ after, limit = 50, from: since, ...filter }) {
      const isCursor = /^\d{1,15}$/.test(after ?? "");
      const before = after === undefined ? undefined : Number(isCursor ? after : 0);
      return listAudit({ ...filter, since, before, limit, most: lookedThrough });
    },

    /** One at a time on a node: users who ask while it runs get the same answer. */
    async "POST /audit/verify"(_, caller) {
      running ??= verify(caller).finally(() => {
        running = undefined;
      });
      const output = await running;
      return output instanceof Problem ? refusalOf(output) : output;
    },
  } satisfies Partial<Handlers>;
}
