/** Does the `alert_operator` effect: an order in doubt has lasted, and somebody should look. */
import type { EffectHandler } from "../orders/effect-handler.ts";
import type { Order } from "../orders/order.ts";

export function makeAlertOperator(alert: (order: Order) => void): EffectHandler {
  return async (order) => {
    alert(order);
    return { kind: "operator_alerted" };
  };
}
