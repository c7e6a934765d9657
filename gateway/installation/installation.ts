/**
 * Opens an installation for a command: reads the settings, connects to the database (and starts the
 * embedded one unless it runs), updates its schema, and opens the vault's keys. Problems that the
 * operator can solve are returned as sentences.
 */
import { openVault } from "../administration/session.ts";
import { actorOf, type Config, readConfig } from "../config/config.ts";
import { makePublishHead } from "../observability/audit-heads.ts";
import { markRehearsal, refuseDatabase } from "../storage/backup/rehearsal.ts";
import { deletePendingCards } from "../storage/cards/cards.ts";
import { deleteCvvKeys, makeKeyStore } from "../storage/cards/vault-keys.ts";
import { prepareCell } from "../storage/cells/cell-administration.ts";
import {
  type CellLocation,
  type Cells,
  loadCellMap,
  mainCell,
  makeCells,
  openCellMap,
} from "../storage/cells/cells.ts";
import { type Actor, type Audit, makeAudit, openSigner } from "../storage/people/audit.ts";
import { nodeRole, separateVault, vaultRole } from "../storage/schema/database-roles.ts";
import { type Approve, approveAll, migrate, refuseOlder } from "../storage/schema/migrate.ts";
import { makeServers } from "../storage/server/connections.ts";
import type { Database } from "../storage/server/database.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { openKeys, WrongMasterKey } from "../vault/keys.ts";
import type { Vault } from "../vault/vault.ts";
import {
  describeUnusable,
  findAbsence,
  findServer,
  makeDataFolder,
  makeServersOf,
  openAs,
} from "./database-server.ts";
import { deleteGivenKeys, findMasterKey } from "./master-key.ts";

export type Installation = Exclude<Awaited<ReturnType<typeof openInstallation>>, Problem>;
/** Returns undefined for a command that only looks and has no key. */
type OpenKnown = () => Promise<Vault["openSecret"] | undefined>;

type InstallationOptions = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly report: (progress: string) => void;
  /** If true, a gateway may run on the data folder, whose database is used and left running. */
  readonly besideOthers: boolean;
  /** If true, the command only looks, and must not create an installation. */
  readonly makesNothing?: boolean;
  /** Decides about an older schema. By default, staging updates it and production refuses. */
  readonly approve?: Approve;
  /** Returns why the user may not open the installation, before anything is changed. */
  readonly admit?: (place: AdmitOptions) => Promise<Problem | undefined>;
};

type AdmitOptions = {
  readonly actor: Actor;
  readonly config: Config;
  readonly database: Database;
  readonly audit: Audit;
};

const markedNow =
  "This database is marked as a rehearsal's from now on (GW_REHEARSAL), and no command takes the " +
  "mark away. Production refuses it: it will need a new database and new keys, as " +
  "docs/rehearsal.md tells at its end.";

export async function openInstallation(options: InstallationOptions) {
  const { report } = options;
  const config = readConfig(options.environment);
  deleteGivenKeys(options.environment);
  if (config instanceof Problem) return config;

  const blocked = options.makesNothing ? findAbsence(config) : await makeDataFolder(config);
  if (blocked !== undefined) return blocked;
  const masterKey = await findMasterKey(config, options.environment);
  if (masterKey instanceof Problem) return masterKey;

  const server = await findServer(config, options);
  if (server instanceof Problem) return server;
  const servers = makeServers(server.url);
  // A migration or a rotation of keys may take longer than any statement of a node.
  const patient = { ...config, databaseStatementMs: 0 };
  const database = openAs(undefined, servers, patient);
  const opened = [database];
  const close = async () => {
    await Promise.allSettled(opened.map((each) => each.close()));
    await server.stop();
  };
  const usual = config.environment === "production" ? refuseOlder : approveAll;
  const { approve = usual } = options;
  const actor = actorOf(config, options.environment);
  const problem =
    (await admitUser(options, { actor, config, database })) ??
    (await updateSchema(database, config, { report, approve })) ??
    (await checkMasterKey(database, masterKey)) ??
    (await refuseDatabase(database.query, config));
  if (problem !== undefined) {
    await close();
    return problem;
  }
  const vaultAdvice = await separateVault(database);
  if (vaultAdvice !== undefined && !options.besideOthers) report(vaultAdvice);
  const isSeparate = vaultAdvice === undefined;
  const serversOf = makeServersOf(servers, server.url);
  const openCell = (place?: CellLocation) => {
    const own = serversOf(place);
    return {
      node: openAs(isSeparate ? nodeRole : undefined, own, config, place),
      vault: openAs(isSeparate ? vaultRole : undefined, own, config, place),
    };
  };
  const databases = openCell();
  opened.push(databases.node, databases.vault);
  const open = (place: CellLocation) => openAs(undefined, serversOf(place), patient, place);
  const found = await openCells({ database, masterKey, config, report, open, approve });
  if (found instanceof Problem) {
    await close();
    return found;
  }
  const { cells, unreachableCells } = found;
  const vault = { database, masterKey, cells };
  const auditAs = await openAudit(vault, { config, actor, report });
  if (config.rehearsal && (await markRehearsal(auditAs({})))) report(markedNow);
  const openKnown: OpenKnown = async () => (await openVault(vault)).openSecret;
  return {
    config,
    databaseUrl: server.url,
    masterKey,
    actor,
    audit: auditAs({}),
    auditAs,
    async close() {
      if (server.isOwn) {
        await deletePendingOnServer(cells);
        await deleteCvvKeys(database.query).catch(() => undefined);
      }
      await cells.close();
      await close();
    },
    openKnown,
    /** The connection with the rights of the login, for operators' commands. */
    database,
    cells,
    /** The unreachable cells, whose schema may be older. */
    unreachableCells,
    /** The databases for a node, whose own connections cannot read the vault's tables. */
    databases,
    openCell,
    /** The advice for a login that may not separate the roles of the vault and the nodes. */
    vaultAdvice,
  };
}

type AuditOptions = Pick<InstallationOptions, "report"> & {
  readonly config: Config;
  readonly actor: Actor;
};

async function openAudit(
  place: Parameters<typeof openVault>[0],
  { config, actor, report }: AuditOptions,
) {
  const signer = await openSigner(place.database.query, await openVault(place));
  const publish = makePublishHead(config, (where, cause) =>
    report(`The head of the audit could not be written to ${where}: ${cause}.`),
  );
  return (by: Partial<Actor>) =>
    makeAudit(place.database, { actor: { ...actor, ...by }, signer, publish });
}

type CellsToOpen = {
  readonly database: Database;
  readonly masterKey: Uint8Array;
  readonly config: Config;
  readonly report: (progress: string) => void;
  readonly open: (place: CellLocation) => Database;
  readonly approve: Approve;
};

/** Opens all cells with the rights of the login. An unreachable one is reported. */
async function openCells({ database, masterKey, config, report, open, approve }: CellsToOpen) {
  const openBoth = (place: CellLocation) => {
    const cell = open(place);
    return { node: cell, vault: cell };
  };
  const onFailed = (cell: string, error: unknown) =>
    report(`The cell ${cell} cannot be used: ${messageOf(error)}.`);
  const main = { node: database, vault: database };
  const cells = makeCells({ main, open: openBoth, waitMs: config.acceptRetryMs, onFailed });
  const { openSecret } = await openVault({ database, masterKey, cells });
  cells.follow(await openCellMap(() => loadCellMap(database.query, openSecret)));
  const stores = cells.stores(({ node }) => node);
  let refusal: Problem | undefined;
  const unreachableCells: string[] = [];
  await stores.each(async (cell, name) => {
    const place = cells.places().find((each) => each.name === name);
    if (place === undefined || name === mainCell) return;
    const approveHere: Approve = async (missing) => {
      const refused = await approve(missing);
      refusal ??= refused;
      return refused;
    };
    await prepareCell(cell, place, report, approveHere).catch((error) => {
      unreachableCells.push(name);
      throw error;
    });
  });
  if (refusal !== undefined) await cells.close();
  return refusal ?? { cells, unreachableCells };
}

/** Deletes the pending card data of the cells on the server that is stopped next. */
async function deletePendingOnServer(cells: Cells): Promise<void> {
  for (const { name, url } of cells.places()) {
    if (url !== undefined) continue;
    await deletePendingCards(cells.databasesOf(name).vault.query).catch(() => undefined);
  }
}

async function admitUser(
  { admit }: Pick<InstallationOptions, "admit">,
  place: Omit<AdmitOptions, "audit">,
): Promise<Problem | undefined> {
  try {
    return await admit?.({ ...place, audit: makeAudit(place.database, place) });
  } catch (error) {
    return describeUnusable(place.config, error);
  }
}

async function updateSchema(
  database: Database,
  config: Config,
  { report, approve }: Required<Pick<InstallationOptions, "report" | "approve">>,
): Promise<Problem | undefined> {
  try {
    return await migrate(database, report, approve);
  } catch (error) {
    return describeUnusable(config, error);
  }
}

/** Makes the keys of a new database too. */
async function checkMasterKey({ query }: Database, masterKey: Uint8Array) {
  try {
    await openKeys(masterKey, makeKeyStore(query));
    return undefined;
  } catch (error) {
    if (!(error instanceof WrongMasterKey)) throw error;
    return new Problem(
      "The key-encryption key does not open this database's keys: " +
        "set GW_MASTER_KEY_FILE, or whichever GW_MASTER_KEY setting you use, to the one that does.",
    );
  }
}
