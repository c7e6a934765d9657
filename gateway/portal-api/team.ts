/**
 * Shows the portal's users, their sessions, work that waits for a second person's approval, and the
 * audit. An administrator of a merchant sees only the users of that merchant.
 */
import type { TeamReads } from "../storage/people/accounts.ts";
import type { MerchantId } from "../values/ids.ts";
import { hasRight, type Right } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import { viewSession } from "./account.ts";
import type { Api, Handlers } from "./api.ts";
import { lookedThrough } from "./reads.ts";

export type TeamOptions = { readonly team: TeamReads };

export function teamHandlers({ team }: TeamOptions) {
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
  } satisfies Partial<Handlers>;
}

export type OpenApproval = Omit<Api["GET /approvals"]["output"]["approvals"][number], "isOwn"> & {
  readonly right: Right;
};

export type ApprovalOptions = {
  readonly listApprovals: (merchantId: MerchantId | undefined) => Promise<readonly OpenApproval[]>;
};

/** A user sees only the work for which the user's role has the right. */
export function approvalHandlers({ listApprovals }: ApprovalOptions) {
  return {
    async "GET /approvals"(_, { merchantId, account: { login, role } }) {
      const listed = await listApprovals(merchantId);
      const approvals = listed
        .filter(({ right }) => hasRight(role, right))
        .map(({ right: _right, ...each }) => ({ ...each, isOwn: each.askedBy === login }));
      return { approvals };
    },
  } satisfies Partial<Handlers>;
}

type AuditFilter = Omit<Api["GET /audit"]["input"], "after" | "from" | "limit"> & {
  readonly since?: Instant | number | undefined;
  /** Only audit entries before this number are listed. If undefined, the latest ones are listed. */
  readonly before: number | undefined;
  readonly limit: number;
  /** The maximum number of audit entries that are examined. */
  readonly most: number;
};

export type AuditOptions = {
  readonly listAudit: (filter: AuditFilter) => Promise<Api["GET /audit"]["output"]>;
};

export function auditHandlers({ listAudit }: AuditOptions) {
  return {
    async "GET /audit"({ after, limit = 50, from: since, ...filter }) {
      const isCursor = /^\d{1,15}$/.test(after ?? "");
      const before = after === undefined ? undefined : Number(isCursor ? after : 0);
      return listAudit({ ...filter, since, before, limit, most: lookedThrough });
    },
  } satisfies Partial<Handlers>;
}
