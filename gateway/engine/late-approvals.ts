/**
 * Approvals that arrive after the gateway stopped waiting: their charges have to be reversed. Each
 * is kept in memory until it is committed, however long the database is away; from then on any node
 * goes on with the reversal.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Apply } from "../orders/apply.ts";
import type { LateApproval, Order } from "../orders/order.ts";
import { knowsCharge } from "../orders/prior-attempts.ts";
import { parseReference } from "../orders/trace.ts";
import { Failure } from "../values/failure.ts";
import { Money } from "../values/money.ts";
import type { OrderRunner } from "./run.ts";

export type LateApprovals = ReturnType<typeof makeLateApprovals>;

type Dependencies = {
  readonly find: (sequence: number) => Promise<Order | undefined>;
  readonly apply: Apply;
  readonly runner: OrderRunner;
  /** It could not be committed, and is tried again. */
  readonly onDelayed: (approval: LateApproval, error: unknown) => void;
  /** There is no such charge. A failover to a standby that lacked it has lost it, for instance. */
  readonly onUnknown: (approval: LateApproval) => void;
};

const firstGapMs = 100;
const gapMaxMs = 5_000;

export function makeLateApprovals(dependencies: Dependencies) {
  const { find, apply, runner, onDelayed, onUnknown } = dependencies;
  const reports = new Map<LateApproval, Promise<void>>();
  let isStopped = false;

  return {
    report(approval: LateApproval): Promise<void> {
      const report = record(approval);
      reports.set(approval, report);
      return report;
    },
    /** Resolves when every reported approval is committed. */
    async idle(): Promise<void> {
      while (reports.size > 0 && !isStopped) await Promise.all(reports.values());
    },
    /** Tries no more; returns the approvals that are lost with this node. */
    stop(): readonly LateApproval[] {
      isStopped = true;
      return [...reports.keys()];
    },
  };

  async function record(approval: LateApproval): Promise<void> {
    for (let tries = 0; !isStopped; tries += 1) {
      try {
        await reverse(approval);
        reports.delete(approval);
        return;
      } catch (error) {
        onDelayed(approval, error);
        await delay(Math.min(firstGapMs * 2 ** tries, gapMaxMs), undefined, { ref: false });
      }
    }
  }

  async function reverse(approval: LateApproval): Promise<void> {
    const { reference, answer, minor } = approval;
    const named = parseReference(reference);
    const order = named === undefined ? undefined : await find(named.sequence);
    if (order === undefined || order.sequence !== named?.sequence) return onUnknown(approval);
    if (order.transaction.identifiers?.reference !== reference) {
      // The order has gone on, and the earlier charge is reversed on its own.
      const next = await apply(order, { kind: "prior_approved_late", reference, answer });
      if (next instanceof Failure && !knowsCharge(order, reference)) onUnknown(approval);
      // What else the order owes may be in flight at another node.
      const isFree = !(next instanceof Failure) && next.owed?.effect === "reverse_prior";
      if (isFree) runner.start(next);
      return;
    }
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
}

function approvedOf({ transaction: { amount } }: Order, minor: bigint | undefined): Money {
  const isPart = minor !== undefined && minor < amount.minor;
  return isPart ? new Money(minor, amount.currency) : amount;
}
