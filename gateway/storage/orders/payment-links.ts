/**
 * The storage of payment links in the merchant's cell. Each use is reserved by an update of the
 * link's row, so that concurrent payments, at any node, each see all earlier uses.
 */
import type { LinkKey, PaymentLink } from "../../orders/payment-page.ts";
import { asEndpointId, asLinkId, asMerchantId, type MerchantId } from "../../values/ids.ts";
import { unpackMoney } from "../../values/money.ts";
import { asInstant, type Instant } from "../../values/time.ts";
import { assertHomeCell, type Cells } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import { textArray } from "../server/gather.ts";

type LinkRow = {
  readonly merchantId: string;
  readonly id: string;
  readonly endpointId: string;
  readonly amount: string;
  readonly currency: string;
  readonly description: string;
  readonly returnUrl: string | null;
  readonly callbackUrl: string | null;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly expiresAt: string | null;
  readonly closedAt: string | null;
  readonly usesMax: number | null;
  readonly channel: "MOTO" | null;
  readonly uses: readonly string[];
};

const selected = `select merchant_id as "merchantId", id, endpoint_id as "endpointId", amount,
  currency, description, return_url as "returnUrl", callback_url as "callbackUrl",
  created_at as "createdAt", created_by as "createdBy", expires_at as "expiresAt",
  closed_at as "closedAt", uses_max as "usesMax", uses, channel from payment_links`;

type LinkFilter = {
  readonly merchantId?: MerchantId | undefined;
  readonly limit: number;
  /** The time and the id of the last link on the previous page. */
  readonly after?: { readonly at: number; readonly id: string } | undefined;
};

export function makeLinkStore(query: Query) {
  const key = ({ merchantId, id }: LinkKey) => [merchantId, id];
  return {
    /** Returns false, and changes nothing, if the merchant already has a link with this id. */
    async add(link: PaymentLink): Promise<boolean> {
      const { endpointId, amount, description, createdAt, createdBy } = link;
      const added = await query(
        `insert into payment_links (merchant_id, id, endpoint_id, amount, currency, description,
           return_url, callback_url, created_at, created_by, expires_at, uses_max, channel)
         select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
         where ${assertHomeCell("= $1")}
         on conflict do nothing returning id`,
        [
          ...[...key(link), endpointId, String(amount.minor), amount.currency.code, description],
          ...[link.returnUrl ?? null, link.callbackUrl ?? null, createdAt, createdBy],
          ...[link.expiresAt ?? null, link.usesMax ?? null, link.channel ?? null],
        ],
      );
      return added.length > 0;
    },

    async find(link: LinkKey): Promise<PaymentLink | undefined> {
      const [row] = await query<LinkRow>(
        `${selected} where merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")}`,
        key(link),
        "find_payment_link",
      );
      return row && toLink(row);
    },

    /** Finds a link by its id alone, for an operator. */
    async findById(id: string): Promise<PaymentLink | undefined> {
      const [row] = await query<LinkRow>(
        `${selected} where id = $1
         and merchant_id not in (select merchant_id from moved_merchants)`,
        [id],
      );
      return row && toLink(row);
    },

    async list({ merchantId, limit, after }: LinkFilter): Promise<readonly PaymentLink[]> {
      const rows = await query<LinkRow>(
        `${selected} where ($1::bigint is null or merchant_id = $1)
           and ($3::bigint is null or (created_at, id) < ($3::bigint, $4::bigint))
           and merchant_id not in (select merchant_id from moved_merchants)
         order by created_at desc, id desc limit $2`,
        [merchantId ?? null, limit, after?.at ?? null, after?.id ?? null],
      );
      return rows.map(toLink);
    },

    async close(link: LinkKey, at: Instant): Promise<boolean> {
      const closed = await query(
        `update payment_links set closed_at = $3
         where merchant_id = $1 and id = $2 and closed_at is null and ${assertHomeCell("= $1")}
         returning id`,
        [...key(link), at],
      );
      return closed.length > 0;
    },

    async reserve(link: LinkKey, page: string, now: Instant): Promise<boolean> {
      const reserved = await query(reserveStatement, [...key(link), page, now], "reserve_link_use");
      return reserved.length > 0;
    },

    async release(link: LinkKey, pages: readonly string[]): Promise<void> {
      await query(releaseStatement, [...key(link), textArray(pages)], "release_link_uses");
    },
  };
}

// An order whose page is submitted twice has one use. Without a maximum, uses are not counted.
const reserveStatement = `
update payment_links
set uses = case when uses_max is null or $3::text = any(uses) then uses
  else array_append(uses, $3::text) end
where merchant_id = $1::bigint and id = $2::bigint and closed_at is null
  and (expires_at is null or expires_at > $4::bigint)
  and (uses_max is null or $3::text = any(uses) or cardinality(uses) < uses_max)
  and ${assertHomeCell("= $1::bigint")}
returning id`;

const releaseStatement = `
update payment_links
set uses = array(select page from unnest(uses) as page where page <> all($3::text[]))
where merchant_id = $1::bigint and id = $2::bigint and ${assertHomeCell("= $1::bigint")}`;

export type RoutedLinks = ReturnType<typeof routeLinks>;

export function routeLinks(cells: Cells) {
  const stores = cells.stores(({ node }) => makeLinkStore(node.query));
  return {
    add: (link: PaymentLink) => stores.call(link.merchantId, (store) => store.add(link)),
    find: (link: LinkKey) => stores.call(link.merchantId, (store) => store.find(link)),
    findById: (id: string) => stores.search((store) => store.findById(id)),
    async list(filter: LinkFilter): Promise<readonly PaymentLink[]> {
      const links = (await stores.each((store) => store.list(filter))).flat();
      return links.sort(byAge).slice(0, filter.limit);
    },
    close: (link: LinkKey, at: Instant) =>
      stores.call(link.merchantId, (store) => store.close(link, at)),
    reserve: (link: LinkKey, page: string, now: Instant) =>
      stores.call(link.merchantId, (store) => store.reserve(link, page, now)),
    release: (link: LinkKey, pages: readonly string[]) =>
      stores.call(link.merchantId, (store) => store.release(link, pages)),
  };
}

function byAge(one: PaymentLink, other: PaymentLink): number {
  return other.createdAt - one.createdAt || Number(BigInt(other.id) - BigInt(one.id));
}

function toLink(row: LinkRow): PaymentLink {
  const instant = (text: string | null) => (text === null ? undefined : asInstant(Number(text)));
  return {
    id: asLinkId(row.id),
    merchantId: asMerchantId(row.merchantId),
    endpointId: asEndpointId(row.endpointId),
    amount: unpackMoney([row.amount, row.currency]),
    description: row.description,
    returnUrl: row.returnUrl ?? undefined,
    callbackUrl: row.callbackUrl ?? undefined,
    createdAt: asInstant(Number(row.createdAt)),
    createdBy: row.createdBy,
    expiresAt: instant(row.expiresAt),
    closedAt: instant(row.closedAt),
    usesMax: row.usesMax ?? undefined,
    channel: row.channel ?? undefined,
    uses: row.uses,
  };
}
