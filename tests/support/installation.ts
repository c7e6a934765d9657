/**
 * An installation with the sandbox bank's gates and the demonstration merchant. It is made once for
 * all files that share a server, and each world gets a copy, because certificates, keys and
 * migrations take longer than most tests.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { openVault } from "@tollgate/gateway/administration";
import { addCell } from "@tollgate/gateway/cell-administration";
import { openDatabase } from "@tollgate/gateway/database";
import {
  makeDemonstration,
  putSandboxDirectory,
  putSandboxGates,
  type SandboxAddress,
} from "@tollgate/gateway/demonstration";
import { type Installation, openInstallation } from "@tollgate/gateway/installation";
import { makePartitions } from "@tollgate/gateway/partitions";
import { Problem } from "@tollgate/gateway/problem";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import {
  citusUrl,
  dropCitusDatabases,
  isOfEndedRun,
  makeCitusTemplate,
  nameForRun,
} from "./databases/citus.ts";
import {
  makeDatabase,
  type Server,
  sharedServer,
  testSearchPath,
  whileConnected,
} from "./databases/database-server.ts";
import { TestClock } from "./test-clock.ts";

const secondCell = "second";

let prepared: Promise<void> | undefined;

/**
 * Fills a data folder as a first start does, with the sandbox bank's part, and returns the address
 * of its database. The bank's addresses in it are out of date, as after any restart.
 */
export async function copyInstallation(dataDir: string): Promise<string> {
  const server = await sharedServer();
  prepared ??= prepare(server);
  await prepared;
  await cp(folderOf(server), dataDir, { recursive: true });
  return makeDatabase(templateOf(server));
}

export async function openFor(
  environment: Readonly<Record<string, string>>,
): Promise<Installation> {
  const installation = await openInstallation({
    environment,
    report: () => undefined,
    besideOthers: false,
  });
  if (installation instanceof Problem) throw new Error(installation.sentence);
  const limits = { poolSize: 4, connectTimeoutMs: 5000, onLost: () => undefined };
  const database = openDatabase(installation.databaseUrl, {
    ...limits,
    searchPath: testSearchPath,
  });
  let closed: Promise<void> | undefined;
  return {
    ...installation,
    /** A test that reads tables of orders sees those of the demonstration merchant. */
    database,
    close: () => (closed ??= database.close().then(() => installation.close())),
  };
}

/** Adds the gates and the directory server of this bank, and the demonstration merchant. */
export async function furnish(installation: Installation, bank: SandboxAddress) {
  const gates = await putSandboxGates(installation, bank);
  await putSandboxDirectory(installation, bank);
  const cell = installation.cells.names().find((name) => name === secondCell);
  return { gates, set: await makeDemonstration(installation, gates, cell) };
}

/** The addresses of a bank, which runs in this process or as a program. */
export type BankPlace = Pick<
  Bank,
  "url" | "hostAddress" | "binaryHostAddress" | "iso93HostAddress" | "directoryUrl"
>;

export function addressOf(bank: BankPlace): SandboxAddress {
  const { url, hostAddress: host, directoryUrl: directory } = bank;
  const { binaryHostAddress: binaryHost, iso93HostAddress: iso93Host } = bank;
  return { url, host, binaryHost, iso93Host, directory };
}

/**
 * Prepares the installation. The first file takes the lock; the others wait for it and find the
 * work done.
 */
async function prepare(server: Server): Promise<void> {
  await whileConnected(server, async (client) => {
    await client.query("select pg_advisory_lock(1)");
    const template = templateOf(server);
    const known = await client.query("select from pg_database where datname = $1", [template]);
    if (known.rowCount === 1) return;
    if (citusUrl !== undefined) await dropCitusDatabases(citusUrl, isOfEndedRun);
    const url = await makeDatabase();
    const dataDir = folderOf(server);
    const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
    const environment = { GW_DATA_DIR: dataDir, GW_DATABASE_URL: url };
    await addSecondCell(await openFor(environment));
    const installation = await openFor(environment);
    await furnish(installation, addressOf(bank));
    await installation.close();
    await bank.stop();
    await makeAllPartitions(url);
    const name = new URL(url).pathname.slice(1);
    if (citusUrl !== undefined) await makeCitusTemplate(citusUrl, name, template);
    else await client.query(`alter database ${name} rename to ${template}`);
  });
}

/** Adds the cell of the demonstration merchant. Other merchants are in the main cell. */
async function addSecondCell(installation: Installation): Promise<void> {
  const { sealSecret } = await openVault(installation);
  const place = { name: secondCell, onCitus: citusUrl !== undefined };
  await addCell({ ...installation, sealSecret }, place, () => undefined);
  await installation.close();
}

/**
 * Makes the partitions as the first gateway does. Those of later months are made once, and not in
 * each world.
 */
async function makeAllPartitions(url: string): Promise<void> {
  const limits = { poolSize: 1, connectTimeoutMs: 5000, onLost: () => undefined };
  for (const searchPath of ["public", `cell_${secondCell}`]) {
    const cell = openDatabase(url, { ...limits, searchPath });
    await makePartitions(cell, new TestClock().now());
    await cell.close();
  }
}

/**
 * Returns the name of the template. A Citus cluster outlives the run, so there the name contains
 * the run.
 */
function templateOf({ folder }: Server): string {
  return citusUrl === undefined ? "installation" : nameForRun(folder, "installation");
}

function folderOf({ folder }: Server): string {
  return join(folder, "installation");
}
