/**
 * A real PostgreSQL for tests: the one that the test run has started, or one of this file's own.
 * Each world gets a database of its own.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { StartProblem, startEmbedded } from "@tollgate/gateway/embedded";
import pg from "pg";

let server: Promise<string> | undefined;
let stopOwn = async (): Promise<void> => undefined;
let count = 0;

// Registered for the whole file: inside a test it would end with that test.
after(() => stopOwn());

/** The address of a new, empty database; dropped when the test run's server goes. */
export async function makeDatabase(): Promise<string> {
  server ??= findServer();
  const url = await server;
  count += 1;
  const name = `world_${process.pid}_${count}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return url.replace(/\/tollgate(?=\?|$)/, `/${name}`);
}

async function findServer(): Promise<string> {
  const given = process.env["TOLLGATE_TEST_SERVER"];
  if (given !== undefined) return given;
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  // The database runs as another user when the tests are run by root.
  await chmod(folder, 0o711);
  const started = await startEmbedded({
    folder: join(folder, "postgres"),
    report: () => undefined,
  });
  if (started instanceof StartProblem) throw new Error(started.sentence);
  stopOwn = async () => {
    await started.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return started.url;
}
