/**
 * A real PostgreSQL for tests: the one that the test run has started, or one of this file's own.
 * Each world gets a database of its own: a copy of an installation that was made once, because
 * certificates, keys and migrations would otherwise take longer than most tests.
 */
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import {
  type BankAddress,
  makeDemonstration,
  putSandboxDirectory,
  putSandboxGates,
} from "@tollgate/gateway/demonstration";
import { findEmbeddedUrl, startEmbedded } from "@tollgate/gateway/embedded";
import { type Installation, openInstallation } from "@tollgate/gateway/installation";
import { Problem } from "@tollgate/gateway/problem";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import pg from "pg";

type Server = { readonly url: string; readonly folder: string };

const template = "installation";
/** No power failure is simulated, so nothing has to reach the disk. */
const unsafe = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

let found: Promise<Server> | undefined;
let prepared: Promise<void> | undefined;
let stopOwn = async (): Promise<void> => undefined;
let count = 0;

// Registered for the whole file: inside a test it would end with that test.
after(() => stopOwn());

/** The address of a new, empty database; it goes when the server goes. */
export async function makeDatabase(): Promise<string> {
  found ??= findServer();
  return createDatabase(await found, "template1");
}

/**
 * Fills a data folder as a first start does, with the sandbox bank's part, and answers the address
 * of its database. The bank's addresses in it are out of date, as after any restart.
 */
export async function copyInstallation(dataDir: string): Promise<string> {
  found ??= findServer();
  const server = await found;
  prepared ??= prepare(server);
  await prepared;
  await cp(folderOf(server), dataDir, { recursive: true });
  return createDatabase(server, template);
}

export async function open(environment: Readonly<Record<string, string>>): Promise<Installation> {
  const installation = await openInstallation({
    environment,
    report: () => undefined,
    besideOthers: false,
  });
  if (installation instanceof Problem) throw new Error(installation.sentence);
  return installation;
}

/** The gates and the directory server at this bank, and the demonstration merchant. */
export async function furnish(installation: Installation, bank: BankAddress) {
  const gates = await putSandboxGates(installation, bank);
  await putSandboxDirectory(installation, bank);
  return { gates, set: await makeDemonstration(installation, gates) };
}

export function addressOf(bank: Bank): BankAddress {
  const { url, hostAddress, binaryHostAddress, directoryUrl } = bank;
  return { url, host: hostAddress, binaryHost: binaryHostAddress, directory: directoryUrl };
}

/** Once for all files that share the server: the first takes the lock, the others find it done. */
async function prepare(server: Server): Promise<void> {
  await asking(server, async (client) => {
    await client.query("select pg_advisory_lock(1)");
    const known = await client.query("select from pg_database where datname = $1", [template]);
    if (known.rowCount === 1) return;
    const url = await createDatabase(server, "template1");
    const dataDir = folderOf(server);
    const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
    const installation = await open({ GW_DATA_DIR: dataDir, GW_DATABASE_URL: url });
    await furnish(installation, addressOf(bank));
    await installation.close();
    await bank.stop();
    const name = decodeURIComponent(new URL(url).pathname.slice(1));
    await client.query(`alter database ${name} rename to ${template}`);
  });
}

async function createDatabase(server: Server, from: string): Promise<string> {
  count += 1;
  const name = `world_${process.pid}_${count}`;
  await asking(server, (client) => client.query(`create database ${name} template ${from}`));
  return server.url.replace(/\/tollgate(?=\?|$)/, `/${name}`);
}

async function asking(
  { url }: Server,
  ask: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await ask(client);
  } finally {
    await client.end();
  }
}

function folderOf({ folder }: Server): string {
  return join(folder, "installation");
}

async function findServer(): Promise<Server> {
  const given = process.env["TOLLGATE_TEST_FOLDER"];
  const running = given === undefined ? undefined : findEmbeddedUrl(join(given, "postgres"));
  if (given !== undefined && running !== undefined) return { url: running, folder: given };
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  // The database runs as another user when the tests are run by root.
  await chmod(folder, 0o711);
  const started = await startEmbedded({
    folder: join(folder, "postgres"),
    report: () => undefined,
    settings: unsafe,
  });
  if (started instanceof Problem) throw new Error(started.sentence);
  stopOwn = async () => {
    await started.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: started.url, folder };
}
