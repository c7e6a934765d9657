/** The storage of the portal's API: accounts, orders, a team's saved filters, and the audit. */
import type { RecordRefusal } from "../../portal-api/route.ts";
import type { WriteSignIn } from "../../portal-api/sign-in.ts";
import type { SharedView, ViewOptions, ViewTeam } from "../../portal-api/views.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { listWalletKeys } from "../cards/wallets.ts";
import type { Cells } from "../cells/cells.ts";
import { findControlKeyUse } from "../configuration/configuration.ts";
import { unpackEvent } from "../orders/order-row.ts";
import { routeLinks } from "../orders/payment-links.ts";
import {
  type AccountStoreOptions,
  makeAccountStore,
  makeSessionStore,
  makeSignInTries,
  makeTeamReads,
} from "../people/accounts.ts";
import { listApprovals } from "../people/approvals.ts";
import { type Actor, type Audit, refusalEntry } from "../people/audit.ts";
import { type FactorStoreOptions, makeFactorStore } from "../people/second-factors.ts";
import { disableIdle } from "../people/users.ts";
import type { Database, Query } from "../server/database.ts";
import { makePortalReads } from "./portal-reads.ts";
import { makeReconciliationReads } from "./reconciliations.ts";

type Options = Omit<AccountStoreOptions & FactorStoreOptions, "query"> &
  Parameters<typeof makePortalReads>[1] & {
    readonly cells: Cells;
    readonly database: Pick<Database, "query">;
    readonly vaultDatabase: Pick<Database, "query">;
    /** The number of days without use after which a user is disabled. Zero means never. */
    readonly userIdleDays: number;
  };

export type PortalStore = ReturnType<typeof makePortalStore>;

export function makePortalStore(options: Options) {
  const { cells, auditAs, vaultDatabase } = options;
  const { query } = options.database;
  const stored = { ...options, query };
  const sessions = makeSessionStore(stored);
  const recordRefusal: RecordRefusal = (actor, subject, right) =>
    auditAs(actor).write(refusalEntry(subject, right));
  const recordSignIn: WriteSignIn = ({ login: who, network }, { action, ...after }) =>
    auditAs({ who, from: `portal, ${network}` }).write({ action, subject: `user ${who}`, after });
  return {
    accounts: makeAccountStore(stored),
    factors: makeFactorStore(stored),
    team: makeTeamReads(stored),
    tries: makeSignInTries(query),
    findSession: sessions.find,
    touchSession: sessions.touch,
    reads: makePortalReads(cells, options),
    unpackEvent,
    links: routeLinks(cells),
    reconciliations: makeReconciliationReads(query),
    ...makeViewStore(query, auditAs),
    listApprovals: (merchantId: MerchantId | undefined) => listApprovals(query, merchantId),
    findControlKeyUse: (id: MerchantId) => findControlKeyUse(query, id),
    listWalletKeys: (id: MerchantId) => listWalletKeys(vaultDatabase.query, id),
    recordRefusal,
    recordSignIn,
    recordExport: (actor: Actor, after: object) =>
      auditAs(actor).write({ action: "portal order export", subject: "orders", after }),
    async deleteExpired(now: Instant): Promise<void> {
      await sessions.deleteExpired(now);
      const audit = auditAs({ who: "gateway", from: "GW_USER_IDLE_DAYS" });
      await disableIdle(query, audit, options.userIdleDays);
    },
  };
}

const isOwn = "merchant_id is not distinct from $1::bigint";

const viewsMax = 50;

function makeViewStore(query: Query, auditAs: (actor: Actor) => Audit): ViewOptions {
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
 * Shares a view, which is a saved filter, with the user's team, or renames the team's view with the
 * same filter. Returns false if the team has too many views.
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

/** Returns false if the view belongs to another team. */
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
