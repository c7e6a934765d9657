/** The sandbox bank as a program: how it reports that it is ready, and how it ends. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startTestBank } from "./testing/bank-for-tests.ts";
import { binaryDialect, charge, TestGateway } from "./testing/gateway.ts";

type Cleanup = { after(clean: () => Promise<void>): void };

async function run(t: Cleanup, settings: Record<string, string>) {
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-main-"));
  const program = join(import.meta.dirname, "main.ts");
  const names = ["", "_HOST", "_BINARY_HOST", "_ISO93_HOST", "_DIRECTORY"];
  const ports = Object.fromEntries(names.map((name) => [`GW_BANK${name}_PORT`, "0"]));
  const env = { ...process.env, ...ports, GW_DATA_DIR: dataDir, ...settings };
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  });
  return { child, exited };
}

async function readFirst(stream: ChildProcess["stdout"]): Promise<string> {
  const [chunk] = stream === null ? [] : await once(stream, "data");
  return String(chunk);
}

test("the program says when it is ready and ends on SIGTERM", async (t) => {
  const { child, exited } = await run(t, {});
  const ready = JSON.parse(await readFirst(child.stdout));
  assert.equal(ready.bank, "ready");
  assert.equal((await fetch(`${ready.url}/switches`)).status, 200);
  const gateway = await TestGateway.signOn(Number(ready.host.split(":")[1]));
  assert.equal((await gateway.ask(charge())).fields[39], "00");
  const binary = await TestGateway.signOn(Number(ready.binaryHost.split(":")[1]), binaryDialect);
  assert.equal((await binary.ask(binary.charge())).fields[39], "00");
  assert.deepEqual(Object.keys(ready), [
    "bank",
    "url",
    "host",
    "binaryHost",
    "iso93Host",
    "directory",
  ]);
  const directory = connect(Number(new URL(ready.directory).port), "127.0.0.1");
  await once(directory, "connect");

  child.kill("SIGTERM");

  assert.deepEqual(await exited, [0, null]);
});

test("a program that follows its standard input ends with it", async (t) => {
  const { child, exited } = await run(t, { GW_BANK_FOLLOW_STDIN: "1" });
  await readFirst(child.stdout);

  child.stdin.end();

  assert.deepEqual(await exited, [0, null]);
});

test("a port in use ends the program with code 2 and one sentence", async (t) => {
  const other = await startTestBank(t);
  const { child, exited } = await run(t, { GW_BANK_PORT: String(other.httpPort) });

  const sentence = await readFirst(child.stderr);

  assert.match(sentence, /^The sandbox bank cannot listen on 127\.0\.0\.1:\d+: it is in use\.\n$/);
  assert.deepEqual(await exited, [2, null]);
});

test("an invalid port ends the program with code 2 and one sentence", async (t) => {
  const { child, exited } = await run(t, { GW_BANK_HOST_PORT: "eight" });

  assert.equal(
    await readFirst(child.stderr),
    "GW_BANK_HOST_PORT takes a port number from 0 to 65535.\n",
  );
  assert.deepEqual(await exited, [2, null]);
});
