/**
 * The order engine wired together: decisions, commits, doers and the search for work that is due.
 * Part of the wiring that `main.ts` does, kept apart because tests and the command line need to see
 * that there is nothing else to it.
 */

import type { Config } from "../config/config.ts";
import { type Begin, makeAccept, makeFindRepeat } from "../engine/accept.ts";
import { makeClaimWork } from "../engine/claim.ts";
import { makeFindOrder } from "../engine/find-order.ts";
import { makeFollowUp } from "../engine/follow-up.ts";
import { makeLateApprovals } from "../engine/late-approvals.ts";
import { makeReport } from "../engine/report.ts";
import { makeOrderRunner } from "../engine/run.ts";
import { makeResultWaits } from "../engine/wait-for-result.ts";
import { type Advance, makeAdvance, type Step } from "../orders/advance.ts";
import { type Commit, makeApply, makeClaim, makeFollow } from "../orders/apply.ts";
import type { Deadlines } from "../orders/deadlines.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Issuer, Order, PriorAttempt } from "../orders/order.ts";
import { makeScreen } from "../screening/screen.ts";
import { makeBegin, makeCommit } from "../storage/commit.ts";
import type { Database } from "../storage/database.ts";
import {
  makeFindBySequence,
  makeFindBySerial,
  makeFindDue,
  makeFindOrders,
  makeFindOwned,
} from "../storage/find-orders.ts";
import { makeNextOrderId } from "../storage/order-ids.ts";
import { makeLookUp3ds } from "../threeds/look-up-3ds.ts";
import type { Failure } from "../values/failure.ts";
import { callbackLeaseMs } from "./callbacks.ts";
import {
  type EffectHandlerDependencies,
  isReadyOf,
  makeEffectHandlers,
  reversePriorAttemptOf,
} from "./effect-handlers.ts";

export type EngineDependencies = EffectHandlerDependencies & {
  readonly database: Database;
  readonly node: string;
  /** A step was written: whoever is owed something by it is told. */
  readonly tell: (step: Step) => void;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  readonly onBatch: (queue: string) => (size: number, durationMs: number) => void;
  readonly onStep: (order: Order) => void;
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onUnreversed: (order: Order, priorAttempts: PriorAttempt) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
};

const batchMax = 256;

export type Engine = ReturnType<typeof makeEngine>;

export function makeEngine(dependencies: EngineDependencies) {
  const { config, database, node, clock, vault, threeds } = dependencies;
  const { onBatch, onRefused, onTrouble, onUnreversed, findIssuer } = dependencies;
  const one = (queue: string) => ({ batchMax, inFlightMax: 1, onBatch: onBatch(queue) });
  const { beginTriesMs, inFlightMax } = config;
  const lasting = { beginTriesMs, callbackLeaseMs: callbackLeaseMs(config) };

  const { byId, byClientOrderId } = makeFindOrders(database.hot, one("read"));
  const findKnown = (merchantId: Order["merchantId"], clientOrderId: string) =>
    byClientOrderId({ merchantId, clientOrderId });

  const advance = advanceWith(dependencies);
  const commit = makeCommit(database.hot, node, { ...one("move"), ...lasting });
  const steps = { advance, commit: thenTell(commit, dependencies), load, clock };
  const apply = makeApply(steps);
  const waits = makeResultWaits({
    load: ({ merchantId, id }) => load(merchantId, id),
    clock,
    limitMs: config.syncWaitMs,
    lookEveryMs: config.claimEveryMs,
  });
  const onStep = (order: Order) => {
    dependencies.onStep(order);
    waits.tell(order);
  };
  const runner = makeOrderRunner({
    handlers: makeEffectHandlers(dependencies),
    apply,
    ...{ onStep, onRefused, onTrouble },
  });
  const begin = makeBegin(database.query, node, { ...one("begin"), ...lasting });
  const accept = makeAccept({
    advance,
    begin: thenTellBegun(begin, dependencies),
    ...{ findKnown, vault, runner, clock, inFlightMax, findIssuer },
    nextOrderId: makeNextOrderId(database.query),
    ...{ findEnrolment: threeds.findEnrolment, hold: threeds.hold },
  });
  const work = makeClaimWork({
    node,
    clock,
    findDue: makeFindDue(database.hot),
    findOwned: makeFindOwned(database.hot),
    claim: makeClaim(steps),
    runner,
    batchMax,
  });
  const findBySerial = makeFindBySerial(database.hot);
  const find = makeFindOrder({ findById: byId, findKnown, findBySerial });
  const followUp = makeFollowUp({ find, follow: makeFollow(steps), runner, inFlightMax });
  const findBySequence = makeFindBySequence(database.hot);
  const late = makeLateApprovals({
    ...{ find: findBySequence, apply, runner, onUnreversed },
    reversePriorAttempt: reversePriorAttemptOf(dependencies),
  });
  const findRepeat = makeFindRepeat({ findKnown, vault });
  const report = makeReport({ apply, runner, onStep });
  const again = ({ merchantId, id }: Order) => load(merchantId, id);
  const outside = { findBySequence, report, load: again };
  return { accept, findRepeat, find, followUp, waits, runner, work, late, outside };

  async function load(merchantId: Order["merchantId"], orderId: Order["id"]): Promise<Order> {
    const order = await byId({ merchantId, orderId });
    if (order === undefined) throw new Error(`order ${orderId} has vanished`);
    return order;
  }
}

function advanceWith(dependencies: EngineDependencies): Advance {
  return makeAdvance(deadlinesOf(dependencies.config), {
    screen: makeScreen(dependencies.getEndpoint, isReadyOf(dependencies)),
    look_up_3ds: makeLookUp3ds(dependencies.threeds.judge),
  });
}

/** Once an order has changed, its merchant may be owed a callback, and what was held goes. */
function thenTell(commit: Commit, { tell, threeds }: EngineDependencies): Commit {
  return async (step) => {
    const committed = await commit(step);
    if (committed === "done") {
      threeds.forget(step.order, step.events);
      tell(step);
    }
    return committed;
  };
}

/** An order may end with the very step that begins it. */
function thenTellBegun(begin: Begin, { tell }: EngineDependencies): Begin {
  return async (beginning) => {
    const begun = await begin(beginning);
    if (begun === "done") tell(beginning.step);
    return begun;
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
