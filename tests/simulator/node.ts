/**
 * A node of the gateway, assembled like `main.ts` from the parts that decide about money: engine,
 * links, vault, leases, callbacks. The parts are production's. They get a database, a clock and a
 * sender of callbacks of the simulation.
 */
import { makeGates } from "../../gateway/acquirers/gates.ts";
import { makeGateHealth } from "../../gateway/acquirers/health.ts";
import type { CallbackRequest, DeliveryAttempt } from "../../gateway/callbacks/callback.ts";
import { makeDelivery } from "../../gateway/callbacks/callbacks.ts";
import { makeBuildMessage } from "../../gateway/callbacks/message.ts";
import { signFor } from "../../gateway/merchant-api/control.ts";
import type { Log } from "../../gateway/observability/log.ts";
import { makeMetrics } from "../../gateway/observability/metrics.ts";
import type { Order, WalletPayment } from "../../gateway/orders/order.ts";
import { makeJudgePayment } from "../../gateway/screening/judge.ts";
import { makeFindRuleSet } from "../../gateway/screening/rule-set.ts";
import type { LiveHold } from "../../gateway/storage/backup/installation-hold.ts";
import { makeCvvKeyStore, makeKeyStore } from "../../gateway/storage/cards/vault-keys.ts";
import { makeCells } from "../../gateway/storage/cells/cells.ts";
import {
  routeCallbacks,
  routeFindSealedCard,
  routePendingCards,
  routeTallies,
} from "../../gateway/storage/cells/routed-stores.ts";
import { makeHealthStore } from "../../gateway/storage/configuration/gate-health.ts";
import { type Actor, makeAudit } from "../../gateway/storage/people/audit.ts";
import type { Database } from "../../gateway/storage/server/database.ts";
import {
  openDatabaseClock,
  readDatabaseTime,
} from "../../gateway/storage/server/database-clock.ts";
import { takePresence } from "../../gateway/storage/server/presence.ts";
import type { Directory } from "../../gateway/threeds/directory-client.ts";
import { type Clock, every } from "../../gateway/values/time.ts";
import { openKeys } from "../../gateway/vault/keys.ts";
import { makeRequestDigests } from "../../gateway/vault/request-digests.ts";
import { makePendingCards, makeVault } from "../../gateway/vault/vault.ts";
import { makeEngine, makeThreeDs, openGates } from "../../gateway/wiring/engine.ts";
import { findEnrolment } from "./cards.ts";
import { type Configurations, openLive, readSettings } from "./configuration.ts";

type Options = {
  readonly name: string;
  readonly database: Database;
  /** The node's own clock, which may be wrong. */
  readonly clock: Clock;
  readonly log: Log;
  readonly sendCallback: (message: CallbackRequest) => Promise<DeliveryAttempt>;
  readonly directory: Directory;
  readonly configurations: Configurations;
};

/** The result of a wallet's payment data. */
export const refusedWallet: WalletPayment = {
  type: "walleta_encrypted",
  refusal: { code: "wallet_refused", detail: "" },
};

const config = readSettings();
/** The metrics of all nodes, which do not change what a node does. */
const metrics = makeMetrics();
export const masterKey = Buffer.alloc(32, 7);
/**
 * The interval is longer than a node's, which makes no difference because a session that ends says
 * so.
 */
const presenceCheckMs = 5_000;

export type SimulatedNode = Awaited<ReturnType<typeof startNode>>;

export async function startNode({
  name,
  database,
  log,
  sendCallback,
  directory,
  ...options
}: Options) {
  const clock = await openDatabaseClock({
    clock: options.clock,
    readTime: () => readDatabaseTime(database.query),
    onJump: (jumpMs) => log("node.clock_jumped", { jumpMs }),
  });
  const node = await takePresence(database, {
    names: [name],
    waitMs: config.nodeNameWaitMs,
    checkMs: presenceCheckMs,
    onLost: () => log("node.presence_lost", {}),
    onRenamed: (renamed) => log("node.renamed", renamed),
  });
  const live = openLive(options.configurations);
  const keys = await openKeys(masterKey, makeKeyStore(database.query));
  const databases = { node: database, vault: database };
  const cells = makeCells({
    main: databases,
    open: () => databases,
    waitMs: config.acceptRetryMs,
    onFailed: () => undefined,
  });
  const retries = { retryMs: config.acceptRetryMs };
  const vault = makeVault(keys, routeFindSealedCard(cells, retries));
  const pendingCards = makePendingCards(
    keys,
    routePendingCards(cells, { ...retries, confirmKeys: keys.confirm }),
  );
  const digests = makeRequestDigests({ keys, clock, store: makeCvvKeyStore(database.query) });
  const auditAs = (actor: Actor) => makeAudit(database, { actor });
  const audit = auditAs({ who: name, from: "simulation" });
  const gates = makeGates(clock);
  const hold: LiveHold = {
    current: () => undefined,
    look: async () => undefined,
    unless: (task) => task,
    refusing: (call) => call,
  };
  const baseUrl = () => "https://pay.example";
  const context = {
    config,
    log,
    metrics,
    database,
    cells,
    clock,
    vault,
    digests,
    pendingCards,
    node,
    audit,
    auditAs,
    hold,
    gates,
    health: makeGateHealth({
      clock,
      node,
      store: makeHealthStore(database.query),
      gates: gates.list,
      onChange: () => undefined,
    }),
    configuration: live,
    baseUrl,
    isBusy: () => false,
  };
  const threeds = makeThreeDs(context, {
    resultsUrl: () => `${baseUrl()}/results`,
    directories: {
      find: () => directory,
      findEnrolment: (number, policy, isForced = false) =>
        policy === "off" && !isForced ? undefined : findEnrolment(number),
    },
  });
  const callbacks = makeCallbackDelivery();
  const engine = makeEngine(context, {
    threeds,
    onStep: [callbacks.start],
    findIssuer: () => undefined,
    judgePayment: makeJudge(),
    judgeApproval,
    isGuess: async () => false,
    openWallet: async () => ({ wallet: refusedWallet, paid: undefined }),
  });
  const browsers = threeds.makeBrowserAuthentication(engine.reports);
  openGates(context, engine.lateApprovals);
  await reload();
  node.follow(() => void reload());
  await engine.claims.claimOwn();
  startJobs();
  return {
    name,
    engine,
    browsers,
    pages: engine.paymentPages,
    receiveResult: threeds.makeReceiveResult(engine.reports),
  };

  /** Reads the configuration again after a notification. */
  async function reload(): Promise<void> {
    await keys.reload().catch((error) => log("vault.keys_reload_failed", { err: error }));
    await live.reload();
    gates.update(live.current().gates.values());
  }

  function startJobs(): void {
    const start = (everyMs: number, task: () => Promise<unknown>) =>
      every(everyMs, task, () => undefined);
    start(config.claimEveryMs, engine.claims.claimDue);
    start(config.claimEveryMs, () => clock.certain().then(callbacks.claimDue));
    start(config.clockEveryMs, clock.measure);
    start(10_000, () => digests.destroyExpired());
    start(10_000, () => pendingCards.destroyExpired(clock.now()));
  }

  /** Makes a judge whose rules count nothing. */
  /** A rule forbids the approvals of some orders, and the same ones at every node. */
  function judgeApproval({ id }: Order) {
    const reason = { code: "cvv_refused", detail: "" } as const;
    return Number(id) % 13 === 0 ? { findings: [], reason } : undefined;
  }

  function makeJudge() {
    return makeJudgePayment({
      findRuleSet: makeFindRuleSet(live.current, ({ kind }) => {
        throw new Error(`rule ${kind} is unusable`);
      }),
      store: routeTallies(cells, retries),
      lists: { find: () => undefined, size: 0 },
      findIpCountry: () => undefined,
      digestSubject: vault.digestSubject,
      onUndoFailed: () => undefined,
    });
  }

  function makeCallbackDelivery() {
    return makeDelivery({
      store: routeCallbacks(cells, node),
      worker: { send: sendCallback, stop: async () => undefined },
      buildMessage: makeBuildMessage({
        clock,
        getEndpoint: live.getEndpoint,
        secretFor: vault.secretFor,
        sign: signFor,
      }),
      clock,
      timeoutMs: config.callbackTimeoutMs,
      drainMs: config.drainMs,
      keepDays: 0,
      log,
      observe: () => undefined,
      retry: { gapsMs: config.callbackRetryGapsMs, random: Math.random },
    });
  }
}
