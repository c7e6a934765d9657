/**
 * An installation with the sandbox bank's gates and the demonstration merchant. It is made once for
 * all files that share a server, and each world gets a copy: certificates, keys and migrations
 * would otherwise take longer than most tests.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import {
  type BankAddress,
  makeDemonstration,
  putSandboxDirectory,
  putSandboxGates,
} from "@tollgate/gateway/demonstration";
import { type Installation, openInstallation } from "@tollgate/gateway/installation";
import { Problem } from "@tollgate/gateway/problem";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import { makeDatabase, type Server, sharedServer, whileConnected } from "./database-server.ts";

const template = "installation";

let prepared: Promise<void> | undefined;

/**
 * Fills a data folder as a first start does, with the sandbox bank's part, and answers the address
 * of its database. The bank's addresses in it are out of date, as after any restart.
 */
export async function copyInstallation(dataDir: string): Promise<string> {
  const server = await sharedServer();
  prepared ??= prepare(server);
  await prepared;
  await cp(folderOf(server), dataDir, { recursive: true });
  return makeDatabase(template);
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
  return installation;
}

/** The gates and the directory server at this bank, and the demonstration merchant. */
export async function furnish(installation: Installation, bank: BankAddress) {
  const gates = await putSandboxGates(installation, bank);
  await putSandboxDirectory(installation, bank);
  return { gates, set: await makeDemonstration(installation, gates) };
}

export function addressOf(bank: Bank): BankAddress {
  const { url, hostAddress: host, directoryUrl: directory } = bank;
  const { binaryHostAddress: binaryHost, iso93HostAddress: iso93Host } = bank;
  return { url, host, binaryHost, iso93Host, directory };
}

/** The first file takes the lock; the others wait for it and find the work done. */
async function prepare(server: Server): Promise<void> {
  await whileConnected(server, async (client) => {
    await client.query("select pg_advisory_lock(1)");
    const known = await client.query("select from pg_database where datname = $1", [template]);
    if (known.rowCount === 1) return;
    const url = await makeDatabase();
    const dataDir = folderOf(server);
    const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
    const installation = await openFor({ GW_DATA_DIR: dataDir, GW_DATABASE_URL: url });
    await furnish(installation, addressOf(bank));
    await installation.close();
    await bank.stop();
    const name = new URL(url).pathname.slice(1);
    await client.query(`alter database ${name} rename to ${template}`);
  });
}

function folderOf({ folder }: Server): string {
  return join(folder, "installation");
}
