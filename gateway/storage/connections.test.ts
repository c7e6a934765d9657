/** Connections go to the server that takes writes, and time limits are the client's. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { examineServers } from "./connections.ts";
import { type Database, openDatabase } from "./database.ts";
import { judge } from "./faults.ts";
import { startDatabase } from "./testing/database-for-tests.ts";

const options = { poolSize: 2, connectTimeoutMs: 500, onLost: () => undefined };
const silent = createServer((socket) => sockets.push(socket));
const sockets: Socket[] = [];
let served: Awaited<ReturnType<typeof startDatabase>>;
let silentHost = "";
const opened: Database[] = [];

before(async () => {
  served = await startDatabase();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  silentHost = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});

after(async () => {
  for (const database of opened) await database.close();
  for (const socket of sockets) socket.destroy();
  silent.close();
  await served.stop();
});

function open(url: string, statementTimeoutMs?: number): Database {
  const database = openDatabase(url, { ...options, statementTimeoutMs });
  opened.push(database);
  return database;
}

/** The address of the test's database, with servers before its own. */
function behind(...hosts: readonly string[]): string {
  return served.url.replace("@", `@${hosts.map((host) => `${host},`).join("")}`);
}

test("a server that refuses and one that is silent are passed over, and not asked again", async () => {
  const { query, connect } = open(behind("127.0.0.1:1", silentHost));

  const rows = await query("select 1 as one");
  const asked = sockets.length;
  const client = await connect();
  await client.end();

  assert.deepEqual(rows, [{ one: 1 }]);
  assert.equal(sockets.length, asked);
});

test("when no server takes writes each is named with its reason, and the work can be done later", async () => {
  const url = served.url.replace(/@.*\//, `@127.0.0.1:1,${silentHost}/`);

  const error = await open(url)
    .query("select 1")
    .catch((caught) => caught);

  assert.equal(judge(error), "retry");
  assert.match(error.message, /^127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: .*timeout/);
});

test("a statement that takes too long is given up with its connection, and never cancelled", async () => {
  const { query } = open(served.url, 300);
  const [before_] = await query<{ pid: number }>("select pg_backend_pid() as pid");

  const error = await query("select pg_sleep(10)").catch((caught) => caught);
  const [now] = await query<{ pid: number }>("select pg_backend_pid() as pid");
  const running = await served.database.query(
    "select from pg_stat_activity where pid = $1 and query like '%pg_sleep%' and state = 'active'",
    [before_?.pid],
  );

  assert.equal(judge(error), "retry");
  assert.notEqual(now?.pid, before_?.pid);
  assert.equal(running.length, 1, "the server was told to stop it");
});

test("the server's own time limit is off, also where the database sets one", async () => {
  const [row] = await served.database.query<{ name: string }>("select current_database() as name");
  await served.database.query(`alter database "${row?.name}" set statement_timeout = '1s'`);

  const rows = await open(served.url).query("show statement_timeout");

  assert.deepEqual(rows, [{ statement_timeout: "0" }]);
});

test("an operator sees what each server says", async () => {
  const states = await examineServers(behind("127.0.0.1:1"), 500);

  assert.deepEqual(
    states.map(({ isWritable }) => isWritable),
    [false, true],
  );
  assert.match(states[0]?.state ?? "", /ECONNREFUSED/);
  assert.equal(states[1]?.state, "takes writes");
});
