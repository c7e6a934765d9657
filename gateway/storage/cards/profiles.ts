/**
 * The storage of recurring payment profiles: card references that are registered without a payment.
 * One statement writes all profiles that are registered at the same moment: their sealed cards and
 * the references to these.
 */
import type { NewReferences } from "../../engine/cards.ts";
import type { AuditedChange, ProfileStore } from "../../engine/profiles.ts";
import type { CardReference, CardReferences } from "../../orders/card-reference.ts";
import type { CardId, CardRefId, MerchantId } from "../../values/ids.ts";
import type { SealedCard } from "../../vault/vault.ts";
import { assertHomeCell } from "../cells/cells.ts";
import type { Actor, Audit } from "../people/audit.ts";
import { besideOthers, type Database, type Query } from "../server/database.ts";
import { isTaken } from "../server/faults.ts";
import {
  type GatherOptions,
  jsonArray,
  makeGather,
  plainArray,
  textArray,
} from "../server/gather.ts";
import { type ConfirmKeys, lockUsableKeys, type RefusedKey, writeUnderKeys } from "./card-keys.ts";

export function makeProfileStore(
  { hot: query, add: append }: Pick<Database, "hot" | "add">,
  options: GatherOptions & ConfirmKeys = {},
): ProfileStore {
  const gathered = { batchMax, retryAlone: true, ...options };
  const add = makeGather(async (added: readonly Added[]) => {
    const keys = plainArray([...new Set(added.map(({ card }) => card.keyId))]);
    const values = [keys, jsonArray(added.map(packAdded))];
    const rows = await writeUnderKeys(query, options, () =>
      append<Written>(addProfiles, values, "add_profiles"),
    );
    const written = new Set(rows.map(({ id }) => id));
    return added.map(({ ids }) => written.has(ownIdOf(ids)));
  }, gathered);
  const find = makeGather(async (wanted: readonly Wanted[]) => {
    const merchants = plainArray(wanted.map(({ merchantId }) => merchantId));
    const names = textArray(wanted.map(({ clientOrderId }) => clientOrderId));
    const rows = await query<CreatedRow>(findCreated, [merchants, names], "find_profiles");
    const found = Map.groupBy(rows, ({ at }) => Number(at));
    return wanted.map((_, at) => readCreated(found.get(at + 1) ?? []));
  }, gathered);
  return {
    add: (added) => add(added),

    findCreated: (merchantId, clientOrderId) => find({ merchantId, clientOrderId }),

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
      ).catch((error) => {
        if (isTaken(error)) return [];
        throw error;
      });
      return rows.length > 0;
    },
  };
}

type Added = Parameters<ProfileStore["add"]>[0];
type Wanted = { readonly merchantId: MerchantId; readonly clientOrderId: string };

/** A million cards are registered in batches of this size, while the next batch is prepared. */
const batchMax = 500;

function ownIdOf(ids: Added["ids"]): CardRefId | null {
  return ids.recurring ?? ids.destination_recurring ?? null;
}

function packAdded({ owner, cardId, ids, facts, at, clientOrderId, digest, card }: Added): string {
  const bytes = (value: Uint8Array) => `\\x${value.toHex()}`;
  return JSON.stringify({
    merchant_id: owner.merchantId,
    endpoint_id: owner.endpointId,
    card_id: cardId,
    own: ownIdOf(ids),
    ids,
    facts,
    at,
    client_orderid: clientOrderId,
    digest: bytes(digest.digest),
    digest_key: digest.keyId,
    key_id: card.keyId,
    sealed: bytes(card.sealed),
    fingerprint: bytes(card.fingerprint),
  });
}

function readCreated(rows: readonly CreatedRow[]) {
  const [row] = rows;
  if (row === undefined) return undefined;
  const { digest, keyId, hashId } = row;
  const ids = Object.fromEntries(rows.map(({ purpose, id }) => [purpose, id]));
  const profile = { ids: ids as Partial<CardReferences>, hashId };
  return { digest: { digest, keyId, cvv: undefined }, profile };
}

type Written = RefusedKey & { readonly id: CardRefId | null };

type CreatedRow = {
  /** The position, from 1, of the row's client order id in the list that was searched. */
  readonly at: string;
  readonly id: CardRefId;
  readonly purpose: string;
  readonly hashId: string;
  readonly digest: Buffer;
  readonly keyId: number;
};

/** Returns the columns of a card. Its key's number is in an array, as `lockUsableKeys` expects. */
function sealedColumns(card: SealedCard | undefined) {
  const keys = plainArray(card === undefined ? [] : [card.keyId]);
  return [keys, card?.sealed ?? null, card?.fingerprint ?? null] as const;
}

const refusedKeys = (ids: string) => `${lockUsableKeys(ids)}, refused as (
  select key_id from unnest(${ids}) as wanted(key_id) where key_id not in (select id from usable)
)`;

/**
 * Adds the references of profiles. The row with the profile's own id contains the client order id,
 * which is unique. The other rows are written only with that row, so that a client order id creates
 * one profile. Sorted rows keep two imports of one file from waiting for each other.
 */
const addProfiles = `
with ${refusedKeys("$1::int[]")}, source as materialized (
  select * from rows from (json_to_recordset($2::json) as (merchant_id bigint, endpoint_id bigint,
    card_id bigint, own bigint, ids json, facts json, at float8, client_orderid text, digest bytea,
    digest_key int, key_id int, sealed bytea, fingerprint bytea)) with ordinality
), named as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at, client_orderid, digest, digest_key)
  select merchant_id, own, purpose, card_id, endpoint_id, 0, facts, to_timestamp(at / 1000),
    client_orderid, digest, digest_key
  from source, json_each_text(ids) as reference(purpose, id)
  where id::bigint = own and not exists (select from refused)
    and ${assertHomeCell("in (select merchant_id from source)")}
  order by merchant_id, client_orderid, ordinality
  on conflict do nothing
  returning id, card_id
), others as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at)
  select merchant_id, reference.id::bigint, purpose, card_id, endpoint_id, 0, facts,
    to_timestamp(at / 1000)
  from named join source using (card_id), json_each_text(ids) as reference(purpose, id)
  where reference.id::bigint <> own and ${besideOthers}
), held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, key_id, sealed, fingerprint, to_timestamp(at / 1000)
  from named join source using (card_id) where ${besideOthers}
)
select id, null as "refusedKey" from named union all select null, key_id from refused`;

const findCreated = `
select wanted.at, other.id, other.purpose, named.digest, named.digest_key as "keyId",
  other.facts #>> '{card,hashId}' as "hashId"
from unnest($1::bigint[], $2::text[]) with ordinality as wanted(merchant_id, client_orderid, at)
join card_references as named
  on named.merchant_id = wanted.merchant_id and named.client_orderid = wanted.client_orderid
join card_references as other
  on other.merchant_id = named.merchant_id and other.card_id = named.card_id
where ${assertHomeCell("= any($1::bigint[])")}`;

export type ListedProfile = Pick<CardReference, "endpointId"> &
  NewReferences["facts"] & {
    readonly ids: Partial<CardReferences>;
    readonly clientOrderId: string | null;
  };

/**
 * Lists a page of a merchant's registered cards, sorted by card id, for export to another gateway.
 * Leaves out stopped profiles, which must not be charged, and device numbers, which only a wallet's
 * merchant may use.
 */
export async function listProfiles(
  query: Query,
  merchantId: MerchantId,
  after: CardId | undefined,
): Promise<readonly ListedProfile[]> {
  const rows = await query<ListedProfile & { facts: NewReferences["facts"] }>(
    `select (array_agg(facts))[1] as facts, max(endpoint_id) as "endpointId",
       json_object_agg(purpose, id::text) as ids, max(client_orderid) as "clientOrderId"
     from card_references where merchant_id = $1::bigint and card_id > $2::bigint
       and removed_at is null and stopped_at is null and purpose <> 'replaced'
       and facts ->> 'isDevice' is null and ${assertHomeCell("= $1::bigint")}
     group by card_id order by card_id limit ${batchMax}`,
    [merchantId, after ?? "-1"],
  );
  return rows.map(({ facts, ...row }) => ({ ...row, ...facts }));
}

/**
 * Changes a profile and all other references of its card. If the profile gets another card, the old
 * card keeps one reference, which is marked as removed and names the profile. The old number is
 * destroyed as late as those of paid orders, because payments with it can be refunded until then.
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
  select id, merchant_id, card_id, endpoint_id, order_id from changed
  where $10::bytea is not null limit 1
), held as (
  insert into cards (merchant_id, id, key_id, sealed, fingerprint, created_at)
  select merchant_id, card_id, ($9::int[])[1], $10::bytea, $11::bytea,
    to_timestamp($7::float8 / 1000)
  from one where ${besideOthers}
), replaced as (
  insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
    created_at, removed_at, removed_by)
  select merchant_id, $2::bigint, 'replaced', $2::bigint, endpoint_id, order_id,
    json_build_object('id', id::text), to_timestamp($7::float8 / 1000),
    to_timestamp($8::float8 / 1000), 'merchant'
  from one where ${besideOthers}
)
select id, null as "refusedKey" from changed union all select null, key_id from refused`;

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

/** Writes the audit entries of profile changes. Those of one request share a transaction. */
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
