/**
 * The second person: a user asks for an approval of exactly one piece of work, another user gives
 * it, and the first user does the work once, within a day.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Right } from "../values/roles.ts";
import type { Audit } from "./audit.ts";
import type { Query } from "./database.ts";

export type WantedWork = {
  /** Says everything that decides what is done: other words need another approval. */
  readonly work: string;
  readonly right: Right;
  /** Whose users may approve it, beside operators. */
  readonly merchantId?: MerchantId | undefined;
};

export type OpenApproval = {
  readonly id: string;
  readonly work: string;
  readonly right: Right;
  readonly askedBy: string;
  readonly askedAt: number;
  readonly isGiven: boolean;
};

const isOpen = "used_at is null and asked_at > now() - interval '1 day'";

/** Uses up an approval; where there is none, asks for it, and returns what the user has to do. */
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

/** Returns false for one that the user has asked for, or that is not open any more. */
export function giveApproval(audit: Audit, who: string, id: string): Promise<boolean> {
  return audit.change(async (query, write) => {
    const [given] = await query<{ work: string; by: string }>(
      `update approvals set approved_by = $2, approved_at = now()
       where id = $1 and lower(asked_by) <> lower($2) and approved_by is null and ${isOpen}
       returning work, asked_by as by`,
      [id, who],
    );
    if (given === undefined) return false;
    await write({ action: "approval give", subject: given.work, after: { askedBy: given.by } });
    return true;
  });
}
