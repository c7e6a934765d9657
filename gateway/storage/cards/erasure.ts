/**
 * Deletes data that must not be known any longer from orders that stay in the books: a person's
 * data, and hash ids whose key is being replaced. It changes nothing about what happened to an
 * order. Besides the commit queue, it is the only code that writes orders.
 */
import type { CardOfMerchant } from "../../engine/cards.ts";
import type { Purchase } from "../../orders/order.ts";
import { asCardId, asMerchantId, type MerchantId, type OrderId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell, isHere } from "../cells/cells.ts";
import { isOpen, refusedTries } from "../orders/find-orders.ts";
import { lockIndex } from "../portal/order-index.ts";
import { besideOthers, type Database, type Query } from "../server/database.ts";
import { plainArray, textArray } from "../server/gather.ts";

/** How many orders a statement examines, so that payments do not notice it. */
const pageSize = 1_000;

/** The author and the time of the change, for the history of the order. */
export type Deletion = { readonly by: string; readonly at: Instant };

/** Thirty-two zeros are no digest, and zero is no key. */
const noDigest = "digest = decode(repeat('00', 32), 'hex'), digest_key = 0";

/**
 * Writes the change as a step with its history. An effect that is due stays due, for the new
 * version.
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

/** How long to wait before orders are read: the step of a younger order may not be stored yet. */
export const settledMs = 15 * 60_000;

/**
 * Writes the hash ids that follow from the fingerprints of an order's cards. If a card is
 * destroyed, its hash id stays as it is. An order that has changed since it was read is read again.
 * Each call continues after the page of the last one, and returns how many orders it has examined.
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

  /** Returns false if an order has changed since it was read. */
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

/** Returns the order's card, and the cards that were refused on the payment page. */
function cardsIn({ card, page }: Progress): readonly HashedCard[] {
  return [...(card ? [card] : []), ...(page?.refused ?? []).map((each) => each.card)];
}

/** Returns the progress with new hash ids, or undefined if none has changed. */
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

/** Reads the orders of a cell by id. */
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

/** A person, named by the email address or by the hash ids of a card at each merchant. */
export type Person =
  /** The address in each form in which it may have been stored, in lower case. */
  | { readonly emails: readonly string[] }
  | { readonly hashIds: Iterable<readonly [MerchantId, string]> };

export type OrderOfPerson = {
  readonly merchantId: MerchantId;
  readonly id: OrderId;
  /** Whether the order is in flight, in doubt, or has a callback that is still to be delivered. */
  readonly isOpen: boolean;
};

/**
 * Finds the orders of a person. No index has addresses or hash ids, so it examines all orders page
 * by page.
 */
export async function findOrdersOf(
  { query }: Pick<Database, "query">,
  person: Person,
  onPage: (orders: number) => void,
): Promise<readonly OrderOfPerson[]> {
  const nextPage = makeNextPage(query);
  const hashIds = "emails" in person ? [] : [...person.hashIds];
  const pairs = [plainArray(hashIds.map(([id]) => id)), hashIds.map(([, hashId]) => hashId)];
  const [condition, values] = "emails" in person ? [byEmail, [person.emails]] : [byCard, pairs];
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

const byEmail = "lower(facts #>> '{purchase,customer,email}') = any($3::text[])";
/** A condition for a card, including one that was refused on the payment page. */
const byCard = `((merchant_id, progress #>> '{card,hashId}') in (
  select * from unnest($3::bigint[], $4::text[])) or exists (
  select from ${refusedTries} where (merchant_id, tried #>> '{card,hashId}') in (
    select * from unnest($3::bigint[], $4::text[]))))`;

const isBusy = `(${isOpen} or exists (
  select from callbacks where callbacks.merchant_id = orders.merchant_id
    and callbacks.order_id = orders.id and callbacks.due_at is not null))`;

type ErasedOrder = { readonly cards: readonly CardOfMerchant[] };

/**
 * Erases an order with its history, callbacks and references. Returns undefined if the order is
 * open by now. The version increases, so that a node which has the order in memory cannot write the
 * data back.
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
    for (const cardId of cards) await eraseReferences(query, [merchantId, cardId, at]);
    return { cards: cards.map((cardId) => ({ merchantId: asMerchantId(merchantId), cardId })) };
  });
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

/** URLs and answers may contain the customer's data. */
const eraseCallbacks = [
  "update callbacks set url = '' where merchant_id = $1 and order_id = $2",
  `update callback_attempts set url = '', body = '', answer = ''
   where merchant_id = $1 and order_id = $2`,
];

/**
 * Erases the person from the index. The stored version is set back, so that a node writes the rest
 * of the row again. A node that has the old order in memory does not overwrite it, because that
 * version is not newer.
 */
const eraseIndex = `
update order_index set email = '', name = '', people = '{}', last_four = '',
  version = (select version - 1 from orders where merchant_id = $1 and id = $2),
  words = array(select word from unnest(words) as word where word !~ '^[el]:')
where merchant_id = $1 and order_id = $2
  and at = (select accepted_at from orders where merchant_id = $1 and id = $2)`;

async function eraseReferences(query: Query, [merchantId, cardId, at]: readonly unknown[]) {
  const rows = await query<{ id: string; facts: unknown }>(
    "select id, facts from card_references where merchant_id = $1 and card_id = $2",
    [merchantId, cardId],
  );
  for (const { id, facts } of rows) {
    await query(
      `update card_references set facts = $3, removed_by = coalesce(removed_by, 'operator'),
         removed_at = coalesce(removed_at, to_timestamp($4::float8 / 1000)), ${noDigest},
         destroyed_at = to_timestamp($4::float8 / 1000)
       where merchant_id = $1 and id = $2`,
      [merchantId, id, JSON.stringify(erase(facts)), at],
    );
  }
}

const erasedTables = [
  "orders",
  "order_history",
  "callbacks",
  "callback_attempts",
  "order_index",
  "card_references",
];

/**
 * Frees the space of the old contents of changed rows, unless an older transaction still sees them.
 * The disk and the write-ahead log may contain their bytes for longer.
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
  | "isUnattended";

/**
 * The values that are erased on a person's request from a stored order, its history and its card
 * references, by the names of the fields, each with its replacement. They are data about the person
 * and the card, and free text. A field without a replacement is left out. Amounts, ids, dates,
 * codes and the card's BIN stay, so that the books still agree.
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
};

/** A JSON document without personal data. A document that is erased already stays the same. */
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
