/**
 * Approvals in the portal: what waits for a second person, who may give it, and the refusal of the
 * first person until then.
 */
import type { MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { hasRight, type Right } from "../values/roles.ts";
import type { Handlers } from "./api.ts";
import { type PerformAction, refusalOf } from "./perform.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";

export type OpenApproval = {
  readonly id: string;
  readonly work: string;
  readonly right: Right;
  readonly askedBy: string;
  readonly askedAt: number;
  readonly isGiven: boolean;
};

export type WantedWork = {
  /** Says everything that decides what is done: other words need another approval. */
  readonly work: string;
  readonly right: Right;
  /** Whose users may approve it, beside operators. */
  readonly merchantId?: MerchantId | undefined;
};

export type ApprovalOptions = {
  readonly listApprovals: (merchantId: MerchantId | undefined) => Promise<readonly OpenApproval[]>;
  /** Nothing when a second person has approved it, and what the user has to do otherwise. */
  readonly takeApproval: (
    actor: Caller["actor"],
    wanted: WantedWork,
  ) => Promise<string | undefined>;
  readonly secondPerson: boolean;
};

/** The refusal while no second person has approved it. */
export async function needSecondPerson(
  { takeApproval }: Pick<ApprovalOptions, "takeApproval">,
  { actor }: Caller,
  wanted: WantedWork,
): Promise<PortalRefusal | undefined> {
  const sentence = await takeApproval(actor, wanted);
  return sentence === undefined ? undefined : new PortalRefusal(409, "second_person", sentence);
}

type Options = Pick<ApprovalOptions, "listApprovals"> & { readonly perform: PerformAction };

export function approvalHandlers({ listApprovals, perform }: Options) {
  const listFor = async ({ merchantId, account }: Caller) =>
    (await listApprovals(merchantId)).filter(({ right }) => hasRight(account.role, right));
  return {
    "GET /approvals": async (_, caller) => ({
      approvals: (await listFor(caller)).map(({ right: _right, ...approval }) => ({
        ...{ ...approval, isOwn: approval.askedBy === caller.account.login },
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
