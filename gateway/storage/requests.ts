/**
 * The requests that did not begin an order of their own: repeats and refusals, kept by serial
 * number with what they were answered. A request that begins an order is written with the order.
 */
import type { EndpointId, MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import { plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export type KeptRequest = {
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly serialNumber: SerialNumber;
  readonly orderId: OrderId | undefined;
  readonly operation: string;
  readonly answer: string;
  readonly at: Instant;
};

export type KeepRequest = (request: KeptRequest) => Promise<void>;

export function makeKeepRequest(query: Query, options: GatherOptions): KeepRequest {
  return makeGather(async (requests: readonly KeptRequest[]) => {
    await query(
      `insert into requests (merchant_id, serial, endpoint_id, order_id, operation, at, answer)
       select merchant_id, serial, endpoint_id, order_id, operation, to_timestamp(at / 1000),
         answer::json
       from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::float8[],
         $7::text[]) as source(merchant_id, serial, endpoint_id, order_id, operation, at, answer)`,
      [
        plainArray(requests.map((request) => request.merchantId)),
        plainArray(requests.map((request) => request.serialNumber)),
        plainArray(requests.map((request) => request.endpointId)),
        plainArray(requests.map((request) => request.orderId ?? null)),
        plainArray(requests.map((request) => request.operation)),
        plainArray(requests.map((request) => request.at)),
        textArray(requests.map((request) => request.answer)),
      ],
      "keep_requests",
    );
    return requests.map(() => undefined);
  }, options);
}
