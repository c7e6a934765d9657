/**
 * The cost of statements on the newest PostgreSQL and on the oldest supported one: no look-up reads
 * a whole table or index, and a sale writes few index entries.
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import pg from "pg";
import { draft } from "../../orders/testing.ts";
import { asOrderId, asSerialNumber } from "../../values/ids.ts";
import { makeReferenceStore } from "../cards/cards.ts";
import { settledPlanner, settledStatement } from "../portal/reconciliations.ts";
import { besideOthers, hotPlanner, type Query } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { startPostgres15 } from "../testing/postgres-15.ts";
import { makeSell } from "../testing/stored-rows.ts";
import { findBegun } from "./begun-transactions.ts";
import { beginStatement, enterStatement, moveStatement, writtenStatement } from "./commit.ts";
import * as find from "./find-orders.ts";
import { addOrders } from "./generated-orders.ts";

const { merchantId: merchant, id } = draft;
const serial = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const now = draft.acceptedAt;

const forDay = settledPlanner.map((setting) => `-c ${setting}`).join(" ");

type Looks = (query: Query) => unknown;
// biome-ignore format: a table
const hot: Readonly<Record<string, string | Looks>> = {
  "beginning orders":              beginStatement,
  "moving orders":                 moveStatement,
  "entering cards":                enterStatement,
  "what an earlier try has written": writtenStatement,
  "orders by id":                  (query) => find.makeFindOrders(query).byId({ merchantId: merchant, orderId: id }),
  "versions of ended orders":      (query) => find.makeFindOrders(query).isCurrent(draft),
  "orders by client order id":     (query) => find.makeFindOrders(query).findExisting(merchant, "invoice-1"),
  "an order by its number":        (query) => find.findByNumber(query, 42),
  "an order between two blocks":   (query) => find.findAtPosition(query, { sequence: 1, low: 10, high: 90 }),
  "a request by its serial number": (query) => find.findBySerial(query, merchant, serial),
  "due orders":                    find.due,
  "the orders of a node":          (query) => find.makeFindOwned(query)("node-1"),
};

// biome-ignore format: a table
const cold: Readonly<Record<string, string | Looks>> = {
  "an order by its receipt":       (query) => find.makeFindOfReceipt(query)(merchant, asOrderId("1")),
  "orders in doubt":               (query) => find.countInDoubt(query),
  "orders in doubt, listed":       (query) => find.findInDoubt(query, 9),
  "an order's history":            (query) => find.findHistory(query, draft),
  "transactions that began":       (query) => findBegun(query, { merchantId: merchant, from: now, until: now, after: undefined, limit: 9 }),
  "cards to destroy":              (query) => makeReferenceStore(query).findRemoved(now),
};

const oldest = await startPostgres15();
if (oldest === undefined) process.stderr.write("Skipped: there is no PostgreSQL 15 here.\n");

for (const [version, server] of [["18", undefined] as const, ["15", oldest] as const]) {
  if (version === "15" && server === undefined) continue;
  describe(`PostgreSQL ${version}`, async () => {
    const { database, url, stop } = await startDatabase(server);
    after(stop);
    const [{ version: own } = { version: "" }] = await database.query<{ version: string }>(
      "select current_setting('server_version') as version",
    );
    await database.query("insert into vault.keys (id, purpose, sealed) values (1, 'cards', '')");
    const sell = makeSell(database);
    const template = await sell();
    const portion = { template, merchant, from: 1, count: 8_000, days: 60, total: 8_000 };
    await addOrders(database.query, portion);
    await database.query("create extension if not exists pg_walinspect");

    test("it is the version that it should be", () => assert.match(own, RegExp(`^${version}\\.`)));

    const day = { "the orders of a day": settledStatement };
    const groups = [[hot, hotPlanner] as const, [cold, ""] as const, [day, forDay] as const];
    for (const [statements, options] of groups) {
      for (const [name, statement] of Object.entries(statements)) {
        test(`${name}: no scan, before statistics are gathered and afterwards`, async () => {
          const text = typeof statement === "string" ? statement : await textOf(statement);
          const young = await explain(url, text, options);
          await database.query("analyze orders, order_history, requests, due, cards, callbacks");
          const grown = await explain(url, text, options);

          const filled = new Set((await database.query<Named>(filledTables)).map(nameOf));
          for (const plan of [young, grown]) assert.deepEqual(findScans(plan, filled), [], plan);
        });
      }
    }

    test("a sale writes seven index entries, and its update is a HOT one", async () => {
      await database.query("checkpoint");
      const from = await position();
      const sales = 400;
      for (let done = 0; done < sales; done += 40) {
        await Promise.all(Array.from({ length: 40 }, sell));
      }
      // Other tests may use other databases of the server.
      const rows = await database.query<{ type: string; count: string }>(
        `select resource_manager || '/' || record_type as type, count(*)
         from pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn)
         join pg_database on datname = current_database()
         where block_ref like '%/' || pg_database.oid || '/%' group by type`,
        [from, await position()],
      );
      const perSale = (...types: readonly string[]) =>
        rows.reduce((sum, { type, count }) => sum + (types.includes(type) ? Number(count) : 0), 0) /
        sales;

      assert.ok(perSale("Btree/INSERT_LEAF", "Btree/INSERT_POST") < 7.2, JSON.stringify(rows));
      assert.ok(perSale("Heap/HOT_UPDATE") > 0.98, JSON.stringify(rows));
      assert.ok(perSale("Heap/UPDATE", "Heap/UPDATE+INIT") < 0.02, JSON.stringify(rows));
    });

    test("a sale's statements are not planned again for every batch", async () => {
      const text = "select name, custom_plans from pg_prepared_statements where name ~ 'orders'";
      const begun = await database.add<Planned>(text);
      const moved = await database.hot<Planned>(text);
      assert.match(begun[0]?.name ?? "", /^begin_orders/);
      assert.match(moved[0]?.name ?? "", /^move_orders/);
      for (const { name, custom_plans } of [...begun, ...moved]) {
        assert.equal(custom_plans, "0", name);
      }
    });

    /** Returns the position in the write-ahead log after a commit that has waited for the disk. */
    async function position(): Promise<string> {
      await database.transaction(async (query) => {
        await query("set local synchronous_commit = on");
        await query("select pg_logical_emit_message(true, 'test', '')");
      });
      const [row] = await database.query<{ at: string }>("select pg_current_wal_flush_lsn() as at");
      return row?.at ?? "";
    }
  });
}

test("every insert of a batch reads a table of its cell, so that Citus keeps to one worker", () => {
  for (const statement of [beginStatement, moveStatement, enterStatement]) {
    const inserts = statement.split("insert into ").slice(1);
    const isKept = (insert: string) =>
      insert.includes(besideOthers) || insert.includes("from moved_merchants");
    const astray = inserts.filter((insert) => !isKept(insert));

    assert.ok(inserts.length > 2);
    assert.deepEqual(astray, []);
  }
});

/** Returns the first statement that a look-up sends. */
async function textOf(look: Looks): Promise<string> {
  let sent = "";
  await look(async (text) => {
    sent ||= text;
    return [];
  });
  return sent;
}

/** Explains a statement with a generic plan, as PostgreSQL uses it after many calls. */
async function explain(url: string, text: string, options: string): Promise<string> {
  const session = `${options} -c search_path=public,vault -c plan_cache_mode=force_generic_plan`;
  const client = new pg.Client({ connectionString: url, options: session });
  await client.connect();
  try {
    await client.query(`prepare asked as ${text}`);
    const count = Math.max(
      0,
      ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
    );
    const values = count === 0 ? "" : `(${Array.from({ length: count }, () => "null").join(", ")})`;
    const { rows } = await client.query(`explain (costs off) execute asked${values}`);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  } finally {
    await client.end();
  }
}

type Planned = { readonly name: string; readonly custom_plans: string };
type Named = { readonly name: string };
const nameOf = ({ name }: Named) => name;

const filledTables = `select relname as name from pg_class
  where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'vault')
    and pg_relation_size(oid) > 0 and relname not in ('due', 'card_keys', 'keys')`;

/** Returns scans of filled tables without a condition on an index. */
function findScans(plan: string, filled: ReadonlySet<string>): readonly string[] {
  const lines = plan.split("\n");
  return lines.filter((line, index) => {
    const [, kind = "", table = ""] = /(Seq Scan|Index(?: Only)? Scan).* on (\w+)/.exec(line) ?? [];
    if (!filled.has(table)) return false;
    return kind === "Seq Scan" || !/Index Cond:/.test(lines[index + 1] ?? "");
  });
}
