/**
 * The requests that began no order: repeats and refusals, stored by serial number with their
 * answers. A request that begins an order is stored with the order.
 */
import type { RequestRecord } from "../merchant-api/record.ts";
import { plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export function makeStoreRequest(
  query: Query,
  options: GatherOptions,
): (request: RequestRecord) => Promise<void> {
  return makeGather(async (requests: readonly RequestRecord[]) => {
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
