/** What is told of orders: to the log, by the names that support looks for, and to the metrics. */
import type { Order } from "../orders/order.ts";
import { isFinal, stagesInDoubt } from "../orders/transitions.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export function makeObserveOrders(log: Log, metrics: Metrics) {
  return {
    onBatch: (queue: string) => (size: number, durationMs: number) => {
      metrics.commitMs.observe({ queue }, durationMs);
      metrics.commitSize.observe({ queue }, size);
    },
    onStep(order: Order): void {
      const { kind, stage } = order.transaction;
      metrics.stages.inc({ kind, stage });
      if (isFinal(stage)) log.info(named(order), "the order is final");
      else if (stagesInDoubt.includes(stage)) log.warn(named(order), "the order is in doubt");
    },
    onTrouble(order: Order, error: unknown): void {
      log.error({ ...named(order), err: error }, "an effect broke");
    },
    alert(order: Order): void {
      metrics.alarms.inc();
      log.error(named(order), "the order has been in doubt for long: look at it");
    },
  };
}

function named({ id, merchantId, endpointId, version, transaction }: Order) {
  const { serialNumber, stage, reason, charge } = transaction;
  return {
    serial: serialNumber,
    order: id,
    merchant: merchantId,
    endpoint: endpointId,
    stage,
    version,
    reference: charge?.reference,
    reason: reason?.code,
  };
}
