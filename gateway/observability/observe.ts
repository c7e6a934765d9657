/** Reports the steps of orders to the log and the metrics. */
import type { Step } from "../orders/advance.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { LateApproval, Order } from "../orders/order.ts";
import { findOwingAttempt } from "../orders/prior-attempts.ts";
import { isFinal, stagesInDoubt } from "../orders/stages.ts";
import type { Failure } from "../values/failure.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const lateTriesPerAlarm = 10;

export function makeObserveOrders(log: Log, metrics: Metrics) {
  return {
    onBatch: (queue: string) => (size: number, durationMs: number) => {
      metrics.commitMs.observe({ queue }, durationMs);
      metrics.commitSize.observe({ queue }, size);
    },
    onStep({ order, events }: Step): void {
      // These events leave the order where it is.
      if (events.every(({ kind }) => kind === "claimed" || kind === "noted")) return;
      const { kind, stage } = order.transaction;
      metrics.stages.inc({ kind, stage });
      for (const event of events) {
        alertIfRefused(order, event);
        countFindings(event);
      }
      if (isFinal(stage) && events.some((event) => event.kind === "refused_in_doubt")) {
        log("order.finished", named(order));
      }
      if (stage === "awaiting_card") logRefusedTry(order, events);
      if (stagesInDoubt.includes(stage)) log("order.in_doubt", named(order));
      else if (order.owed?.effect === "reverse" || order.owed?.effect === "reverse_prior") {
        log("order.late_approval_reversing", named(order));
        // A final order has no deadline that could raise the alarm, so the number of attempts
        // raises it.
        const tries = triesOf(order);
        if (tries > 0 && tries % lateTriesPerAlarm === 0) alert(order);
      } else if (isFinal(stage)) log("order.finished", named(order));
    },
    onRefused(order: Order, { kind }: OrderEvent, { cause }: Failure): void {
      log("order.event_ignored", { ...named(order), result: kind, cause });
    },
    onLostApproval({ transaction }: Order): void {
      log("acquirer.late_approval_unknown", { reference: transaction.identifiers?.reference });
    },
    onLate({ reference }: LateApproval): void {
      log("acquirer.late_approval", { reference });
    },
    onDelayed({ reference }: LateApproval, error: unknown): void {
      log("acquirer.late_approval_delayed", { err: error, reference });
    },
    onUnknown({ reference }: LateApproval): void {
      log("acquirer.late_approval_unknown", { reference });
    },
    onStuck: (error: unknown): void => log("storage.step_stuck", { err: error }),
    onTrouble(order: Order, error: unknown): void {
      log("order.effect_failed", { ...named(order), err: error });
    },
    /** Performs the `alert_operator` effect. */
    async alertOperator(order: Order): Promise<OrderEvent> {
      alert(order);
      return { kind: "operator_alerted" };
    },
  };

  /** A new page, and news of an earlier attempt, are not refusals. */
  function logRefusedTry(order: Order, events: readonly OrderEvent[]): void {
    const tried = order.page?.refused.at(-1);
    const isOther = events.every(({ kind }) => kind === "received" || kind.startsWith("prior_"));
    if (tried === undefined || isOther) return;
    const reference = tried.attempts.at(-1)?.identifiers.reference;
    log("order.try_refused", { ...named(order), reference, reason: tried.reason.code });
  }

  function countFindings(event: OrderEvent): void {
    if (!("findings" in event)) return;
    for (const finding of event.findings ?? []) {
      const { kind, scope } = finding;
      metrics.findings.inc({ kind, scope, did: "action" in finding ? finding.action : "no_data" });
    }
  }

  /** The alarm is raised at once because, unlike silence, a refusal does not end by itself. */
  function alertIfRefused(order: Order, event: OrderEvent): void {
    if (event.kind === "repeat_refused") {
      metrics.alarms.inc();
      log("order.repeat_refused", { ...named(order), code: event.code });
    }
    const answered = event.kind === "prior_unreversed" ? event.answered : event;
    if (answered.kind !== "reversal_refused") return;
    const prior = event.kind === "prior_unreversed" ? { reference: event.reference } : {};
    metrics.alarms.inc();
    log("order.reversal_refused", { ...named(order), ...prior, code: answered.code });
  }

  function alert(order: Order): void {
    metrics.alarms.inc();
    log("order.doubt_alarm", named(order));
  }
}

/** Reports how many card numbers were destroyed, by reason. */
export function makeObserveDestroyed(log: Log, metrics: Metrics) {
  return (counts: Readonly<Record<string, number>>): void => {
    log("vault.cards_destroyed", counts);
    if (counts.removed) log("vault.removed_cards_destroyed", { count: counts.removed });
    for (const [why, count] of Object.entries(counts)) metrics.destroyed.inc({ why }, count);
  };
}

function triesOf(order: Order): number {
  const isPrior = order.owed?.effect === "reverse_prior";
  return isPrior ? (findOwingAttempt(order)?.owes.tries ?? 0) : order.transaction.tries;
}

function named({ id, merchantId, endpointId, version, page, transaction }: Order) {
  const { serialNumber, stage, reason, identifiers } = transaction;
  return {
    serial: serialNumber,
    order: id,
    merchant: merchantId,
    endpoint: endpointId,
    stage,
    version,
    reference: identifiers?.reference,
    reason: reason?.code,
    ...(page?.linkId !== undefined && { link: page.linkId }),
  };
}
