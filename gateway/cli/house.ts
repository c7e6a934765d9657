/**
 * What every command starts from: settings read, the database reached (the embedded one is started,
 * or found running), its schema up to date, the keys at hand. Whatever the operator can put right
 * comes back as one sentence.
 */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { type Config, ConfigProblems, readConfig } from "../config.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { findEmbeddedUrl, StartProblem, startEmbedded } from "../storage/embedded.ts";
import { migrate } from "../storage/migrate.ts";
import { makeKeyStore } from "../storage/vault-tables.ts";
import { openKeys, WrongMasterKey } from "../vault/keys.ts";
import { makeMasterKey, readMasterKey } from "../vault/master-key.ts";

export type House = {
  readonly config: Config;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly masterKey: Uint8Array;
  close(): Promise<void>;
};

export type HouseOptions = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly report: (progress: string) => void;
  /** A gateway that runs on the data folder may go on: its database is used and left running. */
  readonly besideOthers: boolean;
};

export async function openHouse(options: HouseOptions): Promise<House | StartProblem> {
  const { report } = options;
  const read = readConfig(options.environment);
  if (read instanceof ConfigProblems) return new StartProblem(read.sentences.join("\n"));
  const config = { ...read, nodeName: read.nodeName === "" ? nodeNameFor(read) : read.nodeName };

  const blocked = await makeDataFolder(config);
  if (blocked !== undefined) return blocked;
  const masterKey = await findMasterKey(config);
  if (masterKey instanceof StartProblem) return masterKey;

  const server = await findServer(config, options);
  if (server instanceof StartProblem) return server;
  const database = openDatabase(server.url, {
    poolSize: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectMs,
    onLost: () => undefined,
  });
  const close = async () => {
    await database.close().catch(() => undefined);
    await server.stop();
  };
  const problem =
    (await prepare(database, config, report)) ?? (await checkMasterKey(database, masterKey));
  if (problem !== undefined) {
    await close();
    return problem;
  }
  return { config, database, databaseUrl: server.url, masterKey, close };
}

/** Opens a house, does the work and closes it again: for commands that look or change and end. */
export async function inHouse(work: (house: House) => Promise<void>): Promise<void> {
  const report = (progress: string) => process.stderr.write(`${progress}\n`);
  const house = await openHouse({ environment: process.env, report, besideOthers: true });
  if (house instanceof StartProblem) return complain(house);
  try {
    await work(house);
  } finally {
    await house.close();
  }
}

export function complain({ sentence }: StartProblem): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 2;
}

type Server = { readonly url: string; stop(): Promise<void> };

async function findServer(
  config: Config,
  { report, besideOthers }: HouseOptions,
): Promise<Server | StartProblem> {
  if (config.databaseUrl !== "") return { url: config.databaseUrl, stop: async () => undefined };
  const folder = join(resolve(config.dataDir), "postgres");
  const running = besideOthers ? findEmbeddedUrl(folder) : undefined;
  if (running !== undefined) return { url: running, stop: async () => undefined };
  return startEmbedded({ folder, report });
}

async function prepare(
  database: Database,
  config: Config,
  report: (progress: string) => void,
): Promise<StartProblem | undefined> {
  try {
    const newer = await migrate(database, report);
    return newer === undefined ? undefined : new StartProblem(newer.sentence);
  } catch (error) {
    if (config.databaseUrl === "") throw error;
    const { host } = new URL(config.databaseUrl);
    const cause = error instanceof Error ? error.message || error.name : String(error);
    return new StartProblem(
      `The database at ${host} (GW_DATABASE_URL) cannot be used: ${cause}. ` +
        "Check that it runs and that address and password are right, or unset GW_DATABASE_URL.",
    );
  }
}

/** Also makes the keys of a new database. */
async function checkMasterKey(
  { query }: Database,
  masterKey: Uint8Array,
): Promise<StartProblem | undefined> {
  try {
    await openKeys(masterKey, makeKeyStore(query));
    return undefined;
  } catch (error) {
    if (!(error instanceof WrongMasterKey)) throw error;
    return new StartProblem(
      "The key-encryption key does not open this database's keys: " +
        "set GW_MASTER_KEY_FILE to the file that was used with it.",
    );
  }
}

async function makeDataFolder({ dataDir }: Config): Promise<StartProblem | undefined> {
  try {
    // The database runs as another user when we are root, and must reach its own folder in here.
    await mkdir(resolve(dataDir), { recursive: true, mode: 0o711 });
    await mkdir(join(resolve(dataDir), "keys"), { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return new StartProblem(
      `The data folder ${resolve(dataDir)} is not writable (${cause}): ` +
        "make it writable for this user, or set GW_DATA_DIR to another folder.",
    );
  }
}

async function findMasterKey(config: Config): Promise<Uint8Array | StartProblem> {
  const made = join(resolve(config.dataDir), "keys", "master.key");
  const file = config.masterKeyFile === "" ? made : config.masterKeyFile;
  try {
    if (config.masterKeyFile === "") await makeMasterKey(made);
  } catch {
    return new StartProblem(
      `The data folder ${resolve(config.dataDir)} is not writable: ` +
        "make it writable for this user, or set GW_DATA_DIR to another folder.",
    );
  }
  const key = await readMasterKey(file);
  return typeof key === "string" ? new StartProblem(key) : key;
}

/** The same after a restart, so that a node finds what it had in hand. */
function nodeNameFor({ dataDir }: Config): string {
  const place = createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 8);
  return `${hostname()}-${place}`;
}
