/** Calls to all cells on real databases: several at once, and with an unreachable cell. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { asMerchantId } from "../../values/ids.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { assertHomeCell, makeCells } from "./cells.ts";

const tables = await startDatabase();
after(() => tables.stop());
const second = await tables.addCell("cell_second");
const nowhere = openDatabase("postgres://nobody@127.0.0.1:1/none", {
  poolSize: 1,
  connectTimeoutMs: 1_000,
  onLost: () => undefined,
});
after(() => nowhere.close());

const cellName = "select current_schema() as name";
const pair = (database: Database) => ({ node: database, vault: database });

function walk(other: Database, failures: string[] = []) {
  const names = ["main", "second"].map((name) => ({ name, url: undefined }));
  const cells = makeCells({
    main: pair(tables.database),
    open: () => pair(other),
    waitMs: 1_000,
    onFailed: (cell) => void failures.push(cell),
  });
  cells.follow({ current: () => ({ cells: names, cellOf: new Map() }), reload: async () => {} });
  return cells.stores(({ node }) => node.query);
}

test("concurrent calls reach every cell", async () => {
  const stores = walk(second);
  const look = () => stores.each(async (query) => (await query<{ name: string }>(cellName))[0]);
  const found = await Promise.all([look(), look(), look()]);

  for (const rows of found) {
    assert.deepEqual(rows.map((row) => row?.name).sort(), ["cell_second", "public"]);
  }
});

test("an unreachable cell is asked by one call at a time and delays no other", async () => {
  const failures: string[] = [];
  const stores = walk(nowhere, failures);
  let asked = 0;
  const gone = Promise.withResolvers<never>();
  const look = (isSlow: boolean) =>
    stores.each(async (query, cell) => {
      if (cell === "second") asked += 1;
      return cell === "second" && isSlow ? gone.promise : query(cellName);
    });

  await look(false);
  assert.deepEqual(failures, ["second"]);
  const results = [await look(true), await look(true), await look(true)];
  assert.deepEqual(
    results.map((rows) => rows.length),
    [1, 1, 1],
  );
  assert.equal(asked, 2);
  gone.reject(new Error("the cell is unreachable"));
});

test("calls for a merchant that is known to be moving join no batch, until its fence is lifted", async () => {
  const stores = walk(second);
  const { query } = tables.database;
  const merchant = asMerchantId("7");
  let [tries, isFenced] = [0, true];
  const look = () =>
    stores.call(
      merchant,
      async (store) => {
        tries += 1;
        assert.ok(tries === 1 || !isFenced, "a call has met the fence again");
        return store(`select 1 as there where ${assertHomeCell("= 7")}`);
      },
      60_000,
    );
  await query("insert into moved_merchants (merchant_id) values (7)");

  const first = look();
  await assert.rejects(
    stores.call(merchant, (store) => store(`select where ${assertHomeCell("= 7")}`), 0),
    { code: "55006" },
  );
  const later = [look(), look()];
  isFenced = false;
  await query("delete from moved_merchants");

  assert.deepEqual(await Promise.all([first, ...later]), [
    [{ there: 1 }],
    [{ there: 1 }],
    [{ there: 1 }],
  ]);
});
