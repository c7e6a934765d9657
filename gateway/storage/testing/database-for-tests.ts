/** A database for one test file, with all tables and no rows. Tests can add further cells. */
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Problem } from "../../values/problem.ts";
import { openKeys } from "../../vault/keys.ts";
import { type FindSealedCard, makeVault } from "../../vault/vault.ts";
import { makeKeyStore } from "../cards/vault-keys.ts";
import { findEmbeddedUrl, startEmbedded } from "../embedded/embedded.ts";
import { makeAudit } from "../people/audit.ts";
import { migrate, migrateCell } from "../schema/migrate.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { settingsForTests } from "./settings-for-tests.ts";

export type DatabaseForTests = Awaited<ReturnType<typeof startDatabase>>;

type Server = { readonly url: string; stop(): Promise<unknown> };

const options = { poolSize: 4, connectTimeoutMs: 5000, onLost: () => undefined };

export async function startDatabase(given?: Server) {
  const server = given ?? (await startEmpty("tables"));
  const database = openDatabase(server.url, options);
  await migrate(database, () => undefined);
  const opened: Database[] = [database];
  return {
    database,
    audit: makeAudit(database, { actor: { who: "a test", from: "here" } }),
    url: server.url,
    async addCell(schema: string): Promise<Database> {
      const cell = openDatabase(server.url, { ...options, searchPath: schema });
      opened.push(cell);
      await migrateCell(cell, schema, () => undefined);
      return cell;
    },
    /** Lists a cell without making its tables. `sealedUrl` is its address, sealed by the vault. */
    async listCell(name: string, sealedUrl: Uint8Array): Promise<void> {
      const values = [name, sealedUrl];
      await database.query("insert into cells (name, sealed_url) values ($1, $2)", values);
    },
    async stop() {
      await Promise.all(opened.map((each) => each.close()));
      await server.stop();
    },
  };
}

export async function startVault() {
  const tables = await startDatabase();
  const { database } = tables;
  const cell = await tables.addCell("cell_two");
  return {
    ...tables,
    cell,
    cells: [database, cell],
    /** Opens the vault as a process of the gateway does, with the keys that exist now. */
    async open(find: FindSealedCard = async () => undefined) {
      const keys = await openKeys(new Uint8Array(32).fill(5), makeKeyStore(database.query));
      return { keys, vault: makeVault(keys, find) };
    },
  };
}

/** Makes a new database on the server that all test files of a run share, or on its own server. */
export async function startEmpty(template: "empty" | "tables" = "empty"): Promise<Server> {
  const folder = process.env["TOLLGATE_TEST_FOLDER"];
  const url = folder === undefined ? undefined : findEmbeddedUrl(join(folder, "postgres"));
  if (url === undefined) return startOwn();
  const urlOf = (name: string) => url.replace(/\/tollgate(?=\?|$)/, `/${name}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  if (template === "tables") await ensureTables(client, urlOf);
  const name = `tables_${process.pid}_${randomBytes(4).toString("hex")}`;
  await client.query(`create database ${name}${template === "tables" ? " template tables" : ""}`);
  await client.end();
  return { url: urlOf(name), stop: async () => undefined };
}

/**
 * Makes the template database, which has all tables. The test file that takes the lock makes it,
 * and the files that wait for the lock copy it.
 */
async function ensureTables(client: pg.Client, urlOf: (name: string) => string): Promise<void> {
  await client.query("select pg_advisory_lock(2)");
  const known = await client.query("select from pg_database where datname = 'tables'");
  if (known.rowCount === 0) {
    await client.query("create database tables_draft");
    const draft = openDatabase(urlOf("tables_draft"), options);
    await migrate(draft, () => undefined);
    await draft.close();
    await client.query("alter database tables_draft rename to tables");
  }
  await client.query("select pg_advisory_unlock(2)");
}

export async function startOwn() {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-tables-test-"));
  // If root runs the tests, the database runs as another user, who must be able to read the folder.
  await chmod(folder, 0o711);
  const settings = { ...settingsForTests, shared_buffers: "16MB" };
  const place = { folder: join(folder, "postgres"), report: () => undefined, settings };
  const server = await startEmbedded(place);
  if (server instanceof Problem) throw new Error(server.sentence);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}
