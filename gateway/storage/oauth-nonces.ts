/**
 * The nonces of signed requests, so that each is accepted once, by whichever node. They are kept
 * for twice as long as a time stamp may be old, because the clocks of nodes differ a little.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import { plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export type SignedNonce = {
  readonly merchantId: MerchantId;
  readonly nonce: string;
  readonly signedAt: Instant;
};

/** Whether it is the first with this nonce. */
export type TakeNonce = (taken: SignedNonce) => Promise<boolean>;

export type NonceOptions = GatherOptions & {
  readonly clock: Clock;
  /** How far from now a time stamp may be. */
  readonly windowMs: number;
};

export function makeTakeNonce(query: Query, options: NonceOptions): TakeNonce {
  const { clock, windowMs } = options;
  let forgottenAt: number = clock.now();

  return makeGather(async (taken: readonly SignedNonce[]) => {
    const rows = await query<NonceRow>(
      takeStatement,
      [
        plainArray(taken.map(({ merchantId }) => merchantId)),
        textArray(taken.map(({ nonce }) => nonce)),
        plainArray(taken.map(({ signedAt }) => signedAt)),
      ],
      "take_nonces",
    );
    const now = clock.now();
    if (now - forgottenAt > windowMs) {
      forgottenAt = now;
      // Nobody waits for it; when it fails, the next time has more to do.
      void forget(now - 2 * windowMs).catch(() => undefined);
    }
    const first = new Set(rows.map((row) => `${row.merchant_id}/${row.nonce}`));
    // Of two in one batch the first is the first: it takes the mark away from the second.
    return taken.map(({ merchantId, nonce }) => first.delete(`${merchantId}/${nonce}`));
  }, options);

  async function forget(before: number): Promise<void> {
    await query(
      "delete from oauth_nonces where signed_at < to_timestamp($1::float8 / 1000)",
      [before],
      "forget_nonces",
    );
  }
}

type NonceRow = { readonly merchant_id: string; readonly nonce: string };

// In the order of the key, so that two nodes never wait for each other's rows.
const takeStatement = `
insert into oauth_nonces (merchant_id, nonce, signed_at)
select merchant_id, nonce, to_timestamp(signed_at / 1000)
from unnest($1::bigint[], $2::text[], $3::float8[]) as source(merchant_id, nonce, signed_at)
order by merchant_id, nonce
on conflict do nothing
returning merchant_id, nonce`;
