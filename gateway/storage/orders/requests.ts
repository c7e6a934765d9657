/**
 * The storage of merchants' requests. A request that begins an order is written with the order.
 * Repeated and refused requests are stored here with their answers. The nonces of signed requests
 * are stored so that each is accepted only once, by any node.
 */
import { randomUUID } from "node:crypto";
import type { RequestRecord } from "../../merchant-api/routes.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Clock, Instant } from "../../values/time.ts";
import { assertHomeCell } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import {
  type GatherOptions,
  makeGather,
  makeSweep,
  plainArray,
  textArray,
} from "../server/gather.ts";

/** If a row has the serial number already, an earlier try of the statement has written it. */
export function makeStoreRequest(
  query: Query,
  options: GatherOptions = {},
): (request: RequestRecord) => Promise<void> {
  return makeGather(async (requests: readonly RequestRecord[]) => {
    await query(
      `insert into requests (merchant_id, serial, endpoint_id, order_id, operation, at, answer)
       select merchant_id, serial, endpoint_id, order_id, operation, to_timestamp(at / 1000),
         answer::json
       from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::float8[],
         $7::text[]) as source(merchant_id, serial, endpoint_id, order_id, operation, at, answer)
       where ${assertHomeCell("= any($1::bigint[])")}
       on conflict do nothing`,
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

export type NonceOptions = Pick<GatherOptions, "retryMs"> & {
  readonly clock: Clock;
  readonly windowMs: number;
};

type SignedNonce = { merchantId: MerchantId; nonce: string; signedAt: Instant };

/** Keeps nonces for twice the permitted age of a time stamp, because the nodes' clocks differ. */
export function makeTakeNonce(
  query: Query,
  { clock, windowMs, ...options }: NonceOptions,
): (nonce: SignedNonce) => Promise<boolean> {
  const deleteOld = makeSweep(clock, windowMs, (now) =>
    query(
      "delete from oauth_nonces where signed_at < to_timestamp($1::float8 / 1000)",
      [now - 2 * windowMs],
      "forget_nonces",
    ),
  );

  const take = makeGather(async (asked: readonly (SignedNonce & Claim)[]) => {
    // A statement can write a row only once, so the second of two equal nonces is refused.
    const firsts = new Map(asked.toReversed().map((each) => [keyOf(each), each]));
    const nonces = [...firsts.values()];
    const rows = await query<{ merchant_id: string; nonce: string }>(
      insertNonces,
      [
        plainArray(nonces.map(({ merchantId }) => merchantId)),
        textArray(nonces.map(({ nonce }) => nonce)),
        plainArray(nonces.map(({ signedAt }) => signedAt)),
        plainArray(nonces.map(({ claim }) => claim)),
      ],
      "take_nonces",
    );
    deleteOld();
    const taken = new Set(rows.map((row) => `${row.merchant_id}/${row.nonce}`));
    return asked.map((each) => taken.has(keyOf(each)) && firsts.get(keyOf(each)) === each);
  }, options);
  return (nonce) => take({ ...nonce, claim: randomUUID() });
}

/** A random id, equal in all tries of a request, by which the request recognises its own row. */
type Claim = { readonly claim: string };

function keyOf({ merchantId, nonce }: SignedNonce): string {
  return `${merchantId}/${nonce}`;
}

// Rows are locked in the order of their keys, so that two nodes never block each other.
const insertNonces = `
insert into oauth_nonces as known (merchant_id, nonce, signed_at, claim)
select merchant_id, nonce, to_timestamp(signed_at / 1000), claim
from unnest($1::bigint[], $2::text[], $3::float8[], $4::uuid[])
  as source(merchant_id, nonce, signed_at, claim)
where ${assertHomeCell("= any($1::bigint[])")}
order by merchant_id, nonce
on conflict (merchant_id, nonce) do update set claim = excluded.claim
  where known.claim = excluded.claim
returning merchant_id, nonce`;
