/** Builds the portal: its API over the system of record, and the pages of its front end. */
import { join } from "node:path";
import { makeShownMessages } from "../acquirers/iso8583-host/shown-messages.ts";
import { listAudit } from "../administration/installation/audit.ts";
import { makeOperatorAdvance } from "../administration/installation/operator-events.ts";
import { makeLoadActions, makePerformInPortal } from "../administration/perform-in-portal.ts";
import type { Opened } from "../administration/session.ts";
import { portalOriginsOf, shownEnvironmentOf } from "../config/config.ts";
import type { HttpRoute } from "../http/router.ts";
import { makeChecksumDebugger } from "../merchant-api/checksum-debugger.ts";
import { findSigner } from "../merchant-api/control.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { makeStatusText } from "../merchant-api/reply.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { PaymentLink } from "../orders/payment-link.ts";
import { initialOf } from "../orders/transactions.ts";
import { receiptPathOf } from "../pages/cardholder/receipts.ts";
import { accountHandlers } from "../portal-api/account.ts";
import { actionHandlers } from "../portal-api/actions.ts";
import { administrationHandlers } from "../portal-api/administration.ts";
import { callbackHandlers, resendHandlers } from "../portal-api/callbacks.ts";
import { configurationHandlers, gateHandlers } from "../portal-api/configuration.ts";
import { codeHandlers, passkeyHandlers } from "../portal-api/factors.ts";
import { homeHandlers } from "../portal-api/home.ts";
import { linkHandlers } from "../portal-api/links.ts";
import { openApiRoute } from "../portal-api/openapi.ts";
import { describeOrder, figuresOf } from "../portal-api/order-index.ts";
import { orderHandlers } from "../portal-api/orders.ts";
import { portalPageRoutes } from "../portal-api/pages.ts";
import { portalApiRoutes } from "../portal-api/pipeline.ts";
import { lookedThrough } from "../portal-api/reads.ts";
import { reconciliationHandlers } from "../portal-api/reconciliations.ts";
import { requestHandlers } from "../portal-api/requests.ts";
import type { Caller } from "../portal-api/route.ts";
import { limitRefusals, makeDevices, makeGuard, makeRecordSignIn } from "../portal-api/sign-in.ts";
import { approvalHandlers, auditHandlers, teamHandlers } from "../portal-api/team.ts";
import { viewHandlers } from "../portal-api/views.ts";
import { findRouteShares } from "../screening/route-shares.ts";
import { rules } from "../screening/rules/index.ts";
import { listWalletKeys } from "../storage/cards/wallets.ts";
import { findControlKeyUse } from "../storage/configuration/configuration.ts";
import { unpackEvent } from "../storage/orders/order-row.ts";
import { routeLinks } from "../storage/orders/payment-links.ts";
import {
  makeAccountStore,
  makeSessionStore,
  makeSignInTries,
  makeTeamReads,
} from "../storage/people/accounts.ts";
import { listApprovals } from "../storage/people/approvals.ts";
import { refusalEntry } from "../storage/people/audit.ts";
import { makeFactorStore } from "../storage/people/second-factors.ts";
import { disableIdle } from "../storage/people/users.ts";
import { type IndexQueue, makeIndexQueue } from "../storage/portal/index-queue.ts";
import { makeViewStore } from "../storage/portal/order-views.ts";
import { makePortalReads } from "../storage/portal/portal-reads.ts";
import { makeReconciliationReads } from "../storage/portal/reconciliations.ts";
import type { RefusedStore } from "../storage/portal/refused-requests.ts";
import { isUnavailable } from "../storage/server/faults.ts";
import { writeKept } from "../threeds/kept-messages.ts";
import type { MerchantId } from "../values/ids.ts";
import { findPasswordFault, hashPassword, isPassword } from "../vault/password.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  showTotp,
} from "../vault/totp.ts";
import type { Engine } from "./engine.ts";
import type { Clients } from "./http.ts";
import type { Resources } from "./resources.ts";
import type { EdgeServices } from "./services.ts";
import type { StagingParts } from "./staging-parts.ts";

const builtPortal = join(import.meta.dirname, "../../portal/dist");

/** Fills the portal's tables behind payments. */
export function makeIndex({ cells, clock, config }: Resources): IndexQueue {
  const waitMs = config.portalIndexEveryMs;
  return makeIndexQueue({ cells, now: clock.now, waitMs, describe: describeOrder, figuresOf });
}

type Parts = {
  readonly engine: Pick<Engine, "countInDoubt">;
  readonly indexQueue: IndexQueue;
  readonly refusedStore: RefusedStore;
  readonly services: EdgeServices;
  /** What keeps this node from being ready, by name. */
  readonly findMissing: () => Promise<Readonly<Record<string, string>>>;
  /** What actions work on. */
  readonly opened: Opened | undefined;
  readonly staging: StagingParts | undefined;
  readonly clients: Clients;
};

export function portalRoutes(resources: Resources, parts: Parts): readonly HttpRoute[] {
  const { config, clock, log, database, auditAs, configuration, gates, ports } = resources;
  const { refusedStore, findMissing, clients } = parts;
  const origins = () => portalOriginsOf(config, ports().portalPort);
  const recordRefusal = limitRefusals(
    (actor, subject, right) => auditAs(actor).write(refusalEntry(subject, right)),
    clock,
  );
  const stored = storedAccess(resources);
  const options = {
    ...openAccess(resources),
    ...openOrders(resources, parts),
    ...openConfiguration(resources, parts),
    ...makeViewStore(database.query, auditAs),
    recordRefusal,
    findMissing,
    connections: gates.connections,
    origin: () => origins()[0] ?? "",
    perform: makePerform(resources, parts, recordRefusal),
    team: makeTeamReads(stored),
    requests: refusedStore,
    checksums: makeChecksumDebugger(operations, configuration.current),
    now: clock.now,
    listApprovals: (merchantId: MerchantId | undefined) =>
      listApprovals(database.query, merchantId),
    listAudit: (filter: Parameters<typeof listAudit>[1]) => listAudit(database.query, filter),
  };
  const handlers = {
    ...accountHandlers(options),
    ...codeHandlers(options),
    ...passkeyHandlers(options),
    ...orderHandlers(options),
    ...homeHandlers(options),
    ...actionHandlers(options),
    ...teamHandlers(options),
    ...administrationHandlers(options),
    ...linkHandlers(options),
    ...configurationHandlers(options),
    ...gateHandlers(options),
    ...callbackHandlers(options),
    ...resendHandlers(options),
    ...requestHandlers(options),
    ...reconciliationHandlers(options),
    ...auditHandlers(options),
    ...approvalHandlers(options),
    ...viewHandlers(options),
    ...parts.staging?.portal?.(options.reads),
  };
  const sessions = makeSessionStore(stored);
  return [
    ...portalApiRoutes(handlers, {
      ...options,
      origins,
      isUnavailable,
      isTrusted: clients.isTrusted,
      proxyHeader: clients.proxyHeader,
      findSession: (digest) => sessions.find(digest, clock.now()),
      touchSession: sessions.touch,
      onFailed: (route, error) => log("portal.request_failed", { route, err: error }),
    }),
    openApiRoute(Object.keys(handlers), async () =>
      (await options.loadActions()).describeSchemas(),
    ),
    ...portalPageRoutes(builtPortal),
  ];
}

function makePerform(
  { config, database, cells, vault, masterKey, auditAs, clock, configuration }: Resources,
  { indexQueue, services }: Parts,
  recordRefusal: Parameters<typeof makePerformInPortal>[0]["recordRefusal"],
) {
  const openKnown = async () => vault.openSecret;
  return makePerformInPortal({
    opened: { config, database, cells, vault, masterKey, openKnown },
    auditAs,
    recordRefusal,
    node: {
      now: clock.now,
      noteStep: (order) => indexQueue.onStep({ order }),
      findEntryPoint: (endpoint) => configuration.current().endpointById.get(endpoint),
      followUp: services.orders.followUp,
    },
  });
}

/** What the portal reads of orders and does to them. */
function openOrders(
  { config, cells, vault, auditAs, configuration, gates, baseUrl }: Resources,
  { engine, services }: Parts,
) {
  const isElsewhere = config.portalPort !== "" || config.portalUrl !== "";
  const receiptBase = isElsewhere ? baseUrl : () => "";
  return {
    reads: makePortalReads(cells, { countAllInDoubt: engine.countInDoubt, lookedThrough }),
    unpackEvent,
    ...makeShownMessages(gates, writeKept),
    statusTextOf: makeStatusText(services, config),
    merchantAddress: () => `${baseUrl()}/${config.pathWord}/api/v2`,
    receiptPathOf(order: Order) {
      const { receiptId } = initialOf(order);
      const path = receiptId && receiptPathOf(config.pathWord, order.endpointId, receiptId);
      return path && `${receiptBase()}/${path}`;
    },
    advance: makeOperatorAdvance(config),
    findSigner({ endpointId }: Order, text: string, control: string) {
      const { merchant } = configuration.getEndpoint(endpointId);
      return findSigner(merchant, text, control);
    },
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    recordExport: (actor: Caller["actor"], after: object) =>
      auditAs(actor).write({ action: "portal order export", subject: "orders", after }),
  };
}

/** What the portal shows of the configuration, and the actions that change it. */
function openConfiguration(
  { cells, vault, database, vaultDatabase, configuration, gates, baseUrl }: Resources,
  { opened }: Parts,
) {
  const { current } = configuration;
  const noLinks = { up: 0, wanted: 0 };
  return {
    loadActions: makeLoadActions(opened),
    documentsUrl: () => `${baseUrl()}/docs/`,
    reload: configuration.reload,
    configured: current,
    connectionsOf: (gate: string) => gates.connections().get(gate) ?? noLinks,
    findControlKeyUse: (id: MerchantId) => findControlKeyUse(database.query, id),
    listWalletKeys: (id: MerchantId) => listWalletKeys(vaultDatabase.query, id),
    ruleKinds: rules.map(({ kind }) => kind),
    links: routeLinks(cells),
    linkUrlOf: (link: PaymentLink) => `${baseUrl()}/pay/${vault.linkTokenOf(link)}`,
    reconciliations: makeReconciliationReads(database.query),
    routesOf: (endpoint: Endpoint, amount: string) =>
      findRouteShares(endpoint, amount, gates.isReady),
  };
}

/** Sessions and counts of tries that are over, and users who have been idle for too long. */
export function makeDeleteExpired(resources: Resources): () => Promise<void> {
  const sessions = makeSessionStore(storedAccess(resources));
  const { config, clock, database, auditAs } = resources;
  const audit = auditAs({ who: "gateway", from: "GW_USER_IDLE_DAYS" });
  return async () => {
    await sessions.deleteExpired(clock.now());
    await disableIdle(database.query, audit, config.userIdleDays);
  };
}

function storedAccess({ config, database, auditAs }: Resources) {
  const { portalIdleMs: idleMs, portalSessionMs: sessionMs } = config;
  return { query: database.query, auditAs, hashPassword, idleMs, sessionMs };
}

/** Who may sign in, and with what. */
function openAccess(resources: Resources) {
  const { config, clock, log, vault, database, auditAs } = resources;
  return {
    ...makeDevices(vault),
    environment: shownEnvironmentOf(config),
    accounts: makeAccountStore(storedAccess(resources)),
    factors: makeFactorStore({
      query: database.query,
      auditAs,
      newSecret: newTotpSecret,
      findStep: findTotpStep,
      seal: vault.sealSecret,
      open: vault.openSecret,
      show: (secret, login) => showTotp(secret, config.pageName || "Tollgate", login),
      newCodes: newRecoveryCodes,
      digestCode: digestRecoveryCode,
    }),
    guard: makeGuard({
      tries: makeSignInTries(database.query),
      isPassword,
      triesMax: config.portalTriesMax,
      lockMs: config.portalLockMs,
    }),
    findPasswordFault: (...given: Parameters<typeof findPasswordFault>) =>
      findPasswordFault(...given)?.sentence,
    onSignIn: makeRecordSignIn({
      clock,
      onSignedIn: (signIn) => log("portal.signed_in", signIn),
      onRefused: (signIn) => log("portal.sign_in_refused", signIn),
      write: ({ login: who, network }, { action, ...after }) =>
        auditAs({ who, from: `portal, ${network}` }).write({
          action,
          subject: `user ${who}`,
          after,
        }),
    }),
  };
}
