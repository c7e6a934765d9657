/** Builds the order engine: decisions, commits, effect handlers and the search for due orders. */
import { randomBytes } from "node:crypto";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type AcquirerDependencies, makeAuthorize, makeInquire } from "../acquirers/authorize.ts";
import { makeCapture, makeRefund } from "../acquirers/follow-up.ts";
import { makeReverse, makeReversePriorAttempt } from "../acquirers/reverse.ts";
import type { Config } from "../config/config.ts";
import { makeAccept, makeFindRepeat, makeFollowUp } from "../engine/accept.ts";
import { makeClaimWork } from "../engine/claim.ts";
import { makeFindOrder } from "../engine/find.ts";
import { makeLateApprovals } from "../engine/late-approvals.ts";
import { announcing, makeOrderRunner, makeReport } from "../engine/run.ts";
import { makeResultWaits } from "../engine/wait-for-result.ts";
import type { ObserveOrders } from "../observability/observe.ts";
import { type Conditions, type Deadlines, makeAdvance, type Step } from "../orders/advance.ts";
import { makeApply, makeClaim, makeFollow } from "../orders/apply.ts";
import type { EffectHandlers } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Issuer, Order } from "../orders/order.ts";
import { screen } from "../screening/screen.ts";
import { makeBegin, makeCommit, makeNextOrderId } from "../storage/commit.ts";
import type { Database } from "../storage/database.ts";
import {
  makeFindBySequence,
  makeFindBySerial,
  makeFindDue,
  makeFindOrders,
  makeFindOwned,
} from "../storage/find-orders.ts";
import { lookUp3ds } from "../threeds/look-up-3ds.ts";
import type { EndpointId, GateId, MerchantId, OrderId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";
import { newReceiptId } from "../vault/seal.ts";
import type { Vault } from "../vault/vault.ts";
import { callbackLeaseMs } from "./callbacks.ts";
import type { ThreeDs } from "./threeds.ts";

export type EngineDependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly node: string;
  readonly vault: Vault;
  readonly threeds: ThreeDs;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  /** Called with every committed step. */
  readonly sendCallback: (step: Step) => void;
  readonly observe: ObserveOrders;
};

const batchMax = 256;

export type Engine = ReturnType<typeof makeEngine>;

export function makeEngine(dependencies: EngineDependencies) {
  const { config, database, node, clock, vault, threeds, observe } = dependencies;
  const { inFlightMax } = config;
  const { byId, findExisting, begin, commit } = makeQueues(dependencies);
  const findBySequence = makeFindBySequence(database.hot);
  const waits = makeResultWaits({
    load: ({ merchantId, id }) => load(merchantId, id),
    clock,
    limitMs: config.syncWaitMs,
    lookEveryMs: config.claimEveryMs,
  });
  const listeners = [threeds.onStep, dependencies.sendCallback, observe.onStep, waits.notify];
  const conditionsOf = makeConditionsOf(dependencies);
  const advance = makeAdvance(deadlinesOf(config), { screen, look_up_3ds: lookUp3ds });
  const steps = {
    ...{ advance, conditionsOf, load, clock },
    commit: announcing(commit, (step) => step, listeners),
  };
  const apply = makeApply(steps);
  const acquirers = acquirerDependencies(dependencies);
  const handlers = makeEffectHandlers(acquirers, dependencies);
  const { onRefused, onTrouble, onUnreversed } = observe;
  const runner = makeOrderRunner({ handlers, apply, onRefused, onTrouble });
  const findBySerial = makeFindBySerial(database.hot);
  const find = makeFindOrder({ findById: byId, findExisting, findBySerial });
  return {
    runner,
    waits,
    find,
    accept: makeAccept({
      ...dependencies,
      ...threeds,
      ...{ advance, conditionsOf, findExisting, runner, inFlightMax },
      begin: announcing(begin, ({ step }) => step, listeners),
      nextOrderId: makeNextOrderId(database.query),
    }),
    findRepeat: makeFindRepeat({ findExisting, vault }),
    followUp: makeFollowUp({ find, follow: makeFollow(steps), runner, inFlightMax }),
    claims: makeClaimWork({
      ...{ node, clock, runner, batchMax, claim: makeClaim(steps) },
      findDue: makeFindDue(database.hot),
      findOwned: makeFindOwned(database.hot),
    }),
    lateApprovals: makeLateApprovals({
      ...{ find: findBySequence, apply, runner, onUnreversed },
      reversePriorAttempt: makeReversePriorAttempt(acquirers),
    }),
    /** For results that a browser, a merchant or a directory server reports. */
    reports: {
      findBySequence,
      report: makeReport(apply, runner),
      load: ({ merchantId, id }: Order) => load(merchantId, id),
    },
  };

  async function load(merchantId: MerchantId, orderId: OrderId): Promise<Order> {
    const order = await byId({ merchantId, orderId });
    if (order === undefined) throw new Error(`order ${orderId} has vanished`);
    return order;
  }
}

/** The queues that gather the reads and commits of all orders in flight into few statements. */
function makeQueues({ config, database, node, observe }: EngineDependencies) {
  const queue = (name: string) => ({ onBatch: observe.onBatch(name) });
  const { beginTriesMs } = config;
  const lasting = { beginTriesMs, callbackLeaseMs: callbackLeaseMs(config) };
  return {
    ...makeFindOrders(database.hot, queue("read")),
    begin: makeBegin(database.query, node, { ...queue("begin"), ...lasting }),
    commit: makeCommit(database.hot, node, { ...queue("move"), ...lasting }),
  };
}

function acquirerDependencies(dependencies: EngineDependencies): AcquirerDependencies {
  const { config, clock, vault, threeds, getEndpoint, findAcquirer } = dependencies;
  return {
    ...{ clock, getEndpoint, findAcquirer, newReceiptId },
    answerTimeoutMs: config.answerTimeoutMs,
    processingDeadlineMs: config.processingDeadlineMs,
    findCard: ({ merchantId, card }) => vault.findCard(merchantId, card.cardId),
    findPendingCard: threeds.findPendingCard,
    destroyPendingCard: threeds.destroyPendingCard,
  };
}

function makeEffectHandlers(
  acquirers: AcquirerDependencies,
  { threeds, observe }: EngineDependencies,
): EffectHandlers {
  return {
    authenticate: threeds.authenticate,
    ask_enrolment: threeds.ask_enrolment,
    authorize: makeAuthorize(acquirers),
    inquire: makeInquire(acquirers),
    reverse: makeReverse(acquirers),
    capture: makeCapture(acquirers),
    refund: makeRefund(acquirers),
    async alert_operator(order) {
      observe.alert(order);
      return { kind: "operator_alerted" };
    },
  };
}

const entropyBytes = 20;
const noEntropy = new Uint8Array();

function makeConditionsOf({ getEndpoint, findAcquirer }: EngineDependencies) {
  return ({ endpointId, card }: Pick<Order, "endpointId" | "card">): Conditions => {
    const endpoint = getEndpoint(endpointId);
    const ready = endpoint.gates.filter(({ id }) => findAcquirer(id)?.isReady() === true);
    const entropy = card.enrolment === undefined ? noEntropy : randomBytes(entropyBytes);
    return { endpoint, readyGates: new Set(ready.map(({ id }) => id)), entropy };
  };
}

export function deadlinesOf(config: Config): Deadlines {
  return {
    stageMs: {
      filtering: config.processingDeadlineMs,
      authenticating: config.processingDeadlineMs,
      awaiting_method: config.methodDeadlineMs,
      awaiting_challenge: config.challengeDeadlineMs,
      awaiting_result: config.resultWaitMs,
      awaiting_return: config.resultGraceMs,
      awaiting_pares: config.paresDeadlineMs,
      authorizing: config.processingDeadlineMs,
      inquiring: config.processingDeadlineMs,
      reversing: config.doubtAlarmMs,
      capturing: config.processingDeadlineMs,
      returning: config.processingDeadlineMs,
      repeating: config.doubtAlarmMs,
    },
    leaseMs: config.answerTimeoutMs + config.leaseSlackMs,
    repeatGapsMs: config.reversalGapsMs,
  };
}
