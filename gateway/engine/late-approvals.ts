/** Approvals for which nobody waits any more: the charges that they confirm must not stand. */
import type { Apply } from "../orders/apply.ts";
import type { LateApproval, Order, PriorAttempt } from "../orders/order.ts";
import { parseReference } from "../orders/trace.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { Money } from "../values/money.ts";
import type { OrderRunner } from "./run.ts";

export type LateApprovals = {
  report(approval: LateApproval): Promise<void>;
  /** Resolves when all that was reported is written. */
  idle(): Promise<void>;
};

type Dependencies = {
  readonly find: (sequence: bigint) => Promise<Order | undefined>;
  readonly apply: Apply;
  readonly runner: OrderRunner;
  readonly reversePriorAttempt: (order: Order, priorAttempts: PriorAttempt) => Promise<boolean>;
  /** It could not be taken back: somebody must have the bank do it. */
  readonly onUnreversed: (order: Order, priorAttempts: PriorAttempt) => void;
};

export function makeLateApprovals(dependencies: Dependencies): LateApprovals {
  const { find, apply, runner, reversePriorAttempt, onUnreversed } = dependencies;
  const reports = new Set<Promise<void>>();

  return {
    report(approval) {
      const report = takeBack(approval).finally(() => reports.delete(report));
      reports.add(report);
      return report;
    },
    async idle() {
      while (reports.size > 0) await Promise.allSettled(reports);
    },
  };

  async function takeBack({ reference, answer, minor }: LateApproval): Promise<void> {
    const named = parseReference(reference);
    const order = named === undefined ? undefined : await find(named.sequence);
    if (named === undefined || order === undefined) return;
    if (order.transaction.identifiers?.reference !== reference)
      return takeBackEarlier(order, reference);
    const approvedAmount = approvedOf(order, minor);
    const event = { kind: "approved_late", answer: { ...answer, approvedAmount } } as const;
    const next = await apply(order, event);
    if (next instanceof Failure) {
      // Somebody has settled it, and knew: whoever looks at the order later shall see this too.
      await apply(order, { kind: "noted", what: event.kind, detail: next.cause });
    } else {
      runner.start(next, { startedBefore: false, cardData: undefined });
    }
  }

  /**
   * A charge for another amount, which was reversed before the present one was tried, has been
   * approved after all. The order goes on with the present one; that one is taken back by itself.
   */
  async function takeBackEarlier(order: Order, reference: string): Promise<void> {
    const { priorAttempts = [] } = initialOf(order);
    const earlier = priorAttempts.find(({ identifiers }) => identifiers.reference === reference);
    if (earlier === undefined) return;
    const isDone = await reversePriorAttempt(order, earlier);
    const what = isDone ? "earlier_try_reversed" : "earlier_try_approved";
    await apply(order, { kind: "noted", what, detail: reference });
    if (!isDone) onUnreversed(order, earlier);
  }
}

function approvedOf({ transaction: { amount } }: Order, minor: bigint | undefined): Money {
  const isPart = minor !== undefined && minor < amount.minor;
  return isPart ? new Money(minor, amount.currency) : amount;
}
