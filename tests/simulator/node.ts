/**
 * A node of the gateway, as `main.ts` builds it from the parts that decide about money: engine,
 * links, vault, leases, callbacks. The parts are production's; they are handed a database, a clock
 * and a sender of callbacks of the simulation.
 */
import { makeGates } from "../../gateway/acquirers/gates.ts";
import type { CallbackRequest, DeliveryAttempt } from "../../gateway/callbacks/callback.ts";
import { makeDelivery } from "../../gateway/callbacks/deliver.ts";
import { makeBuildMessage } from "../../gateway/callbacks/message.ts";
import { every } from "../../gateway/engine/claim.ts";
import { signFor } from "../../gateway/merchant-api/control.ts";
import type { Log } from "../../gateway/observability/log.ts";
import { makeMetrics } from "../../gateway/observability/metrics.ts";
import { makeAudit } from "../../gateway/storage/audit.ts";
import { makeCells } from "../../gateway/storage/cells.ts";
import type { Database } from "../../gateway/storage/database.ts";
import { openDatabaseClock, readDatabaseTime } from "../../gateway/storage/database-clock.ts";
import { makeFindOrders } from "../../gateway/storage/find-orders.ts";
import { makeFixedName } from "../../gateway/storage/presence.ts";
import {
  routeCallbacks,
  routeFindSealedCard,
  routePendingCards,
} from "../../gateway/storage/routed-stores.ts";
import { makeCvvKeyStore, makeKeyStore } from "../../gateway/storage/vault-keys.ts";
import type { Clock } from "../../gateway/values/time.ts";
import { openKeys } from "../../gateway/vault/keys.ts";
import { makePendingCards } from "../../gateway/vault/pending-cards.ts";
import { makeRequestDigests } from "../../gateway/vault/request-digests.ts";
import { makeVault } from "../../gateway/vault/vault.ts";
import { makeStartAcquirer } from "../../gateway/wiring/acquirers.ts";
import { makeEngine } from "../../gateway/wiring/engine.ts";
import { makeThreeDs } from "../../gateway/wiring/threeds.ts";
import { live, readSettings } from "./configuration.ts";

type Options = {
  readonly name: string;
  readonly database: Database;
  /** The node's own, which may be wrong. */
  readonly clock: Clock;
  readonly log: Log;
  readonly sendCallback: (message: CallbackRequest) => Promise<DeliveryAttempt>;
};

const config = readSettings();
/** One for all nodes: nothing in it changes what a node does. */
const metrics = makeMetrics();
const masterKey = Buffer.alloc(32, 7);
const gathered = { batchMax: 256 };

export type SimulatedNode = Awaited<ReturnType<typeof startNode>>;

export async function startNode({ name, database, log, sendCallback, ...options }: Options) {
  const clock = await openDatabaseClock({
    clock: options.clock,
    readTime: () => readDatabaseTime(database.query),
    onJump: (jumpMs) => log("node.clock_jumped", { jumpMs }),
  });
  const node = makeFixedName(name);
  const keys = await openKeys(masterKey, makeKeyStore(database.query));
  const databases = { node: database, vault: database };
  const cells = makeCells({
    ...{ main: databases, open: () => databases, waitMs: config.acceptRetryMs },
    onFailed: () => undefined,
  });
  const lasting = { retryMs: config.acceptRetryMs };
  const vault = makeVault(keys, routeFindSealedCard(cells, lasting));
  const pendingCards = makePendingCards(keys, routePendingCards(cells, lasting));
  const digests = makeRequestDigests({ keys, clock, store: makeCvvKeyStore(database.query) });
  const audit = makeAudit(database, { actor: { who: name, from: "simulation" } });
  const gates = makeGates(clock);
  const resources = { config, log, metrics, database, cells, clock, vault, digests, pendingCards };
  const threeds = makeThreeDs({
    ...{ ...resources, configuration: live, baseUrl: () => "", resultsUrl: () => "" },
    directories: { find: () => undefined, findEnrolment: () => undefined },
  });
  const callbacks = makeCallbackDelivery();
  const engine = makeEngine({
    ...{ ...resources, node, configuration: live, gates, threeds, onStep: [callbacks.start] },
    hold: { unless: (task) => task },
    findIssuer: () => undefined,
    screening: { makeJudge: () => () => undefined },
  });
  gates.open(makeStartAcquirer({ ...resources, audit }, engine.lateApprovals, live));
  gates.update(live.current().gates.values());
  await engine.claims.claimOwn();
  startJobs();
  return { name, engine };

  function startJobs(): void {
    const start = (everyMs: number, task: () => Promise<unknown>) =>
      every(everyMs, task, () => undefined);
    start(config.claimEveryMs, engine.claims.claimDue);
    start(config.claimEveryMs, () => clock.certain().then(callbacks.claimDue));
    start(config.clockEveryMs, clock.measure);
    start(10_000, () => digests.destroyExpired());
  }

  function makeCallbackDelivery() {
    const { byId: findOrder } = makeFindOrders(database.hot, gathered);
    return makeDelivery({
      store: routeCallbacks(cells, { node, findOrder }, gathered),
      worker: { send: sendCallback, stop: async () => undefined },
      buildMessage: makeBuildMessage({
        ...{ clock, getEndpoint: live.getEndpoint, secretFor: vault.secretFor, sign: signFor },
      }),
      ...{ clock, timeoutMs: config.callbackTimeoutMs, drainMs: config.drainMs, keepDays: 0 },
      ...{ log, observe: () => undefined },
      retry: { gapsMs: config.callbackRetryGapsMs, random: Math.random },
    });
  }
}
