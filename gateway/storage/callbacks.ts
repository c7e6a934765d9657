/** Callbacks that are owed, and every try to deliver them. */
import type { Callback, CallbackStore, Recorded } from "../callbacks/callback.ts";
import type { Order } from "../orders/order.ts";
import { asMerchantId, asOrderId, asSerialNumber } from "../values/ids.ts";
import { asInstant, type Instant } from "../values/time.ts";
import {
  claimStatement,
  dueStatement,
  putOffStatement,
  recordStatement,
  releaseStatement,
  waitStatement,
} from "./callback-statements.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, jsonArray, makeGather, plainArray, textArray } from "./gather.ts";

type Key = { readonly merchant_id: string; readonly order_id: string; readonly sequence: number };
type Due = Key & {
  /** In seconds. */
  readonly due: number;
  /** When an earlier one of the order is due, which has to be over first. */
  readonly waits: number | null;
};
type CallbackRow = Key & {
  readonly serial: string;
  readonly url: string;
  readonly receiver: string;
  readonly tries: number;
  readonly begun: number;
};

type Dependencies = {
  readonly query: Query;
  readonly node: string;
  readonly findOrder: (key: Pick<Callback, "merchantId" | "orderId">) => Promise<Order | undefined>;
};

export function makeCallbackStore(
  { query, node, findOrder }: Dependencies,
  gathered: GatherOptions,
): CallbackStore {
  const record = makeGather(
    async (records: readonly Recorded[]) => {
      await query(recordStatement, [jsonArray(records.map(packRecord)), node], "record_callbacks");
      return records.map(() => undefined);
    },
    { ...gathered, retryAlone: true },
  );

  return {
    async claimDue(claim) {
      for (;;) {
        const { now, most, except } = claim;
        const full = [textArray(except.receivers), plainArray(except.merchants)];
        const due = await query<Due>(dueStatement, [now, most, ...full], "due_callbacks");
        const waiting = due.filter(({ waits }) => waits !== null);
        if (waiting.length > 0)
          await query(putOffStatement, [packDue(waiting)], "put_off_callbacks");
        const first = due.filter(({ waits }) => waits === null);
        if (first.length > 0) return take(first, claim.until);
        if (waiting.length === 0) return [];
      }
    },
    async waitsForEarlier({ merchantId, orderId, sequence, leaseUntil }) {
      const key = [merchantId, orderId, sequence, leaseUntil];
      return (await query(waitStatement, key, "put_off_callback")).length > 0;
    },
    record,
    async giveBack(callbacks, now) {
      const packed = jsonArray(callbacks.map((each) => JSON.stringify(packKey(each))));
      await query(releaseStatement, [packed, now], "give_back_callbacks");
    },
    findOrder,
  };

  async function take(due: readonly Due[], until: Instant): Promise<readonly Callback[]> {
    const values = [packDue(due), until];
    const taken = await query<CallbackRow>(claimStatement, values, "claim_callbacks");
    return taken.map((row) => unpackCallback(row, until));
  }
}

function unpackCallback(row: CallbackRow, leaseUntil: Instant): Callback {
  return {
    merchantId: asMerchantId(row.merchant_id),
    orderId: asOrderId(row.order_id),
    sequence: row.sequence,
    serialNumber: asSerialNumber(row.serial),
    ...{ url: row.url, receiver: row.receiver, tries: row.tries },
    begunAt: asInstant(row.begun),
    leaseUntil,
  };
}

function packDue(due: readonly Due[]): string {
  return jsonArray(due.map((row) => JSON.stringify(row)));
}

function packKey({ merchantId, orderId, sequence, leaseUntil }: Callback) {
  return { merchant_id: merchantId, order_id: orderId, sequence, lease: leaseUntil };
}

function packRecord({ callback, attempt, verdict }: Recorded): string {
  const { at, method, url, body, status, failure, durationMs, answer } = attempt;
  return JSON.stringify({
    ...{ ...packKey(callback), at, method, url, body },
    ...{ status: status ?? null, failure: failure ?? null, answer, duration_ms: durationMs },
    ended: "ended" in verdict ? verdict.ended : null,
    due: "dueAt" in verdict ? verdict.dueAt : null,
    counted: "dueAt" in verdict && !verdict.isCounted ? 0 : 1,
  });
}
