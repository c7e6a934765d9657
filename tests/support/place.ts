/**
 * The surroundings of gateways, which run in the test's process or as programs: a data folder, a
 * database, the sandbox bank, lines to the bank that a test can cut, and an installation with the
 * bank's gates and the demonstration merchant. Each kind of world uses the parts that it needs.
 */
import type { NetConnectOpts } from "node:net";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import { atEnd, type Test } from "./clean-up.ts";
import { makeFolder } from "./folder.ts";
import { addressOf, type BankPlace, copyInstallation, furnish, openFor } from "./installation.ts";

export type Place<Own extends BankPlace = BankPlace> = {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly bank: Own;
};
export type PlaceOptions<Own extends BankPlace = BankPlace> = {
  /** Replaces the database of the test run, for tests that kill its server. */
  readonly databaseUrl?: string;
  readonly startBank: (dataDir: string) => Promise<Own>;
};

export async function makePlace<Own extends BankPlace>(
  t: Test,
  options: PlaceOptions<Own>,
): Promise<Place<Own>> {
  const dataDir = await makeFolder(t, "place");
  const databaseUrl = options.databaseUrl ?? (await copyInstallation(dataDir));
  return { dataDir, databaseUrl, bank: await options.startBank(dataDir) };
}

/** Starts the bank in this process, so that a test can see what it receives. */
export function bankInProcess(t: Test, options: Partial<Parameters<typeof startBank>[0]> = {}) {
  return async (dataDir: string): Promise<Bank> => {
    const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir, ...options });
    atEnd(t, () => bank.stop());
    return bank;
  };
}

type Line = { readonly port: number; close(): Promise<unknown> };

/** Opens lines to the bank's host and to its directory server, and returns their addresses. */
export async function startLinesTo<Own extends Line>(
  t: Test,
  bank: BankPlace,
  start: (target: NetConnectOpts) => Promise<Own>,
) {
  const acquirer = await open(`tcp://${bank.hostAddress}`);
  const directory = await open(bank.directoryUrl);
  const host = `127.0.0.1:${acquirer.port}`;
  const address = { ...addressOf(bank), host, directory: `https://127.0.0.1:${directory.port}` };
  return { acquirer, directory, address };

  async function open(url: string): Promise<Own> {
    const { hostname, port } = new URL(url);
    const line = await start({ host: hostname, port: Number(port) });
    atEnd(t, () => line.close());
    return line;
  }
}

/** Prepares the installation, which stays open until the test ends or its caller closes it. */
export async function furnishPlace(
  t: Test,
  { dataDir, databaseUrl, bank }: Place,
  { settings = {}, address = addressOf(bank) } = {},
) {
  const own = { GW_DATA_DIR: dataDir, GW_DATABASE_URL: databaseUrl };
  const installation = await openFor({ ...own, ...settings });
  atEnd(t, () => installation.close());
  return { installation, ...(await furnish(installation, address)) };
}
