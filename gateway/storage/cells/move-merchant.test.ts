/** A merchant is moved to another cell and back, even if the move is interrupted at any point. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asMerchantId, asOrderId } from "../../values/ids.ts";
import { findByNumber, makeFindOrders } from "../orders/find-orders.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { countAll, fill, none } from "../testing/stored-rows.ts";
import { type Cells, makeCells } from "./cells.ts";
import { abortMove, listMoves, moveMerchant } from "./move-merchant.ts";

const merchant = asMerchantId("101");
const neighbour = asMerchantId("102");
const places = ["main", "other"].map((name) => ({ name, url: undefined }));
const map = { cells: places, cellOf: new Map() };
let server: DatabaseForTests;
let other: Database;
let cells: Cells;

before(async () => {
  server = await startDatabase();
  other = await server.addCell("cell_other");
  const { query } = server.database;
  await query("insert into cells (name) values ('other')");
  await query("insert into vault.keys (id, purpose, sealed) values (1, 'cards', '')");
  await query(
    `insert into merchants (id, login, name, control_key)
     values (101, 'a', 'A', ''), (102, 'b', 'B', '')`,
  );
  cells = makeCells({
    main: { node: server.database, vault: server.database },
    open: () => ({ node: other, vault: other }),
    waitMs: 100,
    onFailed: () => undefined,
  });
  cells.follow({ current: () => map, reload: async () => undefined });
  await fill(server.database, 101, 1200);
  await fill(server.database, 102, 10);
});

after(() => server.stop());

test("a move that is interrupted at any point can be continued and loses nothing", async () => {
  const rows = await countAll(server.database, 101);
  const neighbours = await countAll(server.database, 102);

  for (let steps = 1; ; steps += 1) {
    let left = steps;
    const report = () => {
      left -= 1;
      if (left === 0) throw new Error("cut short");
    };
    const done = await move("other", report).then(
      () => true,
      (error) => {
        if (error.message !== "cut short") throw error;
        return false;
      },
    );
    if (done) break;
  }

  assert.deepEqual(await countAll(other, 101), rows);
  assert.deepEqual(await countAll(server.database, 101), none);
  assert.deepEqual(await countAll(server.database, 102), neighbours);
  const [row] = await server.database.query("select cell from merchants where id = 101");
  assert.deepEqual(row, { cell: "other" });
  assert.deepEqual(await server.database.query("select from merchant_moves"), []);
  // The new cell searches again for orders that no node has indexed.
  const isSwept = "select from order_index_progress where swept_at > now() - interval '4 minutes'";
  assert.deepEqual(await other.query(isSwept), []);
});

test("a node with an old configuration can neither read nor write in the previous cell", async () => {
  const key = { merchantId: merchant, orderId: asOrderId("101000001") };

  await assert.rejects(makeFindOrders(server.database.hot).byId(key), { code: "22012" });
  const elsewhere = await makeFindOrders(other.hot).findExisting(merchant, "order-1");
  assert.equal(elsewhere.length, 1);
});

test("rows that change, appear or disappear after the first copy are the same in the new cell", async () => {
  const changes = [
    step("101, 101000001, 7"),
    "update callbacks set tries = 3 where order_id = 101001100",
    "delete from cards where id = 101000500",
    `insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url,
       duration_ms) values (101, 101000700, 1, now(), 'a', 'GET', '', 1),
         (101, 101000700, 1, now(), 'b', 'GET', '', 1)`,
    // An erasure of a person writes these changes.
    step("101, 101000600, 2"),
    `update order_history set events = '[{"erased":1}]' where order_id = 101000600 and version = 1`,
  ];
  await move("main", async (progress) => {
    if (!progress.startsWith("Stopping")) return;
    for (const change of changes) await other.query(change);
  });

  const found = await server.database.query<{ value: string }>(
    `select version::text as value from orders where id = 101000001
     union all select tries::text from callbacks where order_id = 101001100
     union all select count(*)::text from cards where merchant_id = 101
     union all select count(*)::text from callback_attempts where merchant_id = 101
     union all select string_agg(events::text, '' order by version) from order_history
       where order_id = 101000600`,
  );
  const values = found.map(({ value }) => value);
  assert.deepEqual(values, ["7", "3", "1199", "2", '[{"erased":1}][]']);
  assert.deepEqual(await countAll(other, 101), none);
  assert.equal((await countAll(server.database, 101))[0], 1200);
});

test("a move is taken back from any point before the switch, and not after it", async () => {
  const { database } = server;
  const rows = await countAll(database, 102);
  const abort = () => abortMove({ main: database, cells }, neighbour, () => undefined);
  const stateOf = async () =>
    (await listMoves({ main: database, cells })).map((each) => each.state);
  const dies = async () => assert.fail("killed");
  const diesAt = (point: string) => async (progress: string) => {
    if (progress.startsWith(point)) await dies();
  };
  assert.equal(await abort(), "none");

  for (const [point, state] of [
    ["Copying", "copying"],
    ["Stopping", "copying"],
    ["the switch", "stopped"],
  ]) {
    const main = point === "the switch" ? { ...database, transaction: dies } : database;
    const moving = moveMerchant({ main, cells }, neighbour, "other", diesAt(point ?? ""));
    await assert.rejects(moving, /killed/);
    assert.deepEqual(await stateOf(), [state]);
    assert.equal(await abort(), "aborted");
    assert.deepEqual(await stateOf(), []);
    const found = await makeFindOrders(database.hot).findExisting(neighbour, "order-1");
    assert.equal(found.length, 1);
    assert.deepEqual(await countAll(database, 102), rows);
    assert.deepEqual(await countAll(other, 102), none);
  }

  await assert.rejects(move("other", diesAt("The merchant lives"), neighbour), /killed/);
  assert.deepEqual(await stateOf(), ["stopped"]);
  assert.equal(await abort(), "switched");
  await assert.rejects(move("other", diesAt("Deleting"), neighbour), /killed/);
  assert.deepEqual(await stateOf(), ["switched"]);
  await move("other", () => undefined, neighbour);
  await move("main", () => undefined, neighbour);
  assert.deepEqual(await countAll(database, 102), rows);
});

test("no document changes alone: the sums of a move do not cover documents", async () => {
  const rows = await other.query<{ name: string }>(
    `select distinct table_name || '.' || column_name as name
     from information_schema.columns join pg_class on relname = table_name
       and relnamespace = 'cell_other'::regnamespace and not relispartition
     where table_schema = 'cell_other' and data_type in ('json', 'jsonb') order by name`,
  );

  // A new column must be covered by `copy-rows.ts` before it is added here.
  assert.deepEqual(
    rows.map(({ name }) => name),
    [
      "card_references.facts", // erased together with `destroyed_at`
      "order_history.events", // erased together with a new row of the same order
      "orders.facts",
      "orders.progress",
      "refused_requests.document", // never changed
      "requests.answer", // never changed
    ],
  );
});

test("an order whose writer commits after the fence is in the new cell", async () => {
  const begun = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const writer = server.database.transaction(async (query) => {
    await query(addLate);
    begun.resolve();
    await late.promise;
  });
  await begun.promise;
  let isOver = false;
  const moving = move("other", () => undefined, neighbour).finally(() => {
    isOver = true;
  });
  // A move that does not wait for the writer ends long before the third time-out of the lock.
  const waits = new Set<unknown>();
  while (waits.size < 3 && !isOver) {
    const rows = await server.database.query<{ by: string }>(waiting);
    for (const { by } of rows) waits.add(by);
  }
  late.resolve();
  await Promise.all([writer, moving]);

  assert.equal((await other.query("select from orders where id = 777000001")).length, 1);
});

function step(key: string): string {
  const [, id, version] = key.split(", ");
  return `with moved as (update orders set version = ${version} where id = ${id})
    insert into order_history values (${key}, now(), 'n', '[]')`;
}

const alike = `endpoint_id, attempt, digest, digest_key, changed_at, version, kind, stage, amount,
  currency, accepted_at, facts, progress`;
const addLate = `
with late as (
  insert into orders (merchant_id, id, client_orderid, ${alike})
  select merchant_id, 777000001, 'late', ${alike} from orders where id = 102000001
)
insert into order_history values (102, 777000001, 1, now(), 'n', '[]')`;

test("a search by number never answers with a copy that may be stale", async () => {
  const stores = cells.stores(({ node }) => node.query);
  const search = () => stores.search((query) => findByNumber(query, 777_000_001));
  const seen: (number | string | undefined)[] = [];

  await move(
    "main",
    async (progress) => {
      if (progress.startsWith("Copying")) return;
      if (progress.startsWith("Stopping")) {
        await other.query(step("102, 777000001, 9"));
        await assert.rejects(findByNumber(server.database.query, 777_000_001), { code: "55006" });
      }
      const found = search().then((order) => order?.version);
      seen.push(await found.catch((error) => error.code));
    },
    neighbour,
  );

  // The order was in the old cell, in none while both were fenced, and at last in the new one.
  assert.deepEqual(seen, [9, "55006", 9]);
  assert.equal((await search())?.version, 9);
});

test("a merchant whose last copy fails goes on in its old cell, and is moved later", async () => {
  const { query } = server.database;
  await other.query(forget("order_history"));
  await assert.rejects(
    move("other", () => undefined, neighbour),
    /still differ/,
  );

  const found = await makeFindOrders(query).findExisting(neighbour, "late");
  assert.equal(found.length, 1);
  await assert.rejects(makeFindOrders(other.hot).findExisting(neighbour, "late"), {
    code: "22012",
  });

  await other.query("drop rule forgets on order_history");
  await move("other", () => undefined, neighbour);
  const moved = await makeFindOrders(other.hot).findExisting(neighbour, "late");
  assert.equal(moved.length, 1);
});

test("of two runs of a move, only the later switches, and neither lifts the other's fence", async () => {
  const { query } = server.database;
  const fenced = "select from moved_merchants where merchant_id = 102";
  const runAgain = async (progress: string) => {
    if (!progress.startsWith("Stopping")) return;
    await query("update merchant_moves set begun_at = clock_timestamp() where merchant_id = 102");
  };
  await assert.rejects(move("main", runAgain, neighbour), /another run/);
  await other.query("delete from moved_merchants where merchant_id = 102");

  await query(forget("order_history"));
  await query("delete from order_history where merchant_id = 102");
  let isOver = false;
  const failing = move("main", () => undefined, neighbour).finally(() => {
    isOver = true;
  });
  const failed = assert.rejects(failing, /still differ/);
  while (!isOver && (await other.query(fenced)).length === 0);
  await other.query("update moved_merchants set moved_at = clock_timestamp()");
  await failed;
  assert.equal((await other.query(fenced)).length, 1);

  await query("drop rule forgets on order_history");
  await move("main", () => undefined, neighbour);
});

test("a run that was suspended while another ended, aborted or began a move changes nothing", async () => {
  const { database } = server;
  const rows = await countAll(database, 102);
  const sleeps = (until: string, to: string, meanwhile: () => Promise<unknown>) =>
    assert.rejects(
      move(
        to,
        async (progress) => {
          if (progress.startsWith(until)) await meanwhile();
        },
        neighbour,
      ),
      /another run/,
    );
  const run = (to: string) => move(to, () => undefined, neighbour);
  const abort = () => abortMove({ main: database, cells }, neighbour, () => undefined);

  for (const until of ["Copying", "Stopping"]) {
    await sleeps(until, "other", abort);
    assert.deepEqual(await countAll(database, 102), rows);
    assert.deepEqual(await countAll(other, 102), none);
    const found = await makeFindOrders(database.hot).findExisting(neighbour, "order-1");
    assert.equal(found.length, 1);

    await sleeps(until, "other", () => run("other"));
    assert.deepEqual(await countAll(other, 102), rows);
    await run("main");
  }
  for (const until of ["The merchant lives", "Deleting"]) {
    await sleeps(until, "other", async () => {
      await run("other");
      await run("main");
    });
    assert.deepEqual(await countAll(database, 102), rows);
    assert.deepEqual(await countAll(other, 102), none);
    // The cell that the merchant has left stays fenced.
    const left = makeFindOrders(other.hot).findExisting(neighbour, "order-1");
    await assert.rejects(left, { code: "22012" });
  }
});

test("rows that expire during the move do not delay it, and no due row is copied without its order", async () => {
  const { query } = server.database;
  await query("insert into oauth_nonces values (102, 'n', now())");
  await other.query(forget("oauth_nonces"));
  await other.query(`
    create function refuse_early() returns trigger language plpgsql as $$ begin
      if not exists (select from cell_other.orders where id = new.order_id) then
        raise 'due before its order';
      end if;
      return new;
    end $$`);
  await other.query(`create trigger early before insert on due
    for each row execute function refuse_early()`);

  await move("other", () => undefined, neighbour);

  const [row] = await query("select cell from merchants where id = 102");
  assert.deepEqual(row, { cell: "other" });
});

test("texts that the cells sort differently are all copied", async () => {
  await other.query("drop rule forgets on oauth_nonces");
  await other.query('alter table oauth_nonces alter nonce type text collate "und-x-icu"');
  await other.query(`
    insert into oauth_nonces
    select 102, case when n % 2 = 0 then 'a' else 'B' end || n, now()
    from generate_series(1, 2500) as n`);

  await move("main", () => undefined, neighbour);

  const found = await server.database.query("select from oauth_nonces where merchant_id = 102");
  assert.equal(found.length, 2500);
});

test("a run ends if the old cell's server becomes unreachable after the fence, and another run continues", async () => {
  const { database } = server;
  const rows = await countAll(database, 102);
  const away = openDatabase("postgres://127.0.0.1:1/away", {
    poolSize: 1,
    connectTimeoutMs: 1000,
    onLost: () => undefined,
  });
  const goesAway = makeCells({
    main: { node: { ...database, transaction: away.transaction }, vault: database },
    open: () => ({ node: other, vault: other }),
    waitMs: 100,
    onFailed: () => undefined,
  });
  goesAway.follow({ current: () => map, reload: async () => undefined });

  const moving = moveMerchant({ main: database, cells: goesAway }, neighbour, "other", () => {});
  await assert.rejects(moving, { code: "ECONNREFUSED" });
  await move("other", () => undefined, neighbour);

  assert.deepEqual(await countAll(other, 102), rows);
  await away.close();
});

/** Makes a table lose each row at once, as if a job of a node had deleted it. */
function forget(table: string): string {
  return `create rule forgets as on insert to ${table} do instead nothing`;
}

const waiting = `
select virtualtransaction as by from pg_locks where not granted and mode = 'ShareLock'
  and database = (select oid from pg_database where datname = current_database())`;

function move(to: string, report: Parameters<typeof moveMerchant>[3], id = merchant) {
  return moveMerchant({ main: server.database, cells }, id, to, report);
}
