/** Builds the portal: its API over the system of record, and the pages of its front end. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Gates } from "../acquirers/gates.ts";
import { makeShownMessages } from "../acquirers/iso8583-host/shown-messages.ts";
import { listAudit } from "../administration/installation/audit.ts";
import { makeOperatorAdvance } from "../administration/installation/operator-events.ts";
import type { Opened } from "../administration/session.ts";
import { baseUrlOf, portalOriginsOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { makeIsTrusted } from "../http/client-network.ts";
import { makeRateLimit } from "../http/rate-limit.ts";
import type { HttpRoute } from "../http/router.ts";
import { makeChecksumDebugger } from "../merchant-api/checksum-debugger.ts";
import { findSigner } from "../merchant-api/control.ts";
import { operations } from "../merchant-api/operations/index.ts";
import { statusReply, writeReply } from "../merchant-api/reply.ts";
import type { Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { accountHandlers, type SignInEvent } from "../portal-api/account.ts";
import { actionHandlers } from "../portal-api/actions.ts";
import { administrationHandlers } from "../portal-api/administration.ts";
import { callbackHandlers, resendHandlers } from "../portal-api/callbacks.ts";
import { configurationHandlers, gateHandlers } from "../portal-api/configuration.ts";
import { codeHandlers, passkeyHandlers } from "../portal-api/factors.ts";
import { homeHandlers } from "../portal-api/home.ts";
import { linkHandlers } from "../portal-api/links.ts";
import { openApiRoute } from "../portal-api/openapi.ts";
import { orderHandlers } from "../portal-api/orders.ts";
import { portalPageRoutes } from "../portal-api/pages.ts";
import { portalApiRoutes } from "../portal-api/pipeline.ts";
import { lookedThrough, makePortalNames, type PortalReads } from "../portal-api/reads.ts";
import { reconciliationHandlers } from "../portal-api/reconciliations.ts";
import { requestHandlers } from "../portal-api/requests.ts";
import type { Caller, RecordRefusal } from "../portal-api/route.ts";
import type { SandboxHandlers } from "../portal-api/sandbox-routes.ts";
import { approvalHandlers } from "../portal-api/second-person.ts";
import { makeGuard } from "../portal-api/sign-in.ts";
import { auditHandlers, teamHandlers } from "../portal-api/team.ts";
import { type ViewOptions, viewHandlers } from "../portal-api/views.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { unpackEvent } from "../storage/orders/order-row.ts";
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
import type { IndexQueue } from "../storage/portal/index-queue.ts";
import { listViews, removeView, shareView } from "../storage/portal/order-views.ts";
import { makePortalReads } from "../storage/portal/portal-reads.ts";
import type { RefusedStore } from "../storage/portal/refused-requests.ts";
import { isUnavailable } from "../storage/server/faults.ts";
import { writeKept } from "../threeds/kept-messages.ts";
import { asSerialNumber, type MerchantId } from "../values/ids.ts";
import { renderQrSvg } from "../values/qr-code.ts";
import { findPasswordFault, hashPassword, isPassword } from "../vault/password.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  showTotp,
} from "../vault/totp.ts";
import type { Engine } from "./engine.ts";
import { makePerformAction } from "./portal-actions.ts";
import { openPortalConfiguration } from "./portal-configuration.ts";
import type { Readiness } from "./readiness.ts";
import type { Resources } from "./resources.ts";
import type { Services } from "./services.ts";

const builtPortal = join(import.meta.dirname, "../../portal/dist");

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly engine: Engine;
  readonly gates: Gates;
  readonly indexQueue: IndexQueue;
  readonly refusedStore: RefusedStore;
  readonly services: Services;
  readonly checkReadiness: () => Promise<Readiness>;
  /** What actions work on. */
  readonly opened?: Opened | undefined;
  readonly staging?: { portal?(reads: PortalReads): SandboxHandlers } | undefined;
  /** They are known when the gateway listens. */
  readonly ports: () => { readonly port: number; readonly portalPort: number };
};

export function portalRoutes(dependencies: Dependencies): readonly HttpRoute[] {
  const { config, clock, log } = dependencies;
  const origins = () => portalOriginsOf(config, dependencies.ports().portalPort);
  const origin = () => origins()[0] ?? "";
  const access = openAccess(dependencies);
  const orders = openOrders(dependencies);
  const recordRefusal = makeRecordRefusal(dependencies);
  const perform = makePerformAction(dependencies, recordRefusal);
  const options = {
    ...access,
    ...orders,
    origin,
    perform,
    listApprovals: (merchantId: MerchantId | undefined) =>
      listApprovals(dependencies.database.query, merchantId),
    team: makeTeamReads(access.stored),
    listAudit: (filter: Parameters<typeof listAudit>[1]) =>
      listAudit(dependencies.database.query, filter),
  };
  const checksums = makeChecksumDebugger(operations, dependencies.configuration.current);
  const { names } = options;
  const configuration = openPortalConfiguration(dependencies);
  const configured = { ...configuration, names, recordRefusal };
  const handlers = {
    ...accountHandlers(options),
    ...codeHandlers(options),
    ...passkeyHandlers(options),
    ...orderHandlers(options),
    ...homeHandlers(options),
    ...actionHandlers(options),
    ...teamHandlers(options),
    ...administrationHandlers(configured),
    ...linkHandlers(configured),
    ...configurationHandlers(configured),
    ...gateHandlers(configured),
    ...callbackHandlers(options),
    ...resendHandlers(options),
    ...requestHandlers({
      ...options,
      requests: dependencies.refusedStore,
      checksums,
      now: clock.now,
    }),
    ...reconciliationHandlers(configured),
    ...auditHandlers(options),
    ...approvalHandlers(options),
    ...viewHandlers(options),
    ...dependencies.staging?.portal?.(options.reads),
  };
  const sessions = makeSessionStore(access.stored);
  return [
    ...portalApiRoutes(handlers, {
      origin,
      origins,
      environment: access.environment,
      now: clock.now,
      isUnavailable,
      isTrusted: makeIsTrusted(partsOf(config.trustedProxies)),
      proxyHeader: config.proxyHeader,
      findSession: (digest) => sessions.find(digest, clock.now()),
      touchSession: sessions.touch,
      isDevice: access.isDevice,
      recordRefusal,
      onFailed: (route, error) => log("portal.request_failed", { route, err: error }),
    }),
    openApiRoute(Object.keys(handlers), async () =>
      (await configuration.loadActions()).describeSchemas(),
    ),
    ...portalPageRoutes(builtPortal),
  ];
}

const noSerialNumber = asSerialNumber("00000000-0000-0000-0000-000000000000");

/** What the portal reads of orders and does to them. */
function openOrders(dependencies: Dependencies) {
  const { config, cells, configuration, engine, gates, vault, services } = dependencies;
  const publicUrl = () => baseUrlOf(config, dependencies.ports().port);
  return {
    reads: makePortalReads(cells, { countAllInDoubt: engine.countInDoubt, lookedThrough }),
    names: makePortalNames(configuration.current),
    unpackEvent,
    ...makeShownMessages(gates, writeKept),
    /** As the merchant's status request is answered, but for the serial number of the answer. */
    async statusTextOf(order: Order) {
      const { findRegistered: register } = services.cards;
      const found = { order, transaction: order.transaction };
      const reply = await statusReply(found, { ...services, cards: { register } });
      return writeReply(reply, noSerialNumber, "form", config);
    },
    merchantAddress: () => `${publicUrl()}/${config.pathWord}/api/v2`,
    receiptPathOf(order: Order) {
      const { receiptId } = initialOf(order);
      if (receiptId === undefined) return undefined;
      const path = `/${config.pathWord}/view-receipt/${order.endpointId}/${receiptId}/`;
      const isElsewhere = config.portalPort !== "" || config.portalUrl !== "";
      return isElsewhere ? publicUrl() + path : path;
    },
    async findHealth() {
      const { missing } = await dependencies.checkReadiness();
      const links = [...gates.connections()];
      return {
        links: links.map(([gate, { up, wanted }]) => ({ gate, up, wanted })),
        missing: Object.entries(missing).map(([what, why]) => `${what}: ${why}`),
      };
    },
    advance: makeOperatorAdvance(config),
    findSigner({ endpointId }: Order, text: string, control: string) {
      const { merchant } = configuration.getEndpoint(endpointId);
      return findSigner(merchant, text, control);
    },
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    ...openViews(dependencies),
    recordExport: (actor: Caller["actor"], after: object) =>
      dependencies
        .auditAs(actor)
        .write({ action: "portal order export", subject: "orders", after }),
  };
}

/** Of one user: more say no more, and would fill the audit. */
const refusalsRecorded = { perSecond: 0.1, burst: 20 };

function makeRecordRefusal({ auditAs, clock }: Resources): RecordRefusal {
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async (actor, subject, right) => {
    if (limit.take(actor.who) > 0) return;
    await auditAs(actor).write(refusalEntry(subject, right));
  };
}

function makeRecordSignIn({ auditAs, clock, log }: Resources) {
  const limit = makeRateLimit<string>(refusalsRecorded, clock);
  return async (
    { network }: { readonly network: string },
    login: string | undefined,
    { action, ...after }: SignInEvent,
  ): Promise<void> => {
    const who = login ?? "unknown";
    if (action === "portal sign-in") log("portal.signed_in", { login: who, network });
    if (action === "portal sign-in refused") {
      log("portal.sign_in_refused", { login: who, network });
      if (limit.take(who) > 0) return;
    }
    const audit = auditAs({ who, from: `portal, ${network}` });
    await audit.write({ action, subject: `user ${who}`, after });
  };
}

function openViews({ database, auditAs }: Resources): ViewOptions {
  return {
    listViews: (team) => listViews(database.query, team),
    shareView: (actor, ...given) => shareView(auditAs(actor), ...given),
    removeView: (actor, ...given) => removeView(auditAs(actor), ...given),
  };
}

/** Sessions and counts of tries that are over, and users who have been idle for too long. */
export function makeDeleteExpired(resources: Resources): () => Promise<void> {
  const sessions = makeSessionStore(storedAccess(resources));
  const { config, database, auditAs } = resources;
  const audit = auditAs({ who: "gateway", from: "GW_USER_IDLE_DAYS" });
  return async () => {
    await sessions.deleteExpired(resources.clock.now());
    if (config.userIdleDays > 0) await disableIdle(database.query, audit, config.userIdleDays);
  };
}

function storedAccess({ config, database, auditAs }: Resources) {
  const { portalIdleMs: idleMs, portalSessionMs: sessionMs } = config;
  return { query: database.query, auditAs, hashPassword, idleMs, sessionMs };
}

/** Who may sign in, and with what. */
function openAccess(resources: Resources) {
  const { config, vault, database, auditAs } = resources;
  const stored = storedAccess(resources);
  const deviceText = (login: string, id: string) => `portal-device/${login.toLowerCase()}/${id}`;
  return {
    stored,
    environment: config.rehearsal ? ("rehearsal" as const) : config.environment,
    accounts: makeAccountStore(stored),
    factors: makeFactorStore({
      query: database.query,
      auditAs,
      newSecret: newTotpSecret,
      findStep: findTotpStep,
      seal: vault.sealSecret,
      open: vault.openSecret,
      show(secret, login) {
        const { uri, ...shown } = showTotp(secret, config.pageName || "Tollgate", login);
        const svg = Buffer.from(renderQrSvg(uri)).toString("base64");
        return { ...shown, picture: `data:image/svg+xml;base64,${svg}` };
      },
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
    newDevice(login: string) {
      const id = randomBytes(12).toString("hex");
      return `${id}.${vault.tokenOf(deviceText(login, id))}`;
    },
    isDevice(login: string, device: string) {
      // Nothing may follow the token: each spelling would have a count of wrong tries of its own.
      const [, id = "", token = ""] = /^([0-9a-f]{24})\.([^.]+)$/.exec(device) ?? [];
      return id !== "" && vault.isToken(deviceText(login, id), token);
    },
    onSignIn: makeRecordSignIn(resources),
  };
}
