/**
 * Takes on a capture or a return: finds the order, begins the transaction, and carries it on from
 * memory, as accepting an order does.
 */
import type { Follow } from "../orders/apply.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { Accepted, FollowUpRequest } from "../orders/requests.ts";
import { Failure } from "../values/failure.ts";
import type { FindOrder } from "./find-order.ts";
import type { OrderRunner } from "./run.ts";

export type FollowUp = (
  entryPoint: EntryPoint,
  asked: FollowUpRequest,
) => Promise<Accepted | Failure>;

type Dependencies = {
  readonly find: FindOrder;
  readonly follow: Follow;
  readonly runner: OrderRunner;
  readonly inFlightMax: number;
};

export function makeFollowUp({ find, follow, runner, inFlightMax }: Dependencies): FollowUp {
  return async (entryPoint, { wanted, serialNumber, request }) => {
    if (runner.count >= inFlightMax) {
      return new Failure("storage_unavailable", "", "too many orders in flight");
    }
    const found = await find(entryPoint, { ...wanted, bySerialNumber: undefined });
    if (found instanceof Failure) return found;

    const kind = request.operation === "capture" ? "capture_asked" : "return_asked";
    const followed = await follow(found.order, { kind, serialNumber, request });
    if (followed instanceof Failure) return followed;
    const { order, repeated } = followed;
    if (repeated !== undefined) return { order, transaction: repeated, repeated: true };
    runner.start(order, { startedBefore: false, cardData: undefined });
    return { order, transaction: order.transaction, repeated: false };
  };
}
