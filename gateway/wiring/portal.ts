/** Builds the portal: its API over the system of record, and the pages of its front end. */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { join } from "node:path";
import type { Gates } from "../acquirers/gates.ts";
import { baseUrlOf, portalOriginsOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { makeIsTrusted } from "../http/client-network.ts";
import { makeRateLimit } from "../http/rate-limit.ts";
import type { HttpRoute } from "../http/router.ts";
import { findSigner } from "../merchant-api/control.ts";
import { statusReply, writeReply } from "../merchant-api/reply.ts";
import { readHeads } from "../observability/audit-heads.ts";
import type { OperatorEvent } from "../orders/events.ts";
import type { FollowUpTerms, Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { accountHandlers, type SignInEvent } from "../portal-api/account.ts";
import { type AuditedWork, actionHandlers } from "../portal-api/actions.ts";
import { callbackHandlers, resendHandlers } from "../portal-api/callbacks.ts";
import { commandHandlers } from "../portal-api/commands.ts";
import { configurationHandlers, gateHandlers } from "../portal-api/configuration.ts";
import { codeHandlers, passkeyHandlers } from "../portal-api/factors.ts";
import { homeHandlers } from "../portal-api/home.ts";
import { linkHandlers } from "../portal-api/links.ts";
import { openApiRoute } from "../portal-api/openapi.ts";
import { orderHandlers } from "../portal-api/orders.ts";
import { portalPageRoutes } from "../portal-api/pages.ts";
import { portalApiRoutes } from "../portal-api/pipeline.ts";
import type { DeliveryFilter, PortalReads } from "../portal-api/reads.ts";
import { reconciliationHandlers } from "../portal-api/reconciliations.ts";
import { requestHandlers } from "../portal-api/requests.ts";
import type { Caller, RecordRefusal } from "../portal-api/route.ts";
import type { SandboxHandlers } from "../portal-api/sandbox-routes.ts";
import { type ApprovalOptions, approvalHandlers } from "../portal-api/second-person.ts";
import { makeGuard } from "../portal-api/sign-in.ts";
import { auditHandlers, type TeamStore, teamHandlers } from "../portal-api/team.ts";
import { type ViewOptions, viewHandlers } from "../portal-api/views.ts";
import {
  endSession,
  makeAccountStore,
  makeSessionStore,
  makeSignInTries,
  makeTeamReads,
} from "../storage/accounts.ts";
import { giveApproval, listApprovals, takeApproval } from "../storage/approvals.ts";
import { isOwnKey, refusalEntry } from "../storage/audit.ts";
import { findEntries, findLookedAt, verifyAudit } from "../storage/audit-verify.ts";
import { makeResend } from "../storage/callback-journal.ts";
import type { LiveConfiguration } from "../storage/configuration.ts";
import { isUnavailable } from "../storage/faults.ts";
import { unpackEvent } from "../storage/order-row.ts";
import { listViews, removeView, shareView } from "../storage/order-views.ts";
import { makeFactorStore } from "../storage/second-factors.ts";
import { disableIdle, makeUserAdministration, temporaryPasswordHours } from "../storage/users.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { renderQrSvg } from "../values/qr-code.ts";
import { Secret } from "../values/secret.ts";
import { hours, later } from "../values/time.ts";
import { findPasswordFault, hashPassword, isPassword, newPassword } from "../vault/password.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  showTotp,
} from "../vault/totp.ts";
import type { Engine } from "./engine.ts";
import { decideDoubt, makeOperatorAdvance, makeReport } from "./operator-events.ts";
import type { OrderIndexJob } from "./order-index.ts";
import { type OpenDesk, openPortalConfiguration } from "./portal-configuration.ts";
import { makePortalNames, makePortalReads, makeShownMessages } from "./portal-reads.ts";
import { openRequests } from "./portal-requests.ts";
import type { Readiness } from "./readiness.ts";
import type { RefusedJob } from "./refused-requests.ts";
import type { Resources } from "./resources.ts";
import type { Services } from "./services.ts";

const builtPortal = join(import.meta.dirname, "../../portal/dist");

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly engine: Engine;
  readonly gates: Gates;
  readonly orderIndex: OrderIndexJob;
  readonly refused: RefusedJob;
  readonly services: Services;
  readonly checkReadiness: () => Promise<Readiness>;
  readonly openDesk?: OpenDesk | undefined;
  readonly staging?: { portal?(reads: PortalReads): SandboxHandlers } | undefined;
  /** They are known when the gateway listens. */
  readonly ports: () => { readonly port: number; readonly portalPort: number };
};

export function portalRoutes(dependencies: Dependencies): readonly HttpRoute[] {
  const { config, clock, log } = dependencies;
  const origins = () => portalOriginsOf(config, dependencies.ports().portalPort);
  const origin = () => origins()[0] ?? "";
  const access = openAccess(dependencies);
  const approvals = openApprovals(dependencies);
  const orders = openOrders(dependencies);
  const options = { ...access, ...openTeam(dependencies), ...orders, ...approvals, origin };
  const requests = openRequests(dependencies);
  const recordRefusal = makeRecordRefusal(dependencies);
  const { names } = options;
  const configured = { ...openPortalConfiguration(dependencies), names, recordRefusal };
  const handlers = {
    ...{ ...accountHandlers(options), ...codeHandlers(options), ...passkeyHandlers(options) },
    ...{ ...orderHandlers(options), ...homeHandlers(options), ...actionHandlers(options) },
    ...{ ...teamHandlers(options), ...commandHandlers(configured), ...linkHandlers(configured) },
    ...{ ...configurationHandlers(configured), ...gateHandlers(configured) },
    ...{ ...callbackHandlers(options), ...resendHandlers(options) },
    ...requestHandlers({ ...options, ...requests, now: clock.now }),
    ...reconciliationHandlers(configured),
    ...{ ...auditHandlers(options), ...approvalHandlers(options), ...viewHandlers(options) },
    ...dependencies.staging?.portal?.(options.reads),
  };
  const sessions = makeSessionStore(access.stored);
  return [
    ...portalApiRoutes(handlers, {
      ...{ origin, origins, environment: access.environment, now: clock.now, isUnavailable },
      isTrusted: makeIsTrusted(partsOf(config.trustedProxies)),
      proxyHeader: config.proxyHeader,
      findSession: (digest) => sessions.find(digest, clock.now()),
      touchSession: sessions.touch,
      ...{ isDevice: access.isDevice, recordRefusal },
      onFailed: (route, error) => log("portal.request_failed", { route, err: error }),
    }),
    openApiRoute(Object.keys(handlers)),
    ...portalPageRoutes(builtPortal),
  ];
}

const noSerialNumber = asSerialNumber("00000000-0000-0000-0000-000000000000");

/** What the portal reads of orders and does to them. */
function openOrders(dependencies: Dependencies) {
  const { config, cells, configuration, engine, gates, vault, services } = dependencies;
  const report = makeReport(dependencies);
  const queries = cells.stores(({ node }) => node.query);
  const publicUrl = () => baseUrlOf(config, dependencies.ports().port);
  return {
    reads: makePortalReads(cells, engine.countInDoubt),
    names: makePortalNames(configuration),
    ...{ unpackEvent, ...makeShownMessages(gates) },
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
    async followUp(order: Order, request: FollowUpTerms) {
      const entryPoint = configuration.current().endpointById.get(order.endpointId);
      // As in the merchant interface: a disabled endpoint goes on, a disabled merchant does not.
      if (entryPoint?.merchant.enabled !== true) return new Failure("unknown_endpoint");
      const wanted = { clientOrderId: order.clientOrderId, orderId: order.id };
      const serialNumber = asSerialNumber(randomUUIDv7());
      return services.orders.followUp(entryPoint, { wanted, serialNumber, request });
    },
    advance: makeOperatorAdvance(config),
    async decideDoubt(order: Order, event: OperatorEvent) {
      const decided = await decideDoubt(report, order, event);
      if (!(decided instanceof Problem)) dependencies.orderIndex.onStep({ order: decided });
      return decided;
    },
    receiptIdOf: ({ merchantId, id }: Order) => vault.receiptIdOf({ merchantId, orderId: id }),
    async resend(filter: DeliveryFilter, most: number, by: string) {
      const { merchantId } = filter;
      const resend = makeResend(filter, { now: dependencies.clock.now(), most, by });
      const sent = await (merchantId === undefined
        ? queries.each(resend).then((all) => all.flat())
        : queries.call(merchantId, resend));
      return sent.length;
    },
    findSigner({ endpointId }: Order, text: string, control: string) {
      const { merchant } = configuration.getEndpoint(endpointId);
      return findSigner(merchant, text, control);
    },
    ...{ tokenOf: vault.tokenOf, isToken: vault.isToken },
    ...openViews(dependencies),
    recorded: makeRecorded(dependencies),
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

function openApprovals({ config, database, auditAs }: Resources): ApprovalOptions {
  const { secondPerson, secondPersonAbove, usersOnly: byAccount } = config;
  return {
    ...{ secondPerson, secondPersonAbove },
    listApprovals: (merchantId) => listApprovals(database.query, merchantId),
    giveApproval: (actor, id) => giveApproval(auditAs(actor), actor, { id, byAccount }),
    takeApproval: (actor, wanted) => takeApproval(auditAs(actor), actor.who, wanted),
  };
}

/** Users as `gw user` manages them. */
function openTeam(resources: Resources) {
  const { config, clock, vault, auditAs } = resources;
  const { query } = resources.database;
  const reads = makeTeamReads(storedAccess(resources));
  const expiresAt = () => later(clock.now(), hours(temporaryPasswordHours));
  const temporary = async () => {
    const password = newPassword();
    return { password, stored: await hashPassword(new Secret(password)), isTemporary: true };
  };
  const team: TeamStore = {
    list: reads.list,
    listSessions: (merchantId) => reads.listSessions(merchantId, clock.now()),
    endSession: (actor, ...given) => endSession(auditAs(actor), ...given),
    async add(actor, { name, role, merchantId }) {
      const { password, ...hashed } = await temporary();
      const login = await auditAs(actor).together(async (audit) => {
        const users = makeUserAdministration(audit);
        const added = await users.add(name, role, merchantId);
        if (added !== undefined) await users.setPassword(added, hashed);
        return added;
      });
      return login === undefined ? undefined : { login, password, expiresAt: expiresAt() };
    },
    async renewPassword(actor, login) {
      const { password, ...hashed } = await temporary();
      await makeUserAdministration(auditAs(actor)).setPassword(login, hashed);
      return { password, expiresAt: expiresAt() };
    },
    setRole: (actor, ...given) => makeUserAdministration(auditAs(actor)).setRole(...given),
    enable: (actor, ...given) => makeUserAdministration(auditAs(actor)).enable(...given),
    demandFactor: (actor, ...given) =>
      makeUserAdministration(auditAs(actor)).demandFactor(...given),
    removeFactors: (actor, login) => makeUserAdministration(auditAs(actor)).removeFactors(login),
  };
  type Filter = Parameters<typeof findEntries>[1];
  return {
    team,
    findEntries: (filter: Filter) => findEntries(query, filter),
    findLookedAt: (filter: Filter) => findLookedAt(query, filter),
    async verifyAudit() {
      const file = config.auditHeadFile;
      const outside = file === "" ? [] : await readHeads(file);
      const isOwn = (key: Parameters<typeof isOwnKey>[0]) => isOwnKey(key, vault.openSecret);
      return verifyAudit(query, { outside, isOwnKey: isOwn });
    },
  };
}

/** Returns true if the user has sent the same form before, so that nothing was done this time. */
function isRepeat(result: unknown): boolean {
  return typeof result === "object" && result !== null && "repeated" in result && !!result.repeated;
}

/** As commands of more than one transaction are: an entry before the work, and its outcome. */
function makeRecorded({ auditAs }: Resources) {
  return async <Result>(work: AuditedWork, run: () => Promise<Result>): Promise<Result> => {
    const { actor, action, subject, reason, after } = work;
    const audit = auditAs({ ...actor, why: reason });
    await audit.write({ action, subject, after });
    const end = (outcome: object) =>
      audit.write({ action: `${action} ended`, subject, after: outcome });
    try {
      const result = await run();
      if (result instanceof Problem) await end({ outcome: "refused", why: result.sentence });
      else if (result instanceof Failure) await end({ outcome: "refused", why: result.code });
      else await end({ outcome: isRepeat(result) ? "repeated" : "done" });
      return result;
    } catch (error) {
      await end({ outcome: "failed", why: messageOf(error) });
      throw error;
    }
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
      ...{ query: database.query, auditAs, newSecret: newTotpSecret, findStep: findTotpStep },
      ...{ seal: vault.sealSecret, open: vault.openSecret },
      show(secret, login) {
        const { uri, ...shown } = showTotp(secret, config.pageName || "Tollgate", login);
        const svg = Buffer.from(renderQrSvg(uri)).toString("base64");
        return { ...shown, picture: `data:image/svg+xml;base64,${svg}` };
      },
      ...{ newCodes: newRecoveryCodes, digestCode: digestRecoveryCode },
    }),
    guard: makeGuard({
      ...{ tries: makeSignInTries(database.query), isPassword },
      ...{ triesMax: config.portalTriesMax, lockMs: config.portalLockMs },
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
