/** Builds the order engine: decisions, commits, effect handlers and the search for due orders. */
import { callbackLeaseMs } from "../callbacks/callback.ts";
import { deadlinesOf } from "../config/config.ts";
import {
  makeAcceptOrders,
  makeAdmission,
  makeConditionsOf,
  makeFindRepeats,
  makeFollowUps,
} from "../engine/accept.ts";
import { afterOutages, makeClaimWork } from "../engine/claim.ts";
import { makeEndedOrders } from "../engine/ended-orders.ts";
import { makeOrderSearch } from "../engine/find.ts";
import { idleOf, makeLateApprovals } from "../engine/late-approvals.ts";
import { makePaymentPages, type PageDependencies } from "../engine/payment-page.ts";
import { announcing, makeOrderRunner, makeReport } from "../engine/run.ts";
import { makeResultWaits } from "../engine/wait-for-result.ts";
import { makeObserveOrders } from "../observability/observe.ts";
import { makeAdvance, type Step } from "../orders/advance.ts";
import { type Commit, makeApply, makeClaim, makeFollow } from "../orders/apply.ts";
import type { Issuer, Order } from "../orders/order.ts";
import { screen } from "../screening/screen.ts";
import { routeOrders } from "../storage/cells/routed-stores.ts";
import {
  findPlace,
  makeNextNumbers,
  type OrderPlace,
  openOrderIds,
} from "../storage/orders/order-ids.ts";
import { lookUp3ds } from "../threeds/look-up-3ds.ts";
import { newCardId } from "../vault/seal.ts";
import { makeAcquirerEffects } from "./acquirers.ts";
import type { Resources } from "./resources.ts";
import type { Screening } from "./screening.ts";
import type { ThreeDs } from "./threeds.ts";

type Used = Pick<Resources, "config" | "log" | "metrics" | "database" | "cells"> &
  Pick<Resources, "clock" | "vault" | "digests" | "isBusy"> &
  Pick<Resources, "node" | "hold" | "gates" | "configuration" | "baseUrl">;

type Parts = {
  readonly threeds: ThreeDs;
  readonly findIssuer: (prefix: string) => Issuer | undefined;
  readonly screening: Pick<Screening, "judgePayment" | "isGuess">;
  /** Called with every committed step: they send its callback and index the order. */
  readonly onStep: readonly ((step: Step) => void)[];
};

const batchMax = 256;

export type Engine = ReturnType<typeof makeEngine>;

export function makeEngine(resources: Used, parts: Parts) {
  const { config, log, metrics, database, clock, vault, digests } = resources;
  const { node, gates } = resources;
  const { threeds, findIssuer } = parts;
  const { onTrouble, ...observe } = makeObserveOrders(log, metrics);
  const queues = makeQueues(resources, observe);
  const { byId, findExisting, findBySerial, byNumber, atPlace, load, lasting } = queues;
  const ended = makeEndedOrders({ find: byId, isCurrent: queues.isCurrent });
  const waits = makeWaits(resources, load);
  const listeners = [threeds.onStep, ...parts.onStep, observe.onStep, waits.notify, ended.onStep];
  const { getEndpoint } = resources.configuration;
  const conditionsOf = makeConditionsOf({ getEndpoint, isReady: gates.isReady });
  const advance = makeAdvance(deadlinesOf(config), { screen, look_up_3ds: lookUp3ds });
  const announced = (commit: Commit) => announcing(commit, (step) => step, listeners, onTrouble);
  const pure = { advance, conditionsOf, clock };
  const search = makeOrderSearch({ findById: ended.find, findExisting, findBySerial });
  const steps = { ...pure, load, commit: announced(queues.commit) };
  const apply = makeApply({ ...pure, load: lasting.load, commit: announced(lasting.commit) });
  const orderIds = openOrderIds(database, { ownTime: clock.own, retryMs: config.acceptRetryMs });
  const runner = makeOrderRunner({
    apply,
    onRefused: observe.onRefused,
    onTrouble,
    onLostApproval: observe.onLostApproval,
    handlers: {
      ...makeAcquirerEffects(resources, threeds),
      authenticate: threeds.authenticate,
      ask_enrolment: threeds.ask_enrolment,
      alert_operator: observe.alertOperator,
    },
  });
  const lateApprovals = makeLateOnes(resources, { apply, runner, atPlace });
  const admit = makeAdmission(runner, config.inFlightMax);
  const { judgePayment, isGuess } = parts.screening;
  const payments = { advance, conditionsOf, runner, admit, judgePayment };
  const cards = { ...threeds, ...payments, clock, vault, digests, findIssuer };
  return {
    runner,
    waits,
    ...search,
    findExisting,
    forgetEnded: ended.forgetOld,
    closeOrderIds: orderIds.close,
    /** By cell: resolves when its queues of reads and of new orders move. */
    probes: queues.probes,
    ...makeAcceptOrders({
      ...cards,
      findExisting,
      begin: announcing(queues.begin, ({ step }) => step, listeners, onTrouble),
      nextNumbers: makeNextNumbers(orderIds.takeBlock),
    }),
    makePages: (edge: PageEdge) =>
      makePages(resources, {
        ...cards,
        ...edge,
        load,
        findByNumber: byNumber,
        enter: announcing(queues.enter, ({ step }) => step, listeners, onTrouble),
      }),
    ...makeFindRepeats({ findExisting, isGuess, digests, clock, vault }),
    ...makeFollowUps({ ...search, follow: makeFollow(steps), runner, admit, ...vault }),
    claims: makeClaims(resources, {
      node,
      clock,
      runner,
      batchMax,
      claim: makeClaim(steps),
      findDue: queues.findDue,
      findOwned: queues.findOwned,
    }),
    lateApprovals,
    idle: () => idleOf(runner, lateApprovals),
    /** For results that a browser, a merchant or a directory server reports. */
    reports: { findByNumber: byNumber, load, report: makeReport(makeApply(steps), runner) },
    countInDoubt: queues.countInDoubt,
  };
}

type Observed = ReturnType<typeof makeObserveOrders>;

function makeQueues(
  { cells, config, vault, isBusy, clock, node }: Used,
  { onBatch, onStuck }: Pick<Observed, "onBatch" | "onStuck">,
) {
  return routeOrders(cells, {
    node,
    onBatch,
    onStuck,
    retryMs: config.acceptRetryMs,
    confirmKeys: vault.confirmKeys,
    callbackLeaseMs: callbackLeaseMs(config.callbackTimeoutMs),
    isBusy,
    watchDue: (findDue) => afterOutages(findDue, clock),
  });
}

type LateParts = Pick<Parameters<typeof makeLateApprovals>[0], "apply" | "runner"> & {
  readonly atPlace: (place: OrderPlace) => Promise<Order | undefined>;
};

function makeLateOnes({ database, log, clock }: Used, { atPlace, ...parts }: LateParts) {
  return makeLateApprovals({
    ...parts,
    clock,
    find: async (sequence) => atPlace(await findPlace(database.query, sequence)),
    onLate: ({ reference }) => log("acquirer.late_approval", { reference }),
    onDelayed: ({ reference }, error) =>
      log("acquirer.late_approval_delayed", { err: error, reference }),
    onUnknown: ({ reference }) => log("acquirer.late_approval_unknown", { reference }),
  });
}

type PageEdge = Pick<PageDependencies, "openWallet" | "stepOf">;
type PageSetting = "tokens" | "getEndpoint" | "newCardId" | "digest" | "linkLifeMs" | "defaults";

function makePages(
  { config, vault, configuration, baseUrl }: Used,
  parts: Omit<PageDependencies, PageSetting | "baseUrl">,
) {
  return makePaymentPages({
    ...parts,
    baseUrl,
    tokens: vault,
    getEndpoint: configuration.getEndpoint,
    newCardId,
    digest: vault.digest,
    linkLifeMs: config.linkLifeMs,
    defaults: { lifeMs: config.paymentPageLifeMs, triesMax: config.paymentPageTries },
  });
}

/** Nothing is claimed while the installation is on hold. */
function makeClaims({ hold }: Used, work: Parameters<typeof makeClaimWork>[0]) {
  const claims = makeClaimWork(work);
  return { ...claims, claimDue: hold.unless(claims.claimDue, 0) };
}

function makeWaits({ clock, config }: Used, load: (order: Order) => Promise<Order>) {
  const { claimEveryMs: lookEveryMs, syncWaitMs: limitMs } = config;
  return makeResultWaits({ load, clock, limitMs, lookEveryMs });
}
