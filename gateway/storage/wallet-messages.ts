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
    const columns = columnsOf(gatherMarks(taken));
    const rows = await query<MessageRow>(takeStatement, columns, "take_wallet_messages");
    forget();
    const known = new Map(rows.map((row) => [rowKeyOf(row), row.digest]));
    return taken.map((each) =>
      each.marks.every(({ id }) => known.get(keyOf(each, id))?.equals(each.digest) === true),
    );
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

/** Of those who hold it one less: it is free when nobody does. */
export function makeLetGoOfMessage(query: Query) {
  return async ({ merchantId, wallet, marks, digest }: TakenMessage): Promise<void> => {
    await query(
      `update wallet_messages set holders = holders - 1
       where merchant_id = $1 and wallet = $2 and message_id = any($3) and digest = $4
         and holders > 0`,
      [merchantId, wallet, marks.map(({ id }) => id), digest],
    );
  };
}

type MessageRow = {
  readonly merchant_id: string;
  readonly wallet: string;
  readonly message_id: string;
  readonly digest: Buffer;
};

type Taken = Omit<TakenMessage, "marks"> & {
  readonly id: string;
  readonly rememberUntil: number;
  readonly holders: number;
};

/**
 * A statement may touch a row once: of several requests with one mark the first is written, and
 * those that are the same request are counted with it.
 */
function gatherMarks(taken: readonly TakenMessage[]): readonly Taken[] {
  const firsts = new Map<string, Taken>();
  for (const { marks, ...request } of taken) {
    for (const mark of marks) {
      const key = keyOf(request, mark.id);
      const first = firsts.get(key);
      if (first === undefined) firsts.set(key, { ...request, ...mark, holders: 1 });
      else if (Buffer.compare(first.digest, request.digest) === 0) {
        firsts.set(key, { ...first, holders: first.holders + 1 });
      }
    }
  }
  return [...firsts.values()];
}

function keyOf({ merchantId, wallet }: Pick<TakenMessage, "merchantId" | "wallet">, id: string) {
  return `${merchantId}/${wallet}/${id}`;
}

function rowKeyOf({ merchant_id, wallet, message_id }: MessageRow): string {
  return `${merchant_id}/${wallet}/${message_id}`;
}

function columnsOf(taken: readonly Taken[]): readonly string[] {
  return [
    plainArray(taken.map(({ merchantId }) => merchantId)),
    textArray(taken.map(({ wallet }) => wallet)),
    textArray(taken.map(({ id }) => id)),
    bytesArray(taken.map(({ digest }) => digest)),
    plainArray(taken.map(({ rememberUntil }) => rememberUntil)),
    plainArray(taken.map(({ holders }) => holders)),
  ];
}

/** Gives back whose it is now: the first's, or the next one's once nobody holds it any more. */
const takeStatement = `
insert into wallet_messages as known
  (merchant_id, wallet, message_id, digest, remember_until, holders)
select merchant_id, wallet, message_id, digest, to_timestamp(remember_until / 1000), holders
from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::float8[], $6::int[])
  as taken (merchant_id, wallet, message_id, digest, remember_until, holders)
order by merchant_id, wallet, message_id
on conflict (merchant_id, wallet, message_id) do update set
  digest = case when known.holders = 0 then excluded.digest else known.digest end,
  remember_until =
    case when known.holders = 0 then excluded.remember_until else known.remember_until end,
  holders = known.holders + case
    when known.holders = 0 or known.digest = excluded.digest then excluded.holders else 0 end
returning merchant_id, wallet, message_id, digest`;
