/** Partitions by month in a real database: made ahead, filled by time, dropped whole. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { asInstant, calendar, type Instant, later, monthStart } from "../../values/time.ts";
import { openDatabase } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { nodeRole, separateVault } from "./database-roles.ts";
import {
  dropPartitions,
  listPartitions,
  makePartitions,
  type PartitionedTable,
  partitionedTables,
  partitionOf,
  serialAt,
} from "./partitions.ts";

const { database, url, stop } = await startDatabase();
after(stop);
const { query } = database;
await separateVault(database);
// This connection has the role of a node, which may not change tables.
const node = openDatabase(url, {
  poolSize: 2,
  connectTimeoutMs: 5000,
  onLost: () => undefined,
  role: nodeRole,
});
after(() => node.close());

/** A time that is years later than all partitions of this test's database. */
const january = asInstant(1_924_992_000_000);
const [february, june] = [monthStart(january, 1), monthStart(january, 5)];

test("one node makes the partitions of this month and the next three once", async () => {
  const made = await makePartitions(node, later(january, 999));

  assert.equal(calendar(january).iso, "2031-01-01T00:00:00.000Z");
  assert.deepEqual(made.slice(0, 4), [
    "order_history_2031_01",
    "order_history_2031_02",
    "order_history_2031_03",
    "order_history_2031_04",
  ]);
  assert.equal(made.length, 4 * partitionedTables.length);
  assert.deepEqual(await makePartitions(node, later(january, 999)), []);
  assert.equal((await makePartitions(node, february)).length, partitionedTables.length);
});

for (const table of partitionedTables) {
  test(`a row of ${table} is in its month, to the millisecond`, async () => {
    for (const at of [january, later(february, -1), february]) await add(table, at);

    assert.deepEqual(await placesOf(table), [
      `${table}_2031_01`,
      `${table}_2031_01`,
      `${table}_2031_02`,
    ]);
  });
}

test("rows that came before their partition existed are moved into it", async () => {
  for (const table of partitionedTables) {
    await add(table, june);
    assert.ok((await placesOf(table)).includes(`${table}_default`));
  }

  await makePartitions(node, monthStart(june, -3));

  for (const table of partitionedTables) {
    assert.ok((await placesOf(table)).includes(`${table}_2031_06`));
    assert.ok(!(await placesOf(table)).includes(`${table}_default`));
  }
});

test("a row that is written while two nodes make its partition is in it, and neither node fails", async () => {
  const july = monthStart(june, 1);
  const made = await database.transaction(async (inside) => {
    await add("order_history", july, inside);
    const making = [makeUntilFree(monthStart(july, -3)), makeUntilFree(monthStart(july, -3))];
    while ((await query(waiting)).length === 0);
    return making;
  });
  const names = (await Promise.all(made)).flat();

  assert.deepEqual(
    names.filter((name) => name.endsWith("2031_07")).sort(),
    partitionedTables.map((table) => `${table}_2031_07`).sort(),
  );
  assert.ok((await placesOf("order_history")).includes("order_history_2031_07"));
  await query("delete from order_history where at >= '2031-07-01'");
});

const waiting = `select from pg_locks
  where not granted and relation = 'order_history_default'::regclass`;

/** Tries again while a payment holds the lock for longer than a node waits. */
function makeUntilFree(now: Instant): Promise<readonly string[]> {
  return makePartitions(node, now).catch((error) => {
    if (error.code !== "55P03") throw error;
    return makeUntilFree(now);
  });
}

for (const table of partitionedTables) {
  test(`only months of ${table} that are over are dropped`, async () => {
    const early = await dropPartitions(node, table, later(february, -1));
    const dropped = await dropPartitions(node, table, february);

    // The partitions are those of the present months, and one with all older rows.
    const first = ({ name }: { name: string }) => name.includes("_until_");
    assert.ok(early.length > 1 && !(await listPartitions(query)).some(isOf(table, first)));
    assert.deepEqual(dropped, [`${table}_2031_01`]);
    assert.deepEqual(await placesOf(table), [`${table}_2031_02`, `${table}_2031_06`]);
  });
}

test("every partition has a primary key and the settings of the vacuum", async () => {
  const rows = await query<{ name: string }>(
    `select relname as name from pg_class
     where relispartition and relkind = 'r' and relname ~ '_20' and (reloptions is null
       or not exists (select from pg_index where indrelid = pg_class.oid and indisprimary))`,
  );
  assert.deepEqual(rows, []);
});

test("the bounds are those of the month", () => {
  assert.deepEqual(partitionOf("requests", later(january, 1)), {
    name: "requests_2031_01",
    from: `'${serialAt(january)}'`,
    until: `'${serialAt(february)}'`,
  });
  assert.equal(serialAt(asInstant(0x0195933a7c48)), "0195933a-7c48-0000-0000-000000000000");
});

function isOf(table: PartitionedTable, also: (partition: { name: string }) => boolean) {
  return (partition: { table: string; name: string }) =>
    partition.table === table && also(partition);
}

let order = 0;

async function add(table: PartitionedTable, at: Instant, through = query): Promise<void> {
  order += 1;
  // biome-ignore format: a table
  const statements = {
    order_history:     "(merchant_id, order_id, version, at, node, events) values (7, $1, 1, $2, 'a', '[]')",
    callback_attempts: "(merchant_id, order_id, sequence, at, node, method, url, duration_ms) values (7, $1, 1, $2, 'a', 'GET', '', 1)",
    requests:          "(merchant_id, order_id, endpoint_id, operation, at, answer, serial) values (7, $1, 1, 'sale', $2, '{}', $3)",
  };
  const serial = table === "requests" ? [serialAt(at)] : [];
  const values = [order, calendar(at).iso.replace("000Z", `${at % 1000}Z`), ...serial];
  await through(`insert into ${table} ${statements[table]}`, values);
}

async function placesOf(table: PartitionedTable): Promise<readonly string[]> {
  const rows = await query<{ place: string }>(
    `select tableoid::regclass::text as place from ${table} order by at`,
  );
  return rows.map(({ place }) => place);
}
