/** Payment data that was paid with, so that nobody pays with it twice. */

import type { Clock } from "../values/time.ts";
import type { TakenMessage } from "../wallets/open-wallet.ts";
import { bytesArray, plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

const forgetEveryMs = 60_000;

/** Whether no other request has brought it: the same request may, again and again. */
export function makeTakeMessage(query: Query, options: GatherOptions & { readonly clock: Clock }) {
  const { clock } = options;
  let forgottenAt: number = clock.now();

  return makeGather(async (taken: readonly TakenMessage[]): Promise<readonly boolean[]> => {
    // A statement may touch a row once: of several with one id the first is written.
    const firsts = [...new Map(taken.toReversed().map((each) => [keyOf(each), each])).values()];
    const rows = await query<MessageRow>(takeStatement, columnsOf(firsts), "take_wallet_messages");
    forget();
    const known = new Map(rows.map((row) => [rowKeyOf(row), row.digest]));
    return taken.map((each) => known.get(keyOf(each))?.equals(each.digest) === true);
  }, options);

  /** Nobody waits for it; when it fails, the next time has more to do. */
  function forget(): void {
    const now = clock.now();
    if (now - forgottenAt < forgetEveryMs) return;
    forgottenAt = now;
    const over =
      "delete from wallet_messages where remember_until < to_timestamp($1::float8 / 1000)";
    void query(over, [now], "forget_wallet_messages").catch(() => undefined);
  }
}

export function makeLetGoOfMessage(query: Query) {
  return async ({ merchantId, wallet, id, digest }: TakenMessage): Promise<void> => {
    await query(
      `delete from wallet_messages
       where merchant_id = $1 and wallet = $2 and message_id = $3 and digest = $4`,
      [merchantId, wallet, id, digest],
    );
  };
}

type MessageRow = {
  readonly merchant_id: string;
  readonly wallet: string;
  readonly message_id: string;
  readonly digest: Buffer;
};

function keyOf({ merchantId, wallet, id }: TakenMessage): string {
  return `${merchantId}/${wallet}/${id}`;
}

function rowKeyOf({ merchant_id, wallet, message_id }: MessageRow): string {
  return `${merchant_id}/${wallet}/${message_id}`;
}

function columnsOf(taken: readonly TakenMessage[]): readonly string[] {
  return [
    plainArray(taken.map(({ merchantId }) => merchantId)),
    textArray(taken.map(({ wallet }) => wallet)),
    textArray(taken.map(({ id }) => id)),
    bytesArray(taken.map(({ digest }) => digest)),
    plainArray(taken.map(({ rememberUntil }) => rememberUntil)),
  ];
}

/** An update that changes nothing gives back the row that was there before. */
const takeStatement = `
insert into wallet_messages (merchant_id, wallet, message_id, digest, remember_until)
select merchant_id, wallet, message_id, digest, to_timestamp(remember_until / 1000)
from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::float8[])
  as taken (merchant_id, wallet, message_id, digest, remember_until)
order by merchant_id, wallet, message_id
on conflict (merchant_id, wallet, message_id) do update set wallet = excluded.wallet
returning merchant_id, wallet, message_id, digest`;
