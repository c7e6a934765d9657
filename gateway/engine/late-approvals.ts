/** Approvals that arrive after the gateway stopped waiting: their charges have to be reversed. */
import type { Apply } from "../orders/apply.ts";
import type { LateApproval, Order, PriorAttempt } from "../orders/order.ts";
import { parseReference } from "../orders/trace.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { Money } from "../values/money.ts";
import type { OrderRunner } from "./run.ts";

export type LateApprovals = ReturnType<typeof makeLateApprovals>;

type Dependencies = {
  readonly find: (sequence: bigint) => Promise<Order | undefined>;
  readonly apply: Apply;
  readonly runner: OrderRunner;
  readonly reversePriorAttempt: (order: Order, priorAttempts: PriorAttempt) => Promise<boolean>;
  /** The gateway could not reverse it: the operator has to have the acquirer do it. */
  readonly onUnreversed: (order: Order, priorAttempts: PriorAttempt) => void;
};

export function makeLateApprovals(dependencies: Dependencies) {
  const { find, apply, runner, reversePriorAttempt, onUnreversed } = dependencies;
  const reports = new Set<Promise<void>>();

  return {
    report(approval: LateApproval): Promise<void> {
      const report = reverse(approval).finally(() => reports.delete(report));
      reports.add(report);
      return report;
    },
    /** Resolves when every reported approval is committed. */
    async idle(): Promise<void> {
      while (reports.size > 0) await Promise.allSettled(reports);
    },
  };

  async function reverse({ reference, answer, minor }: LateApproval): Promise<void> {
    const named = parseReference(reference);
    const order = named === undefined ? undefined : await find(named.sequence);
    if (named === undefined || order === undefined) return;
    const isPresent = order.transaction.identifiers?.reference === reference;
    if (!isPresent) return reverseEarlier(order, reference);
    const approvedAmount = approvedOf(order, minor);
    const event = { kind: "approved_late", answer: { ...answer, approvedAmount } } as const;
    const next = await apply(order, event);
    if (next instanceof Failure) {
      // An operator has settled the order before: the note shows them that the approval came.
      await apply(order, { kind: "noted", what: event.kind, detail: next.cause });
    } else {
      runner.start(next);
    }
  }

  /**
   * A charge for an earlier amount of the list, which was reversed before the present one was sent,
   * has been approved after all. The order goes on; the earlier charge is reversed on its own.
   */
  async function reverseEarlier(order: Order, reference: string): Promise<void> {
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
