/** References to cards: written once for each card and purpose, looked up together. */

import type { NewReferences, ReferenceStore, Registration } from "../engine/cards.ts";
import {
  type CardReference,
  type CardReferences,
  type ReferencePurpose,
  referencePurposes,
} from "../orders/card-reference.ts";
import type { CardFacts } from "../orders/order.ts";
import {
  asCardRefId,
  asEndpointId,
  asMerchantId,
  asOrderId,
  type CardId,
  type CardRefId,
  type MerchantId,
} from "../values/ids.ts";
import { asInstant, type Instant } from "../values/time.ts";
import { plainArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export function makeReferenceStore(query: Query, options: GatherOptions): ReferenceStore {
  const find = makeGather(async (keys: readonly ReferenceKey[]) => {
    const rows = await query<ReferenceRow>(
      findStatement,
      [plainArray(keys.map((key) => key.merchantId)), plainArray(keys.map((key) => key.id))],
      "card_references_by_id",
    );
    const found = new Map(rows.map((row) => [`${row.merchant_id}/${row.id}`, row]));
    return keys.map(({ merchantId, id }) => {
      const row = found.get(`${merchantId}/${id}`);
      return row === undefined ? undefined : unpack(row);
    });
  }, options);

  return {
    find: (merchantId, id) => find({ merchantId, id }),

    async add({ merchantId, cardId, endpointId, orderId, facts, at, ids }) {
      const values = [merchantId, cardId, endpointId, orderId, JSON.stringify(facts), at];
      const purposes = plainArray(referencePurposes);
      await query(addStatement, [
        ...values,
        purposes,
        plainArray(referencePurposes.map((purpose) => ids[purpose])),
      ]);
      // Whoever was faster has given them: all get the same.
      const given = await findByCard(merchantId, cardId);
      if (given === undefined) throw new Error("card references were written and are not there");
      return given.ids;
    },

    findByCard,

    async remove(merchantId, cardId, at) {
      const rows = await query(
        `update card_references set removed_at = to_timestamp($3::float8 / 1000)
         where merchant_id = $1 and card_id = $2 and removed_at is null returning id`,
        [merchantId, cardId, at],
      );
      return rows.length > 0;
    },
  };

  async function findByCard(
    merchantId: MerchantId,
    cardId: CardId,
  ): Promise<Registration | undefined> {
    const rows = await query<{ id: string; purpose: ReferencePurpose; removed: boolean }>(
      `select id, purpose, removed_at is not null as removed from card_references
       where merchant_id = $1 and card_id = $2`,
      [merchantId, cardId],
      "card_references_by_card",
    );
    if (rows.length === 0) return undefined;
    const byPurpose = new Map(rows.map(({ id, purpose }) => [purpose, asCardRefId(id)]));
    const ids: CardReferences = {
      card: get(byPurpose, "card"),
      recurring: get(byPurpose, "recurring"),
      destination: get(byPurpose, "destination"),
      destination_recurring: get(byPurpose, "destination_recurring"),
    };
    return { ids, removed: rows.some(({ removed }) => removed) };
  }
}

type ReferenceKey = { readonly merchantId: MerchantId; readonly id: CardRefId };

type ReferenceRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly purpose: ReferencePurpose;
  readonly endpoint_id: string;
  readonly order_id: string;
  readonly facts: NewReferences["facts"];
  readonly created_ms: number;
  readonly removed_ms: number | null;
};

function unpack(row: ReferenceRow): CardReference {
  const { card, networkId } = row.facts;
  return {
    merchantId: asMerchantId(row.merchant_id),
    id: asCardRefId(row.id),
    purpose: row.purpose,
    card: card as CardFacts,
    networkId,
    endpointId: asEndpointId(row.endpoint_id),
    orderId: asOrderId(row.order_id),
    createdAt: asInstant(row.created_ms),
    removedAt: instantOf(row.removed_ms),
  };
}

function instantOf(milliseconds: number | null): Instant | undefined {
  return milliseconds === null ? undefined : asInstant(milliseconds);
}

/** All purposes are written by one statement. */
function get(ids: ReadonlyMap<ReferencePurpose, CardRefId>, purpose: ReferencePurpose): CardRefId {
  const id = ids.get(purpose);
  if (id === undefined) throw new Error(`no reference for ${purpose}`);
  return id;
}

const findStatement = `
select references_.merchant_id, references_.id, purpose, endpoint_id, order_id, facts,
  extract(epoch from created_at) * 1000 as created_ms,
  extract(epoch from removed_at) * 1000 as removed_ms
from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
join card_references as references_
  on references_.merchant_id = wanted.merchant_id and references_.id = wanted.id`;

const addStatement = `
insert into card_references
  (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts, created_at)
select $1, source.id, source.purpose, $2, $3, $4, $5::json, to_timestamp($6::float8 / 1000)
from unnest($7::text[], $8::bigint[]) as source(purpose, id)
on conflict do nothing`;
