/** What an acquirer's answer means for an order, whichever question it was the answer to. */
import type { OrderEvent } from "../orders/events.ts";
import type { Answer, Order } from "../orders/order.ts";
import type { ReceiptId } from "../values/ids.ts";

export type ApprovalDependencies = {
  readonly newReceiptId: () => ReceiptId;
  /** Whether an approval of less than was asked for may stand. */
  readonly acceptsPartialApproval: (order: Order) => boolean;
};

type Approval = { readonly kind: "approved" | "approved_in_part"; readonly answer: Answer };

export function makeApprovalEvent({ newReceiptId, acceptsPartialApproval }: ApprovalDependencies) {
  return (order: Order, { kind, answer }: Approval): OrderEvent =>
    kind === "approved" || acceptsPartialApproval(order)
      ? { kind: "authorized", answer, receiptId: newReceiptId() }
      : { kind: "approved_in_part", answer, reason: partRefused };
}

const partRefused = { code: "partial_approval_refused", detail: "[10]" } as const;

/** Nothing has left, and nothing will. */
export const notSent: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "gate_unavailable", detail: "" },
};
