/** Builds the portal: its API and the pages of its front end. */
import { join } from "node:path";
import { makeShownMessages } from "../acquirers/iso8583-host/shown-messages.ts";
import { listAudit } from "../administration/installation/audit.ts";
import { makeOperatorAdvance } from "../administration/installation/operator-events.ts";
import { makeLoadActions } from "../administration/portal-actions.ts";
import type { Opened } from "../administration/session.ts";
import { portalOriginsOf, shownEnvironmentOf } from "../config/config.ts";
import type { Clients } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import { makeChecksumDebugger } from "../merchant-api/checksum-mistakes.ts";
import { findSigner } from "../merchant-api/control.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { makeStatusText } from "../merchant-api/reply.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { PaymentLink } from "../orders/payment-page.ts";
import { initialOf } from "../orders/transactions.ts";
import { receiptPathOf } from "../pages/cardholder/receipts.ts";
import { describeOrder, figuresOf } from "../portal-api/order-index.ts";
import { portalRoutes as makeRoutes } from "../portal-api/portal.ts";
import { lookedThrough } from "../portal-api/reads.ts";
import { limitRefusals } from "../portal-api/sign-in.ts";
import { rules } from "../screening/rules/index.ts";
import { findRouteShares } from "../screening/screen.ts";
import type { StagingParts } from "../staging/parts.ts";
import { type IndexQueue, makeIndexQueue } from "../storage/portal/index-queue.ts";
import { makePortalStore, type PortalStore } from "../storage/portal/portal-store.ts";
import type { RefusedStore } from "../storage/portal/refused-requests.ts";
import { isUnavailable } from "../storage/server/faults.ts";
import { writeKept } from "../threeds/kept-messages.ts";
import { findPasswordFault, hashPassword, isPassword } from "../vault/password.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  showTotp,
} from "../vault/totp.ts";
import type { Engine } from "./engine.ts";
import type { NodeContext } from "./node-context.ts";
import type { EdgeServices } from "./services.ts";

const builtPortal = join(import.meta.dirname, "../../portal/dist");

/** Orders are added to the portal's index after their commits. */
export function makeIndex({ cells, clock, config }: NodeContext): IndexQueue {
  const waitMs = config.portalIndexEveryMs;
  const describe = (order: Order) => describeOrder(order, config.zone);
  return makeIndexQueue({ cells, now: clock.now, waitMs, describe, figuresOf });
}

export function openPortalStore(context: NodeContext, engine: Engine): PortalStore {
  const { config, vault } = context;
  return makePortalStore({
    ...context,
    idleMs: config.portalIdleMs,
    sessionMs: config.portalSessionMs,
    userIdleDays: config.userIdleDays,
    countAllInDoubt: engine.countInDoubt,
    lookedThrough,
    hashPassword,
    newSecret: newTotpSecret,
    findStep: findTotpStep,
    seal: vault.sealSecret,
    open: vault.openSecret,
    show: showTotp,
    issuer: config.pageName || "Tollgate",
    newCodes: newRecoveryCodes,
    digestCode: digestRecoveryCode,
  });
}

type Parts = {
  readonly indexQueue: IndexQueue;
  readonly store: PortalStore;
  readonly requests: RefusedStore;
  readonly services: EdgeServices;
  /** Returns the reasons why this node is not ready, by the names of the missing parts. */
  readonly findMissing: () => Promise<Readonly<Record<string, string>>>;
  /** The open installation in which the portal performs its users' actions. */
  readonly opened: Opened | undefined;
  readonly staging: StagingParts | undefined;
  readonly clients: Clients;
};

export function portalRoutes(context: NodeContext, parts: Parts): readonly HttpRoute[] {
  const { config, clock, log, database, vault, configuration, gates } = context;
  const { store, requests, findMissing, indexQueue, services } = parts;
  const recordRefusal = limitRefusals(store.recordRefusal, clock);
  return makeRoutes({
    ...store,
    ...parts.clients,
    ...showOrders(context, parts),
    clock,
    log,
    environment: shownEnvironmentOf(config),
    origins: () => portalOriginsOf(config, context.ports().portalPort),
    isPassword,
    triesMax: config.portalTriesMax,
    lockMs: config.portalLockMs,
    findPasswordFault,
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    isUnavailable,
    recordRefusal,
    findMissing,
    requests,
    loadActions: makeLoadActions(parts.opened, {
      now: clock.now,
      noteStep: (order) => indexQueue.onStep({ order }),
      findEntryPoint: (endpoint) => configuration.findEntryPoint("endpoint", endpoint),
      followUp: services.orders.followUp,
      sendCallback: services.sendCallback,
    }),
    openReport: services.openReport,
    reload: configuration.reload,
    configured: configuration.current,
    checksums: makeChecksumDebugger(operations, configuration.current),
    ruleKinds: rules.map(({ kind }) => kind),
    gateHealth() {
      const reports = context.health.report();
      const lines = [...gates.connections()].map(([gate, links]) => {
        const {
          state = "healthy" as const,
          since: _,
          share: __,
          ...figures
        } = reports.get(gate) ?? {};
        return [gate, { ...none, ...figures, ...links, health: state }] as const;
      });
      return new Map(lines);
    },
    routesOf: (endpoint: Endpoint, amount: string) =>
      findRouteShares(endpoint, amount, {
        isReady: gates.isReady,
        shares: context.health.shares(),
        at: clock.now(),
      }),
    listAudit: (filter) => listAudit(database.query, filter),
    sandbox: parts.staging?.portal?.(store.reads),
    frontEnd: builtPortal,
  });
}

const none = { why: "", sent: 0, failed: 0 };

function showOrders(
  { config, vault, configuration, gates, baseUrl }: NodeContext,
  { services }: Parts,
) {
  const isElsewhere = config.portalPort !== "" || config.portalUrl !== "";
  const receiptBase = isElsewhere ? baseUrl : () => "";
  return {
    ...makeShownMessages(gates, writeKept),
    statusTextOf: makeStatusText(services, config),
    advance: makeOperatorAdvance(config, configuration.getEndpoint),
    findSigner({ endpointId }: Order, text: string, control: string) {
      const { merchant } = configuration.getEndpoint(endpointId);
      return findSigner(merchant, text, control);
    },
    receiptPathOf(order: Order) {
      const { receiptId } = initialOf(order);
      const path = receiptId && receiptPathOf(config.pathWord, order.endpointId, receiptId);
      return path && `${receiptBase()}/${path}`;
    },
    merchantAddress: () => `${baseUrl()}/${config.pathWord}/api/v2`,
    documentsUrl: () => `${baseUrl()}/docs/`,
    linkUrlOf: (link: PaymentLink) => `${baseUrl()}/pay/${vault.linkTokenOf(link)}`,
  };
}
