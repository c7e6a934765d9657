/** The embedded server is started, killed and started again as on an operator's machine. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { Problem } from "../../values/problem.ts";
import { type EmbeddedServer, findEmbeddedUrl, startEmbedded } from "./embedded.ts";
import { isAlive } from "./system.ts";

const isRoot = process.getuid?.() === 0;
const small = { shared_buffers: "16MB" };

test("the first start makes a database safe for money and closed to the network", async (t) => {
  const folder = newFolder(t);
  const server = await start(t, folder);

  const settings = await ask(
    server.url,
    `select string_agg(name || '=' || setting, ' ' order by name) as answer from pg_settings
     where name in ('data_checksums', 'fsync', 'listen_addresses', 'log_parameter_max_length',
       'log_parameter_max_length_on_error', 'server_encoding', 'synchronous_commit')`,
  );
  assert.equal(
    settings,
    "data_checksums=on fsync=on listen_addresses= log_parameter_max_length=0 " +
      "log_parameter_max_length_on_error=0 server_encoding=UTF8 synchronous_commit=on",
  );
  assert.match(await ask(server.url, "select version() as answer"), /^PostgreSQL 18\./);
  assert.equal(fs.statSync(join(dirname(folder), "postgres.password")).mode & 0o777, 0o600);
  assert.equal(findEmbeddedUrl(folder), server.url);
});

test("the second start finds the data of the first, and stopping leaves no process", async (t) => {
  const folder = newFolder(t);
  const first = await start(t, folder);
  await ask(first.url, "create table kept (answer text)");
  await ask(first.url, "insert into kept values ('still here')");
  const { pid } = first;
  await first.stop();
  assert.equal(isAlive(pid), false);
  assert.equal(findEmbeddedUrl(folder), undefined);
  assert.equal(fs.existsSync(join(folder, "postmaster.pid")), false);

  const second = await start(t, folder);

  assert.equal(await ask(second.url, "select answer from kept"), "still here");
});

test("a database killed hard together with its gateway recovers at the next start", async (t) => {
  const folder = newFolder(t);
  const gateway = await startElsewhere(t, folder);
  await ask(gateway.url, "create table kept (answer text)");
  await ask(gateway.url, "insert into kept values ('committed')");
  await beginEndlessQuery(gateway.url);
  await gateway.killHard();
  process.kill(gateway.pid, "SIGKILL");

  const server = await start(t, folder);

  assert.notEqual(server.pid, gateway.pid);
  assert.equal(await ask(server.url, "select answer from kept"), "committed");
});

test("a database left running by a killed gateway is taken over, not started twice", async (t) => {
  const folder = newFolder(t);
  const gateway = await startElsewhere(t, folder);
  const refused = await startEmbedded({ folder, report: () => {} });
  assert.ok(refused instanceof Problem);
  assert.match(refused.sentence, /Another gateway \(process \d+\) already runs .* stop it first/);
  await gateway.killHard();

  const server = await start(t, folder);

  assert.equal(server.pid, gateway.pid);
  await server.stop();
  assert.equal(isAlive(gateway.pid), false);
});

test("a database that dies while the gateway runs is started again at the same address", async (t) => {
  const reports: string[] = [];
  const server = await start(t, newFolder(t), reports);
  const { pid, url } = server;

  process.kill(pid, "SIGKILL");
  await until(() => server.pid !== pid);

  assert.equal(await ask(url, "select 'back' as answer"), "back");
  assert.ok(reports.includes("PostgreSQL ended unexpectedly; starting it again"));
});

test("a stored process id that now belongs to another program does no harm", async (t) => {
  const folder = newFolder(t);
  await (await start(t, folder)).stop();
  const note = `${process.pid}\n${folder}\n1\n5432\n/nowhere\n\n0 0\nready\n`;
  fs.writeFileSync(join(folder, "postmaster.pid"), note);
  fs.chownSync(join(folder, "postmaster.pid"), ...ownerOf(folder));

  const server = await start(t, folder);

  assert.equal(await ask(server.url, "select 'up' as answer"), "up");
});

test("the error explains a folder of another version, with other content, or that cannot be made", async (t) => {
  const newer = newFolder(t);
  fs.mkdirSync(newer);
  fs.writeFileSync(join(newer, "PG_VERSION"), "19\n");
  assert.match(await problemOf(newer), /made by PostgreSQL 19, .* PostgreSQL 18: start the /);

  const other = newFolder(t);
  fs.mkdirSync(other);
  fs.writeFileSync(join(other, "letter.txt"), "Dear all");
  assert.match(await problemOf(other), /holds something other than a database: move it away/);

  const file = join(newFolder(t), "..", "file");
  fs.writeFileSync(file, "");
  assert.match(await problemOf(join(file, "postgres")), /data folder is not .* set GW_DATA_DIR/);
});

test("the error explains a folder that this user may not open", {
  skip: isRoot ? "root may write everywhere" : false,
}, async (t) => {
  const folder = newFolder(t);
  fs.chmodSync(dirname(folder), 0o500);
  assert.match(await problemOf(folder), /data folder is not writable .* set GW_DATA_DIR/);
});

test("if root starts it, the error names a folder that the database user may not enter, and the cure", {
  skip: isRoot ? false : "only root runs the database as another user",
}, async (t) => {
  const folder = newFolder(t);
  const closed = dirname(folder);
  fs.chmodSync(closed, 0o700);

  const sentence = await problemOf(folder);

  assert.ok(sentence.includes(`may not enter ${closed}: run "chmod o+x ${closed}"`), sentence);
});

function newFolder(t: TestContext): string {
  const parent = fs.mkdtempSync(join(tmpdir(), "embedded-test-"));
  fs.chmodSync(parent, 0o755);
  t.after(() => {
    fs.chmodSync(parent, 0o755);
    fs.rmSync(parent, { recursive: true });
  });
  return join(parent, "postgres");
}

async function start(t: TestContext, folder: string, reports: string[] = []) {
  const report = (line: string) => void reports.push(line);
  const server = await startEmbedded({ folder, report, settings: small });
  if (server instanceof Problem) throw new Error(server.sentence);
  t.after(() => server.stop());
  return server;
}

async function problemOf(folder: string): Promise<string> {
  const problem = await startEmbedded({ folder, report: () => {} });
  assert.ok(problem instanceof Problem);
  return problem.sentence;
}

/** Starts a gateway in a process of its own, which can be killed without a chance to clean up. */
async function startElsewhere(
  t: TestContext,
  folder: string,
): Promise<Pick<EmbeddedServer, "pid" | "url"> & { killHard(): Promise<void> }> {
  const program = `
    const { startEmbedded } = await import(${JSON.stringify(import.meta.resolve("./embedded.ts"))});
    const folder = ${JSON.stringify(folder)};
    const settings = ${JSON.stringify(small)};
    const { pid, url } = await startEmbedded({ folder, report() {}, settings });
    console.log(JSON.stringify({ pid, url }));
    setInterval(() => {}, 60_000);`;
  const gateway = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => gateway.once("exit", resolve));
  const killHard = async () => {
    gateway.kill("SIGKILL");
    await ended;
  };
  t.after(killHard);
  const line = await new Promise<string>((resolve) =>
    gateway.stdout.once("data", (chunk) => resolve(String(chunk))),
  );
  return { ...JSON.parse(line), killHard };
}

async function ask(url: string, statement: string) {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows } = await client.query(statement);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

/** Begins a session that does not notice the end of its server, because it never waits. */
async function beginEndlessQuery(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query("create sequence progress");
  const endless = "do $$ begin loop perform nextval('progress'); end loop; end $$";
  client.query(endless).catch(() => {});
  while ((await ask(url, "select is_called as answer from progress")) !== true) await pause(20);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20);
}

function ownerOf(path: string): [number, number] {
  const { uid, gid } = fs.statSync(path);
  return [uid, gid];
}
