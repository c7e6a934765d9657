/** Connections use the server that takes writes, and time limits are the client's. */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { startDatabase, startOwn } from "../testing/database-for-tests.ts";
import { examineServers } from "./connections.ts";
import { type Database, openDatabase } from "./database.ts";
import { judge } from "./faults.ts";

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

test("no connection to a cell on Citus asks for generic plans, which Citus cannot make", async () => {
  const modes = async (onCitus: boolean) => {
    const database = openDatabase(served.url, { ...options, onCitus });
    opened.push(database);
    const { query, hot, add } = database;
    const asked = [query, hot, add].map((ask) => ask<{ mode: string }>(planMode));
    return (await Promise.all(asked)).map(([row]) =>
      row?.mode.replace("force_generic_plan", "generic"),
    );
  };

  assert.deepEqual(await modes(true), ["auto", "auto", "auto"]);
  assert.deepEqual(await modes(false), ["auto", "generic", "generic"]);
});

const planMode = "select current_setting('plan_cache_mode') as mode";

function behind(...hosts: readonly string[]): string {
  return served.url.replace("@", `@${hosts.map((host) => `${host},`).join("")}`);
}

test("a refusing server and a silent one are skipped and not asked again", async () => {
  const { query, connect } = open(behind("127.0.0.1:1", silentHost));

  const rows = await query("select 1 as one");
  const asked = sockets.length;
  const client = await connect();
  await client.end();

  assert.deepEqual(rows, [{ one: 1 }]);
  assert.equal(sockets.length, asked);
});

test("if no server takes writes, the error names each with its reason, and a later try may succeed", async () => {
  const url = served.url.replace(/@.*\//, `@127.0.0.1:1,${silentHost}/`);

  const error = await open(url)
    .query("select 1")
    .catch((caught) => caught);

  assert.equal(judge(error), "retry");
  assert.match(error.message, /^127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: .*timeout/);
});

test("a statement that takes too long is abandoned with its connection, and the server ends it", async () => {
  const { query } = open(served.url, 300);
  const [before_] = await query<{ pid: number }>("select pg_backend_pid() as pid");

  const error = await served.database.transaction(async (inside) => {
    await inside("lock table orders in exclusive mode");
    const given = await query("delete from orders").catch((caught) => caught);
    // The lock is held until then, so the statement does not end by itself.
    await untilGone(served.database, before_?.pid);
    return given;
  });
  const [now] = await query<{ pid: number }>("select pg_backend_pid() as pid");

  assert.equal(judge(error), "retry");
  assert.notEqual(now?.pid, before_?.pid);
});

test("a connection that is ready too late for one query serves the next one", async (t) => {
  const line = await startSlowLine(served.url);
  t.after(line.close);
  const { query } = open(line.url);
  const late: unknown[] = [];
  const ask = () => query("select 1").catch((error) => late.push(error));

  // Queries arrive while connections are slow, and some callers give up before they get one.
  line.hold();
  const asked: Promise<unknown>[] = [];
  for (let count = 0; count < 60; count += 1) {
    asked.push(ask());
    await pause(options.connectTimeoutMs / 10);
    if (count % 13 === 12) line.pass();
    else line.hold();
  }
  line.pass();
  await Promise.all(asked);
  assert.ok(late.length > 0, "no query was late");

  const both = await Promise.all([query("select 1"), query("select 1")]);
  assert.equal(both.flat().length, options.poolSize);
});

async function startSlowLine(url: string) {
  // The folder of the server's socket replaces the host in the address.
  const [, place = ""] = /@([^/]+)\//.exec(url) ?? [];
  const socketPath = `${decodeURIComponent(place.replace(/:\d+$/, ""))}/.s.PGSQL.5432`;
  const held: (() => void)[] = [];
  const ends = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect(socketPath);
    let isReady = false;
    for (const end of [near, far]) ends.add(end.on("error", () => undefined));
    near.on("close", () => far.destroy()).pipe(far);
    far.on("close", () => near.destroy());
    far.on("data", (bytes: Buffer) => {
      if (isHeld && isReady) held.push(() => near.write(bytes));
      else near.write(bytes);
      isReady ||= bytes.includes(readyForQuery);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" ? address?.port : "";
  return {
    url: url.replace(place, `127.0.0.1:${own}`),
    hold: () => {
      isHeld = true;
    },
    pass: () => {
      isHeld = false;
      for (const write of held.splice(0)) write();
    },
    close: () => {
      for (const end of ends) end.destroy();
      server.close();
    },
  };
}

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);

test("a commit that waits for its standby continues to wait after its client has gone", async () => {
  const server = await startOwn();
  const watcher = openDatabase(server.url, options);
  await watcher.query("create table kept (id integer)");
  await watcher.query("alter system set synchronous_standby_names = 'nobody'");
  await watcher.query("select pg_reload_conf()");
  const checkOften = "set client_connection_check_interval = '20ms'";
  const [waiting, blocked] = [await connectTo(server.url), await connectTo(server.url)];
  for (const client of [waiting, blocked]) await client.query(checkOften);
  await waiting.query("set synchronous_commit = on");
  const [held, freed] = [await pidOf(waiting), await pidOf(blocked)];

  waiting.query("insert into kept values (1)").catch(() => undefined);
  const standbyWait = "select from pg_stat_activity where wait_event = 'SyncRep' and pid = $1";
  while ((await watcher.query(standbyWait, [held])).length === 0);
  blocked.query("select pg_sleep(3600)").catch(() => undefined);
  for (const client of [waiting, blocked]) client.connection.stream.destroy();
  // The server has noticed the lost connection and has ended the statement that is no commit.
  await untilGone(watcher, freed);
  const stillThere = await watcher.query(standbyWait, [held]);
  const seen = await watcher.query("select from kept");
  await watcher.query("alter system set synchronous_standby_names = ''");
  await watcher.query("select pg_reload_conf()");
  await untilGone(watcher, held);
  const written = await watcher.query("select from kept");
  await watcher.close();
  await server.stop();

  assert.equal(stillThere.length, 1, "the wait was ended early");
  assert.equal(seen.length, 0);
  assert.equal(written.length, 1);
});

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}

async function untilGone({ query }: Database, pid: number | undefined): Promise<void> {
  while ((await query("select from pg_stat_activity where pid = $1", [pid])).length > 0);
}

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
