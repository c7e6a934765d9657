/**
 * The movements of an order's money as its merchant's statement books them, each on its day,
 * computed from the order alone. What the acquirer approved counts on the day of the approval in
 * the gateway's zone, and a stage of a dispute on the acquirer's date.
 */
import { commissionOf } from "../values/money.ts";
import { calendar, calendarIn, dayNumber } from "../values/time.ts";
import type { Order } from "./order.ts";
import { settlementItemsOf, settlementKinds } from "./settlement-items.ts";
import { isFinal } from "./stages.ts";
import { chargebackChangesOf, initialOf } from "./transactions.ts";

/** `pending` is a payout that is not final: its amount may have left. */
export const movementKinds = [
  ...(["gross", "fees", "returns", "chargebacks", "payouts", "pending"] as const),
];
export type MovementKind = (typeof movementKinds)[number];

/**
 * Returns the movements as `kind day amount`, with commas between them. The day is its number since
 * 1970. The amount is in minor units, and negative where a chargeback went back.
 */
export function packMovements(order: Order, zone: string): string {
  const movements: string[] = [];
  const add = (kind: MovementKind, day: number, minor: bigint) =>
    void (minor === 0n || movements.push(`${kind} ${day} ${minor}`));
  const fees = initialOf(order).identifiers?.gate.fees ?? {};
  for (const { kind, money, at, isOptional } of settlementItemsOf(order)) {
    // Released holds are optional and move no money. So are disputes, which are booked below.
    if (isOptional) continue;
    const day = dayNumber(calendarIn(zone, at));
    if (kind === "payout") add("payouts", day, money.minor);
    else if (settlementKinds[kind] === "credit") add("returns", day, money.minor);
    else {
      add("gross", day, money.minor);
      for (const fee of Object.values(fees)) add("fees", day, commissionOf(fee, money).minor);
    }
  }
  for (const { at, minor } of chargebackChangesOf(order)) {
    add("chargebacks", dayNumber(calendar(at)), minor);
  }
  const { kind, stage, amount } = order.transaction;
  const isPending = kind === "payout" && !isFinal(stage);
  if (isPending) add("pending", dayNumber(calendarIn(zone, order.acceptedAt)), amount.minor);
  return movements.join(",");
}

export function unpackMovements(packed: string) {
  return packed.split(",").flatMap((movement) => {
    const [kind = "", day = "", minor] = movement.split(" ");
    return minor === undefined ? [] : [{ kind, day, minor }];
  });
}
