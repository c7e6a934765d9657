/** Views of the list of orders that operators share, or the users of one merchant. */
import type { SharedView, ViewOptions, ViewTeam } from "../../portal-api/views.ts";
import type { Actor, Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";

const isOwn = "merchant_id is not distinct from $1::bigint";

/** The highest number of views of a team. */
const viewsMax = 50;

export function makeViewStore(query: Query, auditAs: (actor: Actor) => Audit): ViewOptions {
  return {
    listViews: (team) => listViews(query, team),
    shareView: (actor, ...given) => shareView(auditAs(actor), ...given),
    removeView: (actor, ...given) => removeView(auditAs(actor), ...given),
  };
}

function listViews(query: Query, team: ViewTeam): Promise<readonly SharedView[]> {
  return query<SharedView>(
    `select id as view, name, query, shared_by as "sharedBy" from order_views
     where ${isOwn} order by id`,
    [team ?? null],
  );
}

/**
 * Shares a view. A new name for the same filters replaces the old one. Returns false if the team
 * has too many views.
 */
function shareView(
  audit: Audit,
  team: ViewTeam,
  { name, query: filters, sharedBy }: Omit<SharedView, "view">,
): Promise<boolean> {
  return audit.change(async (query, write) => {
    const added = await query(
      `insert into order_views (merchant_id, name, query, shared_by)
       select $1::bigint, $2, $3, $4
       where (select count(*) from order_views where ${isOwn}) < ${viewsMax}
       on conflict (coalesce(merchant_id, 0), query)
       do update set name = excluded.name, shared_by = excluded.shared_by returning id`,
      [team ?? null, name, filters, sharedBy],
    );
    if (added.length === 0) return false;
    await write({ action: "view share", subject: `view ${name}`, after: { query: filters } });
    return true;
  });
}

/** Removes a view. Returns false if it belongs to another team. */
function removeView(audit: Audit, team: ViewTeam, view: string): Promise<boolean> {
  return audit.change(async (query, write) => {
    const [removed] = await query<{ name: string; query: string }>(
      `delete from order_views where ${isOwn} and id = $2 returning name, query`,
      [team ?? null, view],
    );
    if (removed === undefined) return false;
    const { name, ...before } = removed;
    await write({ action: "view unshare", subject: `view ${name}`, before });
    return true;
  });
}
