/**
 * Removes data that must not be stored any longer from orders, which stay in the books: a person's
 * data, and hash ids that were made with a replaced fingerprint key. Payments and results do not
 * change. Besides the commit queue, this is the only code that writes orders.
 */
import type { CardOfMerchant } from "../../engine/cards.ts";
import type { Purchase } from "../../orders/order.ts";
import { asCardId, type CardId, type MerchantId, type OrderId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell, isHere } from "../cells/cells.ts";
import { isOpen, refusedTries } from "../orders/find-orders.ts";
import { lockIndex } from "../portal/order-index.ts";
import { besideOthers, type Database, type Query } from "../server/database.ts";
import { plainArray, textArray } from "../server/gather.ts";
import { profileOfReplaced } from "./cards.ts";

/** How many orders one statement examines: few, so that payments are not delayed. */
const pageSize = 1_000;

export type Deletion = { readonly by: string; readonly at: Instant };

/** Clears a request's digest: no request matches a digest of zeros by the key number zero. */
const noDigest = "digest = decode(repeat('00', 32), 'hex'), digest_key = 0";

/**
 * Writes a change of an order as a step: the version increases, and the history gets an entry. The
 * order's row in `due` gets the new version too, because a row for an old version has no effect.
 */
const asStep = (update: string) => `
with changed as (
  ${update}
), history as (
  insert into order_history (merchant_id, order_id, version, at, node, events)
  select merchant_id, id, version, to_timestamp($3::float8 / 1000), $4::text, $5::json
  from changed where ${besideOthers}
), awaited as (
  update due set version = changed.version from changed
  where due.order_id = changed.id and due.version = changed.version - 1
)
select from changed`;

/** The renewal of hash ids waits this long, because nodes may store old hash ids until then. */
export const settledMs = 15 * 60_000;

/**
 * Recomputes the hash ids in orders from the fingerprints of their cards, except those of destroyed
 * cards. An order that changes while it is examined is read again. Each call examines the next
 * page, and returns how many orders it has examined.
 */
export function makeRenewHashIds(
  query: Query,
  { by, at }: Deletion,
  hashIdOf: (fingerprint: Buffer) => string,
): () => Promise<number> {
  const events = JSON.stringify([noteOf("hash id recomputed")]);
  const nextPage = makeNextPage(query);
  return async () => {
    const { after, last, count } = await nextPage();
    while (count > 0 && !(await renewPage(after, last)));
    return count;
  };

  /** Returns false if an order of the page has changed since it was read. */
  async function renewPage(after: string, last: string): Promise<boolean> {
    const page = await query<StoredProgress>(
      `select merchant_id as "merchantId", id, version, progress from orders
       where id > $1::bigint and id <= $2::bigint and ${isHere}`,
      [after, last],
    );
    const cards = page.flatMap(({ merchantId, progress }) =>
      cardsIn(progress).map(({ cardId }) => ({ merchantId, cardId: asCardId(cardId) })),
    );
    const found = await query<{ card: string; fingerprint: Buffer }>(
      `select cards.merchant_id || '/' || cards.id as card, fingerprint from cards
       join (select distinct * from unnest($1::bigint[], $2::bigint[])) as wanted(merchant_id, id)
         on cards.merchant_id = wanted.merchant_id and cards.id = wanted.id`,
      [
        plainArray(cards.map((each) => each.merchantId)),
        plainArray(cards.map((each) => each.cardId)),
      ],
    );
    const hashIds = new Map(found.map((each) => [each.card, hashIdOf(each.fingerprint)]));
    const changed = page.flatMap((order) => {
      const progress = renewHashIds(order, hashIds);
      return progress === undefined ? [] : [{ ...order, progress }];
    });
    if (changed.length === 0) return true;
    const written = await query(renewStatement, [
      plainArray(changed.map(({ merchantId }) => merchantId)),
      plainArray(changed.map(({ id }) => id)),
      ...[at, by, events],
      plainArray(changed.map(({ version }) => version)),
      textArray(changed.map(({ progress }) => JSON.stringify(progress))),
    ]);
    return written.length === changed.length;
  }
}

const renewStatement =
  asStep(`update orders set progress = source.progress, version = orders.version + 1
  from unnest($1::bigint[], $2::bigint[], $6::int[], $7::json[])
    as source(merchant_id, id, version, progress)
  where orders.merchant_id = source.merchant_id and orders.id = source.id
    and orders.version = source.version
  returning orders.merchant_id, orders.id, orders.version`);

type HashedCard = { readonly cardId: string; readonly hashId?: string };
type Progress = {
  readonly card?: HashedCard;
  readonly page?: { readonly refused: readonly { readonly card: HashedCard }[] };
};
type StoredProgress = {
  readonly merchantId: MerchantId;
  readonly id: string;
  readonly version: number;
  readonly progress: Progress;
};

/** Returns the card that was charged, and those that were refused on the payment page. */
function cardsIn({ card, page }: Progress): readonly HashedCard[] {
  return [...(card ? [card] : []), ...(page?.refused ?? []).map((each) => each.card)];
}

function renewHashIds(
  { merchantId, progress }: StoredProgress,
  hashIds: ReadonlyMap<string, string>,
): Progress | undefined {
  const renewed = <Card extends HashedCard>(card: Card): Card => {
    const hashId = hashIds.get(`${merchantId}/${card.cardId}`);
    return hashId === undefined || !card.hashId ? card : { ...card, hashId };
  };
  const { card, page } = progress;
  const refused = page?.refused.map((each) => ({ ...each, card: renewed(each.card) }));
  const next = {
    ...progress,
    ...(card && { card: renewed(card) }),
    ...(page && refused && { page: { ...page, refused } }),
  };
  return JSON.stringify(next) === JSON.stringify(progress) ? undefined : next;
}

function makeNextPage(query: Query) {
  let last = "0";
  return async () => {
    const after = last;
    const page = await query<{ id: string }>(
      "select id from orders where id > $1::bigint order by id limit $2",
      [after, pageSize],
    );
    last = page.at(-1)?.id ?? after;
    return { after, last, count: page.length };
  };
}

/** A person, identified by an email address, or by a card: its hash ids, one for each merchant. */
export type Person =
  /** The email address in each form in which it may be stored, in lower case. */
  | { readonly emails: readonly string[] }
  | { readonly hashIds: Iterable<readonly [MerchantId, string]> };

export type OrderOfPerson = {
  readonly merchantId: MerchantId;
  readonly id: OrderId;
  /** True if the order is in flight or in doubt, or if a callback about it is to be delivered. */
  readonly isOpen: boolean;
};

/** Examines all orders page by page, because no index has email addresses or hash ids. */
export async function findOrdersOf(
  { query }: Pick<Database, "query">,
  person: Person,
  onPage: (orders: number) => void,
): Promise<readonly OrderOfPerson[]> {
  const nextPage = makeNextPage(query);
  const [condition, values] = conditionOf(person, byEmail, byCard);
  const found: OrderOfPerson[] = [];
  for (;;) {
    const { after, last, count } = await nextPage();
    if (count === 0) return found;
    found.push(
      ...(await query<OrderOfPerson>(
        `select merchant_id as "merchantId", id, ${isBusy} as "isOpen" from orders
         where id > $1::bigint and id <= $2::bigint and ${condition} order by id`,
        [after, last, ...values],
      )),
    );
    onPage(count);
  }
}

function conditionOf(person: Person, email: string, card: string) {
  if ("emails" in person) return [email, [person.emails]] as const;
  const hashIds = [...person.hashIds];
  const pairs = [plainArray(hashIds.map(([id]) => id)), hashIds.map(([, hashId]) => hashId)];
  return [card, pairs] as const;
}

/** Finds the registered cards of a person, also those that no order was paid with. */
export async function findCardsOf(
  { query }: Pick<Database, "query">,
  person: Person,
): Promise<readonly CardOfMerchant[]> {
  const [condition, values] = conditionOf(person, byProfile, byNumber);
  const found: CardOfMerchant[] = [];
  let last = ["-1", "-1"];
  for (;;) {
    const page = await query<CardOfMerchant & { id: string; isFound: boolean | null }>(
      `select merchant_id as "merchantId", id, card_id as "cardId", ${condition} as "isFound"
       from card_references where (merchant_id, id) > ($1::bigint, $2::bigint) and ${isHere}
       order by merchant_id, id limit ${pageSize}`,
      [...last, ...values],
    );
    const end = page.at(-1);
    if (end === undefined) return found;
    found.push(...page.filter(({ isFound }) => isFound));
    last = [end.merchantId, end.id];
  }
}

const byProfile = "lower(facts #>> '{profile,customer,email}') = any($3::text[])";
const byNumber = `(merchant_id, facts #>> '{card,hashId}') in (
  select * from unnest($3::bigint[], $4::text[]))`;

const byEmail = "lower(facts #>> '{purchase,customer,email}') = any($3::text[])";
/** A condition for orders with the card, even if the card was refused on the payment page. */
const byCard = `((merchant_id, progress #>> '{card,hashId}') in (
  select * from unnest($3::bigint[], $4::text[])) or exists (
  select from ${refusedTries} where (merchant_id, tried #>> '{card,hashId}') in (
    select * from unnest($3::bigint[], $4::text[]))))`;

const isBusy = `(${isOpen} or exists (
  select from callbacks where callbacks.merchant_id = orders.merchant_id
    and callbacks.order_id = orders.id and callbacks.due_at is not null))`;

type ErasedOrder = { readonly cards: readonly CardOfMerchant[] };

/**
 * Erases the person's data in an order, its history, its callbacks and its card references. Returns
 * undefined if the order is open now. Its version increases, so that a node with the old order in
 * memory cannot write the data back.
 */
export function eraseOrder(
  { transaction }: Pick<Database, "transaction">,
  { merchantId, id }: Pick<OrderOfPerson, "merchantId" | "id">,
  { by, at }: Deletion,
): Promise<ErasedOrder | undefined> {
  return transaction(async (query) => {
    const key = [merchantId, id];
    await query(
      `select from orders
       where merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")} for update`,
      key,
    );
    const [row] = await query<OrderDocuments>(
      `select facts, progress, version, ${isBusy} as "isOpen" from orders
       where merchant_id = $1 and id = $2`,
      key,
    );
    if (row === undefined || row.isOpen) return undefined;
    const { card: last, page } = row.progress;
    const tried = [...(page?.refused ?? []).map(({ card }) => card), last];
    const cards = tried.map(({ cardId }) => asCardId(cardId)).filter((cardId) => cardId !== "0");
    const documents = [row.facts, row.progress].map((each) => JSON.stringify(erase(each)));
    await query(
      `update orders set facts = $3, progress = $4, version = version + 1, cvv_digest = null,
         ${noDigest}
       where merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")}`,
      [...key, ...documents],
    );
    await eraseHistory(query, key);
    await query(addNote, [...key, row.version + 1, at, by, JSON.stringify([noteOf("erased")])]);
    for (const statement of eraseCallbacks) await query(statement, key);
    await query(lockIndex);
    await query(eraseIndex, key);
    return { cards: await eraseReferences(query, merchantId, cards, at) };
  });
}

/** Erases the person's data in the references to a card, and in those of its profile. */
export function eraseCard(
  { transaction }: Pick<Database, "transaction">,
  { merchantId, cardId }: CardOfMerchant,
  at: Instant,
): Promise<readonly CardOfMerchant[]> {
  return transaction((query) => eraseReferences(query, merchantId, [cardId], at));
}

type StoredTry = { readonly card: { readonly cardId: string } };

type OrderDocuments = {
  readonly facts: object;
  readonly progress: StoredTry & { readonly page?: { readonly refused: readonly StoredTry[] } };
  readonly version: number;
  readonly isOpen: boolean;
};

const noteOf = (what: string) => ({ kind: "noted", what, detail: "" });

const addNote = `
insert into order_history (merchant_id, order_id, version, at, node, events)
values ($1, $2, $3, to_timestamp($4::float8 / 1000), $5, $6)`;

async function eraseHistory(query: Query, key: readonly string[]): Promise<void> {
  const rows = await query<{ version: number; events: unknown }>(
    "select version, events from order_history where merchant_id = $1 and order_id = $2",
    key,
  );
  for (const { version, events } of rows) {
    await query(
      `update order_history set events = $4
       where merchant_id = $1 and order_id = $2 and version = $3`,
      [...key, version, JSON.stringify(erase(events))],
    );
  }
}

/** The URLs of callbacks and the answers of merchants' servers may contain the customer's data. */
const eraseCallbacks = [
  "update callbacks set url = '' where merchant_id = $1 and order_id = $2",
  `update callback_attempts set url = '', body = '', answer = ''
   where merchant_id = $1 and order_id = $2`,
];

/**
 * Erases the person's data in the portal's index. The row's version becomes one less than the
 * order's, so that the erased order replaces the row, but no older copy from a node's memory does.
 */
const eraseIndex = `
update order_index set email = '', name = '', people = '{}', last_four = '',
  version = (select version - 1 from orders where merchant_id = $1 and id = $2),
  words = array(select word from unnest(words) as word where word !~ '^[el]:')
where merchant_id = $1 and order_id = $2
  and at = (select accepted_at from orders where merchant_id = $1 and id = $2)`;

/**
 * Erases the references to the cards, and to all other cards of the same profiles, which are the
 * same person's. Returns all these cards.
 */
async function eraseReferences(
  query: Query,
  merchantId: MerchantId,
  cards: readonly CardId[],
  at: Instant,
): Promise<readonly CardOfMerchant[]> {
  const all = new Set(cards);
  let rows: readonly { readonly id: string; readonly facts: unknown }[] = [];
  // A number may be replaced before its row is locked, so the cards are searched again then.
  for (let count = -1; count < all.size; ) {
    count = all.size;
    const key = [merchantId, plainArray([...all])];
    rows = await query(lockReferences, key);
    for (const { cardId } of await query<CardOfMerchant>(cardsOfProfiles, key)) all.add(cardId);
  }
  for (const { id, facts } of rows) {
    await query(
      `update card_references set facts = $3, removed_by = coalesce(removed_by, 'operator'),
         removed_at = coalesce(removed_at, to_timestamp($4::float8 / 1000)), ${noDigest},
         destroyed_at = to_timestamp($4::float8 / 1000)
       where merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")}`,
      [merchantId, id, JSON.stringify(erase(facts)), at],
    );
  }
  return [...all].map((cardId) => ({ merchantId, cardId }));
}

const lockReferences = `
select id, facts from card_references
where merchant_id = $1 and card_id = any($2::bigint[]) and ${assertHomeCell("= $1")} for update`;

/** Finds the cards that the profiles of the given cards have now or had before a replacement. */
const cardsOfProfiles = `
with present as (
  select card_id from unnest($2::bigint[]) as given(card_id)
  union select named.card_id ${profileOfReplaced("= any($2::bigint[])")}
)
select card_id as "cardId" from present
union select replaced.card_id
from card_references as replaced join card_references as named
  on named.merchant_id = replaced.merchant_id and named.id = (replaced.facts ->> 'id')::bigint
where replaced.merchant_id = $1 and replaced.purpose = 'replaced'
  and replaced.removed_at is not null and replaced.destroyed_at is null
  and named.card_id in (select card_id from present)`;

const erasedTables = [
  "orders",
  "order_history",
  "callbacks",
  "callback_attempts",
  "order_index",
  "card_references",
];

/**
 * Frees the space of the erased data, unless an older transaction still sees it. The disk and the
 * write-ahead log may contain the old bytes for longer.
 */
export async function vacuumErased(database: Pick<Database, "connect">): Promise<void> {
  const client = await database.connect();
  try {
    for (const table of erasedTables) await client.query(`vacuum ${table}`);
  } finally {
    await client.end();
  }
}

/** The properties of a purchase that say nothing about a person. All others are erased. */
type KeptOfPurchase =
  | ("amount" | "otherAmounts" | "siteUrl" | "wallet" | "credential")
  | ("isUnattended" | "channel" | "challengePreference" | "scaExemption");

/**
 * The fields that an erasure removes from orders, their history and card references, each with its
 * replacement, if it has one: data about the person and the card, and free text. Amounts, ids,
 * dates, codes and the card's BIN stay, so that the books still agree.
 */
// biome-ignore format: a table
const erased: Readonly<Record<Exclude<keyof Purchase, KeptOfPurchase>, unknown>> &
  Readonly<Record<string, unknown>> = {
  customer:     {},
  description:  "",
  ipAddress:    "",
  urls:         {},
  merchantData: undefined,
  purpose:      undefined,
  comment:      undefined,
  browser:      undefined,
  holderName:   "",
  lastFour:     "",
  hashId:       "",
  expiryMonth:  "",
  expiryYear:   "",
  threeds:      undefined,
  challenge:    undefined,
  payerRequest: undefined,
  explanation:  undefined,
  loyalty:      undefined,
  updateDigests: undefined,
};

function erase(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(erase);
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name,
      Object.hasOwn(erased, name) ? erased[name] : erase(value),
    ]),
  );
}
