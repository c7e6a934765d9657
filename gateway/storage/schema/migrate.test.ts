/** A new cell has the tables of the first one, and no card is written under a destroyed key. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asInstant } from "../../values/time.ts";
import { closeCardKey, listCardKeys, lockUsableKeys } from "../cards/card-keys.ts";
import { makePendingCardStore } from "../cards/cards.ts";
import type { Database } from "../server/database.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { describeTables } from "../testing/describe-tables.ts";
import { nodeRole, separateVault, vaultRole } from "./database-roles.ts";
import { migrateCell, statementsOf } from "./migrate.ts";

const schema = "cell_second";
let server: DatabaseForTests;
let cell: Database;

before(async () => {
  server = await startDatabase();
  cell = await server.addCell(schema);
});

after(() => server.stop());

test("the tables of a new cell are those of the first cell", async () => {
  const fresh = (await describeTables(cell)).filter(({ table }) => table !== "cell_migrations");
  const first = await describeTables(server.database);
  const names = new Set(fresh.map(({ table }) => table));

  assert.ok(names.has("orders") && names.has("cards") && names.has("card_keys"));
  assert.deepEqual(
    first.filter(({ table }) => names.has(table)),
    fresh,
  );
});

test("a file is cut into statements, and a block stays whole", () => {
  const block = "do $$\nbegin\n  perform 1;\nend $$";
  const file = `-- a comment;\ncreate table a (b int);\n${block};\n\nselect 1;\n`;

  assert.deepEqual(statementsOf(file), ["create table a (b int)", block, "select 1"]);
});

test("every file is applied to a cell once", async () => {
  const applied: string[] = [];

  const problem = await migrateCell(cell, schema, (progress) => applied.push(progress));

  assert.equal(problem, undefined);
  assert.deepEqual(applied, []);
  const inCell = await cell.query("select name from cell_migrations order by name");
  const inFirst = await server.database.query("select name from cell_migrations order by name");
  assert.deepEqual(inCell, inFirst);
});

test("a node may add cards to a cell and read none; the vault reads cards alone", async () => {
  assert.equal(await separateVault(cell, { schemas: [schema], rolesLogIn: false }), undefined);

  await cell.transaction(async (query) => {
    await query(`set local role ${nodeRole}`);
    await query("select from orders");
    await query(insertCard, [1, 3]);
    await query("savepoint before");
    await assert.rejects(query("select from cards"), /permission denied/);
    await query("rollback to before");
    await assert.rejects(query("select from held_keys"), /permission denied/);
    await query("rollback to before");
  });
  await cell.transaction(async (query) => {
    await query(`set local role ${vaultRole}`);
    await query("delete from cards");
    await query("savepoint before");
    await assert.rejects(query("select from orders"), /permission denied/);
    await query("rollback to before");
  });
});

test("a key is closed after the statements that write with it, and never under a card", async () => {
  await listCardKeys(cell.query, [7]);
  let isClosed = false;
  let closing: Promise<boolean> | undefined;
  await cell.transaction(async (query) => {
    const usable = await query(`with ${lockUsableKeys("$1::int[]")} select id from usable`, [[7]]);
    assert.equal(usable.length, 1);
    closing = closeCardKey(cell, 7).then((result) => {
      isClosed = true;
      return result;
    });
    while ((await query(waiting)).length === 0);
    assert.equal(isClosed, false);
    await query(insertCard, [1, 7]);
  });

  assert.equal(await closing, false);
  await cell.query("delete from cards");
  assert.equal(await closeCardKey(cell, 7), true);
  // A late writer lists the key again and is refused nevertheless.
  await listCardKeys(cell.query, [7]);
  const usable = `with ${lockUsableKeys("$1::int[]")} select from usable`;
  assert.deepEqual(await cell.query(usable, [[7]]), []);
});

test("pending card data is written under a new key, and never under a destroyed one", async () => {
  const { put } = makePendingCardStore(cell.query);
  const row = { context: "1/1", sealed: Buffer.from("a"), sealedKey: Buffer.from("b") };
  const expiresAt = asInstant(1_900_000_000_000);

  await put({ ...row, keyId: 8 }, expiresAt);
  assert.equal(await closeCardKey(cell, 8), false);
  await cell.query("delete from held_keys");
  await cell.query("delete from held_secrets");
  assert.equal(await closeCardKey(cell, 8), true);

  await assert.rejects(put({ ...row, keyId: 8 }, expiresAt), /key 8 is destroyed/);
  assert.deepEqual(await cell.query("select from held_keys"), []);
  assert.deepEqual(await cell.query("select from held_secrets"), []);
});

const insertCard = `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
  values (1, $1, $2, '', '')`;

const waiting = "select from pg_locks where not granted";
