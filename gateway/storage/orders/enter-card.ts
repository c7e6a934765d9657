/**
 * The commit of a try on the payment page: one statement writes the step, the card and its payer.
 * It writes nothing if the order has changed, so that only one of two tabs begins a try, and
 * nothing under a destroyed key.
 */
import type { Enter, Entry } from "../../engine/payment-page.ts";
import { lockUsableKeys } from "../cards/card-keys.ts";
import { besideOthers, type Query } from "../server/database.ts";
import { bytesArray, jsonArray, makeGather, plainArray } from "../server/gather.ts";
import type { NodeName } from "../server/presence.ts";
import { type CommitOptions, fromColumns, makeWrite, moveStatementWith } from "./commit.ts";
import { packFacts } from "./order-row.ts";

type Entered = Awaited<ReturnType<Enter>>;

export function makeEnter(query: Query, node: NodeName, options: CommitOptions) {
  const named = { ...options, statement: enterStatement, name: "enter_cards" };
  const write = makeWrite(query, node, named);
  return makeGather(
    async (entries: readonly Entry[], isRepeated): Promise<readonly Entered[]> => {
      // Two tries of one order start from the same version, so only the first can be written.
      const seen = new Set<string>();
      const first = entries.filter(
        ({ step }) => !seen.has(step.order.id) && seen.add(step.order.id),
      );
      const steps = first.map(({ step }) => step);
      const cards = first.map(({ sealCard }) => sealCard?.());
      const written = await write(steps, isRepeated, [
        ...fromColumns(steps),
        plainArray(cards.map((card) => card?.cardId ?? null)),
        plainArray(cards.map((card) => card?.keyId ?? null)),
        bytesArray(cards.map((card) => card?.sealed ?? null)),
        bytesArray(cards.map((card) => card?.fingerprint ?? null)),
        jsonArray(steps.map(({ order }) => packFacts(order))),
      ]);
      return entries.map(({ step }) => (written.delete(step.order.id) ? "done" : "stale"));
    },
    { ...options, retryAlone: true },
  );
}

export const enterStatement = moveStatementWith({
  before: `${lockUsableKeys("$19::int[]")}, refused as (
  select distinct key_id from unnest($19::int[]) as wanted(key_id)
  where key_id is not null and key_id not in (select id from usable)
), `,
  arrays: ", $18::bigint[], $19::int[], $20::bytea[], $21::bytea[]",
  arrayNames: ", card_id, key_id, sealed, fingerprint",
  documents: ", json_array_elements($22::json)",
  documentNames: ", facts",
  set: ", facts = source.facts",
  condition: " and not exists (select from refused)",
  after: `, held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, key_id, sealed, fingerprint, to_timestamp(at / 1000) from moved
  where sealed is not null and ${besideOthers}
)`,
  result: `select id, null as "refusedKey" from moved
union all
select null, key_id from refused`,
});
