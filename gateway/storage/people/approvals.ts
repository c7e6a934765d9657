/**
 * The approval of work by a second person. A user requests it for one exactly described piece of
 * work, another user approves, and the first user performs the work once, within a day.
 */
import type { OpenApproval } from "../../portal-api/team.ts";
import type { MerchantId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import type { Right } from "../../values/roles.ts";
import type { Query } from "../server/database.ts";
import type { Actor, Audit } from "./audit.ts";

const isOpen = "used_at is null and asked_at > now() - interval '1 day'";

type WantedWork = {
  /** Describes the work by all values that matter: the approval covers only these. */
  readonly work: string;
  readonly right: Right;
  /** The merchant whose users may approve the work. Operators may approve it in any case. */
  readonly merchantId?: MerchantId | undefined;
};

/** Uses the given approval. Without one, requests it and returns what the user has to do. */
export async function takeApproval(
  audit: Audit,
  who: string,
  { work, right, merchantId }: WantedWork,
): Promise<string | undefined> {
  const id = await audit.change(async (query, write) => {
    const [used] = await query<{ by: string }>(
      `update approvals set used_at = now() where id = (
         select id from approvals where work = $1 and asked_by = $2 and approved_by is not null
           and ${isOpen} order by id limit 1
       ) returning approved_by as by`,
      [work, who],
    );
    if (used !== undefined) {
      await write({ action: "approval use", subject: work, after: { approvedBy: used.by } });
      return undefined;
    }
    const same = `select id from approvals where work = $1 and asked_by = $2 and ${isOpen}`;
    const [asked] = await query<{ id: string }>(same, [work, who]);
    if (asked !== undefined) return asked.id;
    const [made] = await query<{ id: string }>(
      `insert into approvals (work, asked_by, access_right, merchant_id) values ($1, $2, $3, $4)
       returning id`,
      [work, who, right, merchantId ?? null],
    );
    await write({ action: "approval ask", subject: work });
    return made?.id;
  });
  return (
    id &&
    `A second person has to approve this: number ${id}, on the screen Team or by ` +
      `gw approval give ${id}. Then do it again.`
  );
}

export function listApprovals(query: Query, merchantId?: MerchantId) {
  return query<OpenApproval>(
    `select id, work, access_right as right, asked_by as "askedBy",
       (extract(epoch from asked_at) * 1000)::float8 as "askedAt",
       approved_by is not null as "isGiven"
     from approvals where ${isOpen} and ($1::bigint is null or merchant_id = $1) order by id`,
    [merchantId ?? null],
  );
}

/** Returns the right that an approver needs, and the merchant whose users may approve the work. */
export async function findApproval(query: Query, id: string) {
  const [approval] = await query<Pick<OpenApproval, "right"> & { merchantId: MerchantId | null }>(
    `select access_right as right, merchant_id as "merchantId" from approvals
     where id = $1 and ${isOpen}`,
    [id],
  );
  return approval;
}

type GivenApproval = {
  readonly id: string;
  /** True if each account of the operating system belongs to one person (`GW_USERS_ONLY`). */
  readonly byAccount: boolean;
};

/**
 * Returns false if the user has requested the approval, or if the request is no longer open.
 * Returns a problem if the user may be the requester under another name.
 */
export function giveApproval(
  audit: Audit,
  actor: Actor,
  { id, byAccount }: GivenApproval,
): Promise<boolean | Problem> {
  return audit.change(async (query, write) => {
    const [asked] = await query<{ work: string; askedBy: string }>(
      `select work, asked_by as "askedBy" from approvals
       where id = $1 and lower(asked_by) <> lower($2) and approved_by is null and ${isOpen}`,
      [id, actor.who],
    );
    if (asked === undefined) return false;
    const { work, askedBy } = asked;
    if (await mayBeOnePerson(query, { id, askedBy, actor, byAccount })) {
      await write({ action: "approval refused", subject: work, after: { askedBy } });
      return notIndependent;
    }
    await query("update approvals set approved_by = $2, approved_at = now() where id = $1", [
      ...[id, actor.who],
    ]);
    await write({ action: "approval give", subject: work, after: { askedBy } });
    return true;
  });
}

const independenceDays = 30;
const notIndependent = new Problem(
  "A third person has to approve this. You act from one account of the machine, your account was " +
    `changed after the request, or within ${independenceDays} days one of you has added or ` +
    "enabled the other, or changed the other's role, password or second factors.",
);

/** The changes of an account by which another user may become able to sign in with it. */
const takeovers = [
  ...["user add", "user enable", "user role", "user password", "user reset-factors"],
  // Former releases wrote the action `user reset-factors` under this name.
  "user factors remove",
];

type Pair = GivenApproval & { readonly askedBy: string; readonly actor: Actor };
type Entry = Actor & { readonly seq: number; readonly action: string; readonly user: string };

/**
 * Returns whether the requester and the approver may be the same person. The audit shows from where
 * each has acted, and who has changed their accounts.
 */
async function mayBeOnePerson(
  query: Query,
  { id, askedBy, actor, byAccount }: Pair,
): Promise<boolean> {
  const entries = await query<Entry>(
    `select seq::float8, actor as who, origin as "from", action,
       lower(substr(subject, 6)) as "user"
     from approvals join audit on audit.at > now() - make_interval(days => ${independenceDays})
       and (action = any($2) and lower(substr(subject, 6)) in (lower(asked_by), lower($3))
         or action = 'approval ask' and subject = work and actor = asked_by)
     where approvals.id = $1`,
    [id, takeovers, actor.who],
  );
  const namesOf = (each: Actor) =>
    [each.who, byAccount ? accountOf(each) : each.who].map((name) => name.toLowerCase());
  const own = namesOf(actor);
  const asking = entries.filter(({ action }) => action === "approval ask");
  const asker = [askedBy.toLowerCase(), ...asking.flatMap(namesOf)];
  const askedAt = Math.max(...asking.map(({ seq }) => seq));
  const haveCommon = (some: readonly string[], others: readonly string[]) =>
    some.some((name) => others.includes(name));
  const isTakeover = (entry: Entry) => {
    const by = namesOf(entry);
    if (!takeovers.includes(entry.action)) return false;
    if (entry.user === askedBy.toLowerCase()) return haveCommon(by, own);
    return haveCommon(by, asker) || (entry.seq > askedAt && !haveCommon(by, own));
  };
  return haveCommon(asker, own) || entries.some(isTakeover);
}

/** Returns the operating system account that ran `gw`, or the portal user. */
function accountOf({ who, from }: Actor): string {
  return /^([^ @]+)@/.exec(from)?.[1] ?? who;
}
