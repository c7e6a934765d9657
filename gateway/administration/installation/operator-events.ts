/**
 * Events that an operator reports to an order. The report runs no effects: a node finds that the
 * order is due and runs them. An event applies only to the version of the order that the operator
 * has seen.
 */
import { makeFindEndpointUrls } from "../../callbacks/callback-urls.ts";
import { type Config, deadlinesOf, userName } from "../../config/config.ts";
import { type Advance, makeAdvance } from "../../orders/advance.ts";
import { type ApplyDependencies, makeApply } from "../../orders/apply.ts";
import {
  acquirerIsAsked,
  mayArrive,
  type OperatorEvent,
  type OrderEvent,
} from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import { isInDoubt } from "../../orders/prior-attempts.ts";
import type { Cells } from "../../storage/cells/cells.ts";
import { makeCommit } from "../../storage/orders/commit.ts";
import { makeFixedName } from "../../storage/server/presence.ts";
import { Failure } from "../../values/failure.ts";
import { Problem } from "../../values/problem.ts";
import type { Instant } from "../../values/time.ts";
import { wireStageOf } from "../../views/status.ts";

/** Another event has changed the order since the operator read it. */
export const stale = new Error("the order has moved on");

export type OperatorReport = (
  order: Order,
  event: OrderEvent,
) => Promise<Order | Failure | typeof stale>;

type Reading = {
  readonly config: Config;
  readonly cells: Cells;
  /** The time that all nodes share. */
  readonly now: () => Promise<Instant>;
};
type FindEndpoint = Parameters<typeof makeFindEndpointUrls>[0];

/** `findEndpoint` finds the endpoint whose callback URLs may get a callback about the event. */
export function makeReport(
  { config, cells, now: readTime }: Reading,
  findEndpoint: FindEndpoint,
): OperatorReport {
  const options = { retryMs: config.acceptRetryMs, callbackLeaseMs: 0 };
  const name = makeFixedName(`gw-${userName()}`);
  const stores = cells.stores(({ node }) => makeCommit(node.query, name, options));
  const steps: Omit<ApplyDependencies, "clock"> = {
    advance: makeOperatorAdvance(config, findEndpoint),
    commit: (step) =>
      stores.call(step.order.merchantId, (commit, isAgain) => commit(step, isAgain)),
    load: () => Promise.reject(stale),
  };
  return async (order, event) => {
    const now = await readTime();
    const apply = makeApply({ ...steps, clock: { now: () => now } });
    return apply(order, event).catch((error) => {
      if (error !== stale) throw error;
      return stale;
    });
  };
}

export function makeOperatorAdvance(config: Config, findEndpoint: FindEndpoint): Advance {
  const handlers = { screen: unexpected, look_up_3ds: unexpected };
  return makeAdvance(deadlinesOf(config), handlers, makeFindEndpointUrls(findEndpoint));
}

function unexpected(): never {
  throw new Error("an operator's event leads to no immediate effect");
}

/** Reports the acquirer's result for an order in doubt, or has the acquirer asked again at once. */
export async function decideDoubt(
  report: OperatorReport,
  order: Order,
  event: OperatorEvent,
): Promise<Order | Problem> {
  const { id, transaction } = order;
  if (event.why.trim() === "" || event.by.trim() === "") {
    return notNow("Neither the reason nor the name can be empty.");
  }
  if (!isInDoubt(order)) return notNow(`Order ${id} is not in doubt.`);
  const decided = await report(order, event);
  if (decided === stale) return notNow(`Order ${id} has just moved on: look at it again.`);
  if (decided === acquirerIsAsked) {
    return notNow(
      `The acquirer is being asked about order ${id} at this moment. Decide while it rests ` +
        "between two tries: the list of orders in doubt has the time of the next one.",
    );
  }
  if (decided === mayArrive) {
    return notNow(
      `A message about order ${id} had no answer, and may still reach the acquirer and undo this ` +
        "decision. Decide again after `GW_ACQUIRER_ANSWER_TIMEOUT_S` and `GW_LEASE_SLACK_S`.",
    );
  }
  if (decided instanceof Failure || decided instanceof Error) {
    const stage = wireStageOf(transaction.kind, transaction.stage);
    return notNow(`Order ${id} cannot be settled this way in ${stage}.`);
  }
  return decided;
}

function notNow(sentence: string): Problem {
  return new Problem(sentence, "not_now");
}

export type ReportToOrder = ReturnType<typeof makeReportToOrder>;

export function makeReportToOrder(reading: Reading, findEndpoint: FindEndpoint) {
  const report = makeReport(reading, findEndpoint);
  return (
    find: () => Promise<Order | undefined>,
    eventFor: (order: Order) => Promise<OrderEvent | undefined>,
  ) => reportToLatest(report, find, eventFor);
}

const triesMax = 20;

/** If another event changes the order at the same time, reads the order and reports again. */
export async function reportToLatest(
  report: OperatorReport,
  find: () => Promise<Order | undefined>,
  eventFor: (order: Order) => Promise<OrderEvent | undefined>,
): Promise<Order | Failure | undefined> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const order = await find();
    const event = order && (await eventFor(order));
    if (order === undefined || event === undefined) return order;
    const reported = await report(order, event);
    if (!(reported instanceof Error)) return reported;
  }
  throw new Error("the order changes all the time");
}
