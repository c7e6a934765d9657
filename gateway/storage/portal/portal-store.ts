/** The storage of the portal's API: accounts, orders, what belongs to them, and the audit. */
import type { RecordRefusal } from "../../portal-api/route.ts";
import type { WriteSignIn } from "../../portal-api/sign-in.ts";
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
import { type Actor, refusalEntry } from "../people/audit.ts";
import { type FactorStoreOptions, makeFactorStore } from "../people/second-factors.ts";
import { disableIdle } from "../people/users.ts";
import type { Database } from "../server/database.ts";
import { makeViewStore } from "./order-views.ts";
import { makePortalReads } from "./portal-reads.ts";
import { makeReconciliationReads } from "./reconciliations.ts";

type Options = Omit<AccountStoreOptions & FactorStoreOptions, "query"> &
  Parameters<typeof makePortalReads>[1] & {
    readonly cells: Cells;
    readonly database: Pick<Database, "query">;
    readonly vaultDatabase: Pick<Database, "query">;
    /** After how many days without use a user is disabled. Zero means never. */
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
    /**
     * Deletes sessions and counts of tries that have ended, and disables users who have been idle
     * for too long.
     */
    async deleteExpired(now: Instant): Promise<void> {
      await sessions.deleteExpired(now);
      const audit = auditAs({ who: "gateway", from: "GW_USER_IDLE_DAYS" });
      await disableIdle(query, audit, options.userIdleDays);
    },
  };
}
