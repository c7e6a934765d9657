/**
 * The storage of recurring payment profiles: card references that are registered without a payment.
 * One statement writes both the sealed card and the rows that refer to it.
 */
import type { AuditedChange, ProfileStore } from "../../engine/profiles.ts";
import { type CardReferences, referencePurposes } from "../../orders/card-reference.ts";
import type { CardId, CardRefId, MerchantId } from "../../values/ids.ts";
import type { SealedCard } from "../../vault/vault.ts";
import { assertHomeCell } from "../cells/cells.ts";
import type { Actor, Audit } from "../people/audit.ts";
import { besideOthers, type Query } from "../server/database.ts";
import { makeGather, plainArray } from "../server/gather.ts";
import { type ConfirmKeys, lockUsableKeys, type RefusedKey, writeUnderKeys } from "./card-keys.ts";

export function makeProfileStore(query: Query, options: ConfirmKeys = {}): ProfileStore {
  return {
    async add({ ids, owner, cardId, facts, at, digest, clientOrderId, card }) {
      const { merchantId, endpointId } = owner;
      const purposes = referencePurposes.filter((purpose) => ids[purpose] !== undefined);
      const values = [
        ...[merchantId, cardId, endpointId, JSON.stringify(facts), at],
        ...[clientOrderId, digest.digest, digest.keyId, ...sealedColumns(card)],
        ids.recurring ?? ids.destination_recurring,
        plainArray(purposes),
        plainArray(purposes.map((purpose) => ids[purpose] ?? null)),
      ];
      const rows = await writeUnderKeys(query, options, () =>
        query<Written>(addProfile, values, "add_profile"),
      );
      return rows.length > 0;
    },

    async findCreated(merchantId, clientOrderId) {
      const rows = await query<CreatedRow>(
        findCreated,
        [merchantId, clientOrderId],
        "find_profile",
      );
      const [row] = rows;
      if (row === undefined) return undefined;
      const { digest, keyId, hashId } = row;
      // Each reference of a card has a different purpose, so no row overwrites another.
      const ids = Object.fromEntries(rows.map(({ purpose, id }) => [purpose, id]));
      const profile = { ids: ids as Partial<CardReferences>, hashId };
      return { digest: { digest, keyId, cvv: undefined }, profile };
    },

    async change({ reference, cardId, facts, stoppedAt, at, keepUntil, card, claim }) {
      const { merchantId, id, version, card: before } = reference;
      const values = [
        ...[merchantId, before.cardId, version, cardId, JSON.stringify(facts), stoppedAt ?? null],
        ...[at, keepUntil, ...sealedColumns(card), id],
        ...[
          claim?.clientOrderId ?? null,
          claim?.digest.digest ?? null,
          claim?.digest.keyId ?? null,
        ],
      ];
      const rows = await writeUnderKeys(query, options, () =>
        query<Written>(changeProfile, values, "change_profile"),
      );
      return rows.length > 0;
    },
  };
}

type Written = RefusedKey & { readonly id: CardRefId | null };

type CreatedRow = {
  readonly id: CardRefId;
  readonly purpose: string;
  readonly hashId: string;
  readonly digest: Buffer;
  readonly keyId: number;
};

/** The number of the card's key is in an array, because `lockUsableKeys` needs one. */
function sealedColumns(card: SealedCard | undefined) {
  const keys = plainArray(card === undefined ? [] : [card.keyId]);
  return [keys, card?.sealed ?? null, card?.fingerprint ?? null] as const;
}

const refusedKeys = (ids: string) => `${lockUsableKeys(ids)}, refused as (
  select key_id from unnest(${ids}) as wanted(key_id) where key_id not in (select id from usable)
)`;

/**
 * Adds the references of a profile. Only the row with the profile's own id has the client order id,
 * and the others depend on it, so that a client order id creates one profile only.
 */
const addProfile = `
with ${refusedKeys("$9::int[]")}, named as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at, client_orderid, digest, digest_key)
  select $1::bigint, source.id, purpose, $2::bigint, $3::bigint, 0, $4::json,
    to_timestamp($5::float8 / 1000), $6::text, $7::bytea, $8::int
  from unnest($13::text[], $14::bigint[]) as source(purpose, id)
  where source.id = $12::bigint and not exists (select from refused)
    and ${assertHomeCell("= $1::bigint")}
  on conflict do nothing
  returning id, merchant_id, card_id, endpoint_id, order_id, created_at
), others as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at)
  select merchant_id, source.id, purpose, card_id, endpoint_id, order_id, $4::json, created_at
  from named, unnest($13::text[], $14::bigint[]) as source(purpose, id)
  where source.id <> named.id and ${besideOthers}
), held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, ($9::int[])[1], $10::bytea, $11::bytea, created_at
  from named where ${besideOthers}
)
select id, null as "refusedKey" from named union all select null, key_id from refused`;

const findCreated = `
select other.id, other.purpose, named.digest, named.digest_key as "keyId",
  other.facts #>> '{card,hashId}' as "hashId"
from card_references as named
join card_references as other
  on other.merchant_id = named.merchant_id and other.card_id = named.card_id
where named.merchant_id = $1 and named.client_orderid = $2 and ${assertHomeCell("= $1")}`;

/**
 * Changes a profile and all other references of its card. A replaced card number keeps a removed
 * reference, by which it is destroyed later: after the time for which the numbers of paid orders
 * are kept, because payments with it can be refunded until then.
 */
const changeProfile = `
with ${refusedKeys("$9::int[]")}, changed as (
  update card_references set card_id = $4::bigint, facts = $5::json, version = version + 1,
    stopped_at = to_timestamp($6::float8 / 1000),
    client_orderid = case when id = $12::bigint then coalesce($13::text, client_orderid)
      else client_orderid end,
    digest = case when id = $12::bigint then coalesce($14::bytea, digest) else digest end,
    digest_key = case when id = $12::bigint then coalesce($15::int, digest_key) else digest_key end
  where merchant_id = $1::bigint and card_id = $2::bigint and version = $3::int
    and removed_at is null and not exists (select from refused)
    and ${assertHomeCell("= $1::bigint")}
  returning id, merchant_id, card_id, endpoint_id, order_id
), one as (
  select merchant_id, card_id, endpoint_id, order_id from changed
  where $10::bytea is not null limit 1
), held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, ($9::int[])[1], $10::bytea, $11::bytea,
    to_timestamp($7::float8 / 1000)
  from one where ${besideOthers}
), replaced as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at, removed_at, removed_by)
  select merchant_id, $2::bigint, 'replaced', $2::bigint, endpoint_id, order_id, '{}',
    to_timestamp($7::float8 / 1000), to_timestamp($8::float8 / 1000), 'merchant'
  from one where ${besideOthers}
)
select id, null as "refusedKey" from changed union all select null, key_id from refused`;

/** Returns false if the profile is not stopped. */
export async function restartProfile(
  query: Query,
  { merchantId, cardId }: { readonly merchantId: MerchantId; readonly cardId: CardId },
): Promise<boolean> {
  const rows = await query(
    `update card_references set stopped_at = null, version = version + 1
     where merchant_id = $1 and card_id = $2 and stopped_at is not null and removed_at is null
       and ${assertHomeCell("= $1")} returning id`,
    [merchantId, cardId],
  );
  return rows.length > 0;
}

/** Changes that one request makes at the same moment share a transaction. */
export function makeAuditProfiles(auditAs: (actor: Actor) => Audit) {
  return makeGather<AuditedChange, undefined>(async (changes) => {
    for (const [request, own = []] of Map.groupBy(changes, ({ by }) => by.request)) {
      const login = own[0]?.by.login ?? "";
      const audit = auditAs({ who: `merchant ${login}`, from: `request ${request}` });
      await audit.change(async (_query, write) => {
        for (const { id, changed, card } of own) {
          const subject = `card reference ${id} of ${login}`;
          await write({ action: "profile change", subject, after: { changed, card } });
        }
      });
    }
    return changes.map(() => undefined);
  });
}
