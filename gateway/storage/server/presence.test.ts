/** Two running nodes never have the same name, even after they lose their connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { notifyNodes } from "../configuration/configuration.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { type Database, openDatabase } from "./database.ts";
import { NodeNameTaken, takePresence } from "./presence.ts";

const { database, url, stop } = await startDatabase();
after(stop);

type Options = Partial<Parameters<typeof takePresence>[1]>;

async function join(t: TestContext, options: Options, connecting = database.connect) {
  const events: string[] = [];
  const node = await takePresence(
    { connect: connecting },
    {
      names: ["one"],
      waitMs: 0,
      checkMs: 60_000,
      onLost: () => events.push("lost"),
      onRenamed: ({ from, to }) => events.push(`${from} is ${to}`),
      ...options,
    },
  );
  t.after(() => node.stop());
  return { node, events };
}

/** Cuts connections as a failover or an administrator does. */
async function cutConnections(): Promise<void> {
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like 'select pid, backend_start%'`,
  );
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(5);
}

test("a second node of the same name does not start", async (t) => {
  const { node } = await join(t, {});

  await assert.rejects(join(t, {}), NodeNameTaken);
  await node.stop();
  const again = await join(t, {});

  assert.equal(again.node.name, "one");
});

test("a node waits for the process that is ending under its name", async (t) => {
  const { node } = await join(t, {});

  const waiting = join(t, { waitMs: 60_000 });
  await pause(0);
  await node.stop();

  assert.equal((await waiting).node.name, "one");
});

test("a node takes the first free name of several", async (t) => {
  const names = ["one", "two", "three"];

  const nodes = await Promise.all([join(t, { names }), join(t, { names }), join(t, { names })]);

  assert.deepEqual(nodes.map(({ node }) => node.name).sort(), ["one", "three", "two"]);
});

test("a node that lost its connection takes its name again, and misses no notice", async (t) => {
  const { node, events } = await join(t, {});
  let notices = 0;
  node.follow(() => {
    notices += 1;
  });

  await cutConnections();
  await until(() => notices === 1);
  await notifyNodes(database.query);
  await until(() => notices === 2);

  assert.equal(node.name, "one");
  assert.deepEqual(events, ["lost"]);
  await assert.rejects(join(t, {}), NodeNameTaken);
});

test("a notice that came before the node was ready for it is not lost", async (t) => {
  const { node } = await join(t, {});
  const other = await join(t, { names: ["other"] });
  let heard = 0;
  other.node.follow(() => {
    heard += 1;
  });
  await notifyNodes(database.query);
  await until(() => heard > 0);
  let notices = 0;

  node.follow(() => {
    notices += 1;
  });

  await until(() => notices === 1);
});

test("a node whose name was taken by another one continues under the next free name", async (t) => {
  let isAway = false;
  const { promise, resolve: comeBack } = Promise.withResolvers<void>();
  const comingBack: Database["connect"] = async () => {
    if (isAway) await promise;
    return database.connect();
  };
  const { node, events } = await join(t, {}, comingBack);

  isAway = true;
  await cutConnections();
  await until(() => events.length === 1);
  const thief = await join(t, { waitMs: 60_000 });
  comeBack();
  await until(() => events.length === 2);

  assert.equal(thief.node.name, "one");
  assert.equal(node.name, "one-2");
  assert.deepEqual(events, ["lost", "one is one-2"]);
});

test("a connection that does not answer is replaced, and the session behind it is ended", async (t) => {
  const proxy = await startProxy(t);
  const options = { poolSize: 1, connectTimeoutMs: 5_000, onLost: () => undefined };
  const far = openDatabase(proxy.url, options);
  t.after(() => far.close());
  const { node, events } = await join(t, { checkMs: 50 }, far.connect);
  let notices = 0;
  node.follow(() => {
    notices += 1;
  });

  proxy.silence();
  await until(() => notices > 0);

  assert.equal(node.name, "one");
  // On a busy machine, a healthy connection may be late as well.
  assert.deepEqual([...new Set(events)], ["lost"]);
});

/** Starts a proxy to the database that can be silenced: its open connections then carry no data. */
async function startProxy(t: TestContext) {
  const { username, password, hostname, port, pathname } = new URL(url);
  const target = `${decodeURIComponent(hostname)}/.s.PGSQL.${port}`;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) open.add(socket.on("error", () => undefined));
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`,
    silence() {
      for (const socket of open) socket.unpipe().pause();
    },
  };
}
