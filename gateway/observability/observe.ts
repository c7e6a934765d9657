/** What is told of orders: to the log, by the names that support looks for, and to the metrics. */
import type { OrderEvent } from "../orders/events.ts";
import type { Order, PriorAttempt } from "../orders/order.ts";
import { isFinal, stagesInDoubt } from "../orders/transitions.ts";
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
    onStep(order: Order): void {
      const { kind, stage, tries } = order.transaction;
      metrics.stages.inc({ kind, stage });
      if (stagesInDoubt.includes(stage)) log.warn(named(order), "the order is in doubt");
      else if (order.owed?.effect === "reverse") tellOfLateApproval(order, tries);
      else if (isFinal(stage)) log.info(named(order), "the order is final");
    },
    onRefused(order: Order, { kind }: OrderEvent, { cause }: Failure): void {
      log.warn({ ...named(order), event: kind, cause }, "what was done came to nothing");
    },
    onUnreversed(order: Order, { identifiers, amount }: PriorAttempt): void {
      metrics.alarms.inc();
      const facts = { ...named(order), reference: identifiers.reference, amount };
      log.error(
        facts,
        "an earlier try was approved and could not be taken back: have the bank do it",
      );
    },
    onTrouble(order: Order, error: unknown): void {
      log.error({ ...named(order), err: error }, "an effect broke");
    },
    alert,
  };

  /** The order is over, and has no deadline any more that could raise the alarm. */
  function tellOfLateApproval(order: Order, tries: number): void {
    log.warn(named(order), "a late approval is being taken back");
    if (tries > 0 && tries % lateTriesPerAlarm === 0) alert(order);
  }

  function alert(order: Order): void {
    metrics.alarms.inc();
    log.error(named(order), "the order has been in doubt for long: look at it");
  }
}

function named({ id, merchantId, endpointId, version, transaction }: Order) {
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
  };
}
