/**
 * The order engine accepts, runs, claims and finds orders. All of its parts report committed steps
 * to the same listeners.
 */
import {
  type FindEndpointUrls,
  type ImmediateHandlers,
  makeAdvance,
  type Step,
} from "../orders/advance.ts";
import { type Commit, makeApply, makeClaim, makeFollow } from "../orders/apply.ts";
import type { Order } from "../orders/order.ts";
import type { Clock } from "../values/time.ts";
import {
  type AcceptDependencies,
  makeAcceptOrders,
  makeAdmission,
  makeConditionsOf,
  makeFindRepeats,
  makeFollowUps,
} from "./accept.ts";
import {
  makeEndedOrders,
  makeOrderSearch,
  makeResultWaits,
  type OrderKey,
  type SearchDependencies,
} from "./find.ts";
import { idleOf, type LateDependencies, makeLateApprovals } from "./late-approvals.ts";
import { makePaymentPages, type PageDependencies } from "./payment-page.ts";
import {
  type ClaimDependencies,
  makeAnnouncing,
  makeClaimWork,
  makeOrderRunner,
  makeReport,
  type RunnerDependencies,
} from "./run.ts";

type LoadOrder = (order: Order) => Promise<Order>;

/** Accesses of concurrent orders are combined into common queries and commits. */
type OrderStore = Pick<AcceptDependencies, "begin" | "findExisting"> &
  Pick<SearchDependencies, "findBySerial"> &
  Pick<ClaimDependencies, "findDue" | "findOwned"> &
  Pick<PageDependencies, "enter"> & {
    readonly byId: (key: OrderKey) => Promise<Order | undefined>;
    readonly byNumber: PageDependencies["findByNumber"];
    readonly isCurrent: (order: Order) => Promise<boolean>;
    readonly load: LoadOrder;
    readonly commit: Commit;
    /** While the database is unreachable, these accesses repeat, so that no answer is lost. */
    readonly retrying: { readonly load: LoadOrder; readonly commit: Commit };
  };

type FromStore = "begin" | "findExisting" | "findBySerial" | "findDue" | "findOwned" | "enter";
type Made = "advance" | "conditionsOf" | "runner" | "admit" | "apply" | "load" | "claim";

type Options = Omit<AcceptDependencies, FromStore | Made | "clock"> &
  Omit<PageDependencies, FromStore | Made | "clock" | "findByNumber" | "defaults" | "vault"> &
  Omit<LateDependencies, FromStore | Made | "clock" | "find"> &
  Omit<RunnerDependencies, Made> &
  Parameters<typeof makeConditionsOf>[0] &
  Pick<ClaimDependencies, "node"> &
  Pick<Parameters<typeof makeFindRepeats>[0], "isGuess"> & {
    readonly store: OrderStore;
    readonly clock: Clock & ClaimDependencies["clock"];
    readonly vault: AcceptDependencies["vault"] &
      Pick<Parameters<typeof makeFollowUps>[0], "findCard">;
    readonly deadlines: Parameters<typeof makeAdvance>[0];
    readonly immediate: ImmediateHandlers;
    readonly findEndpointUrls: FindEndpointUrls;
    readonly findBySequence: LateDependencies["find"];
    readonly settings: {
      readonly inFlightMax: number;
      readonly syncWaitMs: number;
      readonly claimEveryMs: number;
      readonly paymentPageLifeMs: number;
      readonly paymentPageTries: number;
    };
    readonly onStep: readonly ((step: Step) => void)[];
  };

const batchMax = 256;

export function makeEngine(options: Options) {
  const { store, clock, settings, onTrouble } = options;
  const { load, findExisting } = store;
  const ended = makeEndedOrders({ find: store.byId, isCurrent: store.isCurrent });
  const waits = makeResultWaits({
    load,
    clock,
    limitMs: settings.syncWaitMs,
    lookEveryMs: settings.claimEveryMs,
  });
  const announcing = makeAnnouncing([...options.onStep, waits.notify, ended.onStep], onTrouble);
  const pure = {
    advance: makeAdvance(options.deadlines, options.immediate, options.findEndpointUrls),
    conditionsOf: makeConditionsOf(options),
    clock,
  };
  const steps = { ...pure, load, commit: announcing(store.commit) };
  const { retrying } = store;
  const apply = makeApply({ ...pure, load: retrying.load, commit: announcing(retrying.commit) });
  const runner = makeOrderRunner({ ...options, apply });
  const lateApprovals = makeLateApprovals({
    ...options,
    apply,
    runner,
    find: options.findBySequence,
  });
  const search = makeOrderSearch({ ...store, findById: ended.find });
  const admit = makeAdmission(runner, settings.inFlightMax);
  const work = { ...options, ...pure, runner, admit, findExisting };
  return {
    runner,
    waits,
    ...search,
    findExisting,
    forgetEnded: ended.forgetOld,
    ...makeAcceptOrders({ ...work, begin: announcing(store.begin) }),
    ...makeFindRepeats(work),
    ...makeFollowUps({
      ...work,
      ...search,
      findCard: options.vault.findCard,
      follow: makeFollow(steps),
    }),
    paymentPages: makePaymentPages({
      ...work,
      load,
      findByNumber: store.byNumber,
      enter: announcing(store.enter),
      defaults: { lifeMs: settings.paymentPageLifeMs, triesMax: settings.paymentPageTries },
    }),
    claims: makeClaimWork({ ...store, ...work, batchMax, claim: makeClaim(steps) }),
    lateApprovals,
    idle: () => idleOf(runner, lateApprovals),
    /** How browsers, merchants and directory servers report results to an order. */
    reports: { findByNumber: store.byNumber, load, report: makeReport(makeApply(steps), runner) },
  };
}
