/**
 * Stores the operator's BIN table, which is replaced and read as a whole. A new table is announced
 * as a change of the configuration. Nodes then compare the table's version with their own.
 */
import type { IssuerRange, IssuerStore } from "../../issuers/issuers.ts";
import type { Issuer } from "../../orders/order.ts";
import type { Database, Query } from "../server/database.ts";
import { plainArray, textArray } from "../server/gather.ts";
import { notifyNodes } from "./configuration.ts";

/** The ranges in a page: few, because a node processes no orders while it unpacks a page. */
const pageRows = 500;
const foundMax = 50;

const columns = [
  ["bank_name", "bankName"],
  ["country", "country"],
  ["product_code", "productCode"],
  ["product_name", "productName"],
  ["type_code", "typeCode"],
  ["type_name", "typeName"],
] as const satisfies readonly (readonly [column: string, fact: keyof Issuer])[];

const listed = `first, last, ${columns.map(([column]) => column).join(", ")}`;
const selected = `select ${listed} from issuer_ranges`;

export function makeIssuerStore({ query, transaction }: Database) {
  return {
    findVersion: () => findVersion(query),

    readRanges(take) {
      return transaction(async (ask) => {
        await ask("set transaction isolation level repeatable read, read only");
        const version = await findVersion(ask);
        await ask(`declare pages cursor for ${selected} order by first`);
        for (let count = pageRows; count === pageRows; ) {
          const rows = await ask<IssuerRow>(`fetch ${pageRows} from pages`);
          take(rows.map(toRange));
          count = rows.length;
        }
        return version;
      });
    },

    replace(
      portions: AsyncIterable<readonly IssuerRange[]>,
      report: (count: number) => void,
    ): Promise<number> {
      return transaction(async (ask) => {
        // The lock on the version's row makes a second load wait until this one is committed.
        await ask("update issuer_table set version = version + 1, loaded_at = now()");
        // A faster `truncate` would hide the old ranges from nodes that are still reading them.
        await ask("delete from issuer_ranges");
        let count = 0;
        for await (const portion of portions) {
          await insert(ask, portion);
          count += portion.length;
          report(count);
        }
        await ask("analyze issuer_ranges");
        await notifyNodes(ask);
        return count;
      });
    },

    /** The narrowest range comes first, because it decides which issuer a card has. */
    async findRanges(first: number, last: number): Promise<readonly IssuerRange[]> {
      const rows = await query<IssuerRow>(
        `${selected} where first <= $2 and last >= $1
         order by last - first, first desc limit ${foundMax}`,
        [first, last],
      );
      return rows.map(toRange);
    },

    /** `loadedAt` is null if no table was ever loaded. */
    async count() {
      const [row] = await query<{ ranges: number; loadedAt: string | null }>(
        `select (select count(*)::int from issuer_ranges) as ranges,
           to_char(loaded_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC') as "loadedAt"
         from issuer_table`,
      );
      return row ?? { ranges: 0, loadedAt: null };
    },
  } satisfies IssuerStore & Record<string, unknown>;
}

async function findVersion(query: Query): Promise<string> {
  const [row] = await query<{ version: string }>("select version from issuer_table");
  return row?.version ?? "";
}

async function insert(query: Query, ranges: readonly IssuerRange[]): Promise<void> {
  const facts = columns.map(([, fact]) =>
    textArray(ranges.map(({ issuer }) => issuer[fact] ?? null)),
  );
  await query(
    `insert into issuer_ranges (${listed})
     select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[],
                          $6::text[], $7::text[], $8::text[])`,
    [
      plainArray(ranges.map(({ first }) => first)),
      plainArray(ranges.map(({ last }) => last)),
      ...facts,
    ],
    "insert_issuer_ranges",
  );
}

type IssuerRow = { readonly first: string; readonly last: string } & {
  readonly [Column in (typeof columns)[number][0]]: string | null;
};

function toRange(row: IssuerRow): IssuerRange {
  const facts = columns.map(([column, fact]) => [fact, row[column]]);
  const issuer: Issuer = Object.fromEntries(facts.filter(([, value]) => value !== null));
  return { first: Number(row.first), last: Number(row.last), issuer };
}
