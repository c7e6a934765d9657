/**
 * Users, their sessions, what waits for a second person, and the audit. A merchant's administrator
 * sees that merchant's users.
 */
import type { TeamReads } from "../storage/people/accounts.ts";
import type { MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { hasRight, type Right } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import { viewSession } from "./account.ts";
import type { Api, Handlers } from "./api.ts";
import { type PerformAction, refusalOf } from "./perform.ts";
import { lookedThrough } from "./reads.ts";
import { type Caller, notFound } from "./route.ts";

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

export type OpenApproval = Omit<Api["GET /approvals"]["output"]["approvals"][number], "isOwn"> & {
  readonly right: Right;
};

export type ApprovalOptions = {
  readonly listApprovals: (merchantId: MerchantId | undefined) => Promise<readonly OpenApproval[]>;
  readonly perform: PerformAction;
};

/** What waits for a second person, and who may give it. */
export function approvalHandlers({ listApprovals, perform }: ApprovalOptions) {
  const listFor = async ({ merchantId, account }: Caller) =>
    (await listApprovals(merchantId)).filter(({ right }) => hasRight(account.role, right));
  return {
    "GET /approvals": async (_, caller) => ({
      approvals: (await listFor(caller)).map(({ right: _right, ...approval }) => ({
        ...approval,
        isOwn: approval.askedBy === caller.account.login,
      })),
    }),
    async "POST /approvals/give/:approval"({ approval }, caller) {
      const isListed = (await listFor(caller)).some(({ id }) => id === approval);
      if (!isListed) return notFound;
      const given = await perform("approval give", { id: approval }, caller);
      if (!(given instanceof Problem)) return { done: true };
      // It is the caller's own, or it was given a moment ago.
      return given.code === "not_found" ? { done: false } : refusalOf(given);
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
