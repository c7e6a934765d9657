/**
 * Approvals in the portal: what waits for a second person, and who may give it.
 */
import type { MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { hasRight, type Right } from "../values/roles.ts";
import type { Handlers } from "./api.ts";
import { type PerformAction, refusalOf } from "./perform.ts";
import { type Caller, notFound } from "./route.ts";

export type OpenApproval = {
  readonly id: string;
  readonly work: string;
  readonly right: Right;
  readonly askedBy: string;
  readonly askedAt: number;
  readonly isGiven: boolean;
};

export type ApprovalOptions = {
  readonly listApprovals: (merchantId: MerchantId | undefined) => Promise<readonly OpenApproval[]>;
  readonly perform: PerformAction;
};

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
