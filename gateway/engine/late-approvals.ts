/**
 * Approvals that arrive after the gateway stopped waiting for them: their charges are reversed, and
 * a payout is known to be paid. The approval is kept in memory until the database takes it. After
 * the commit, any node can perform the reversal.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Apply } from "../orders/apply.ts";
import type { OrderEvent } from "../orders/events.ts";
import { parseReference } from "../orders/messages.ts";
import type { Answer, LateApproval, Order } from "../orders/order.ts";
import { knowsCharge } from "../orders/prior-attempts.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { Money } from "../values/money.ts";
import type { Clock } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";
import type { OrderRunner } from "./run.ts";

export type LateApprovals = ReturnType<typeof makeLateApprovals>;

export type LateDependencies = {
  readonly find: (sequence: number) => Promise<Order | undefined>;
  readonly apply: Apply;
  readonly runner: Pick<OrderRunner, "start" | "runs">;
  readonly clock: Pick<Clock, "now">;
  readonly vault: Pick<Vault, "receiptIdOf">;
  /** Called when a late approval is committed and its charge is about to be reversed. */
  readonly onLate: (approval: LateApproval) => void;
  /** Called when the approval could not be committed. The commit is repeated later. */
  readonly onDelayed: (approval: LateApproval, error: unknown) => void;
  /**
   * Called when no order has the charge, because the database has lost it in a failover to a
   * standby, or when the order says that the payout was not paid.
   */
  readonly onUnknown: (approval: LateApproval) => void;
};

const firstGapMs = 100;
const gapMaxMs = 5_000;

export function makeLateApprovals(dependencies: LateDependencies) {
  const { find, apply, runner, clock, vault, onLate, onDelayed, onUnknown } = dependencies;
  const reports = new Map<LateApproval, Promise<void>>();
  let isStopped = false;

  return {
    report(approval: LateApproval): Promise<void> {
      const report = record(approval);
      reports.set(approval, report);
      return report;
    },
    async idle(): Promise<void> {
      while (reports.size > 0 && !isStopped) await Promise.all(reports.values());
    },
    /** Stops retrying commits of late approvals. Returns those lost when this node ends. */
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
    if (order.transaction.identifiers?.reference !== reference)
      return reversePrior(order, approval);
    if (isAwaited(order) || hasAnswer(order, answer)) return;
    const isPayout = order.transaction.kind === "payout";
    if (!isPayout) onLate(approval);
    const approved = { ...answer, approvedAmount: approvedOf(order, minor) };
    const next = await apply(
      order,
      isPayout ? paidOut(order, answer) : { kind: "approved_late", answer: approved },
    );
    if (next instanceof Failure) {
      if (isPayout) onUnknown(approval);
      // The order's doubt is already settled, so only a note in its history records the approval.
      await apply(order, { kind: "noted", what: "approved_late", detail: next.cause });
    } else {
      runner.start(next);
    }
  }

  function paidOut({ merchantId, id }: Order, answer: Answer): OrderEvent {
    const receiptId = vault.receiptIdOf({ merchantId, orderId: id });
    return { kind: "paid_out", answer, receiptId };
  }

  /** Reverses an earlier charge of an order that has gone on with another charge. */
  async function reversePrior(order: Order, approval: LateApproval): Promise<void> {
    const { reference, answer } = approval;
    const next = await apply(order, { kind: "prior_approved_late", reference, answer });
    if (next instanceof Failure) {
      if (!knowsCharge(order, reference)) onUnknown(approval);
      return;
    }
    onLate(approval);
    // Another node may be running any other owed effect, so only the reversal starts here.
    if (next.owed?.effect === "reverse_prior") runner.start(next);
  }

  /**
   * Whether another process waits for this answer. It has received the answer too and will commit
   * it. If it ends before that, the node that claims the order settles the doubt.
   */
  function isAwaited(order: Order): boolean {
    const { owed, transaction } = order;
    if (owed?.effect !== "authorize" && transaction.stage !== "paying") return false;
    const isRunning = owed !== undefined && owed.claimableAt > clock.now();
    return isRunning && owed.resting !== true && !runner.runs(order);
  }
}

export async function idleOf(
  runner: Pick<OrderRunner, "count" | "idle">,
  lateApprovals: Pick<LateApprovals, "idle">,
): Promise<void> {
  await lateApprovals.idle();
  while (runner.count > 0) {
    await runner.idle();
    await lateApprovals.idle();
  }
}

/** Returns whether the order already has this approval, because the host has sent it twice. */
function hasAnswer(order: Order, { responseCode, approvalCode }: Answer): boolean {
  const { stage, answer } = initialOf(order);
  const known = stage === "approved" ? answer : undefined;
  return known?.responseCode === responseCode && known.approvalCode === approvalCode;
}

function approvedOf({ transaction: { amount } }: Order, minor: bigint | undefined): Money {
  const isPart = minor !== undefined && minor < amount.minor;
  return isPart ? new Money(minor, amount.currency) : amount;
}
