/**
 * Opens an installation for commands that only look. In production they need neither the
 * key-encryption key nor a login that may read the vault: secrets stay sealed, and statements run
 * with the role of nodes. Without the key, cells with a sealed address of their own are left out.
 */

import { leaveSealed } from "../administration/session.ts";
import { actorOf, readConfig } from "../config/config.ts";
import { makeKeyStore } from "../storage/cards/vault-keys.ts";
import { type CellLocation, loadCellMap, makeCells, openCellMap } from "../storage/cells/cells.ts";
import { makeAudit } from "../storage/people/audit.ts";
import { findNodeRole } from "../storage/schema/database-roles.ts";
import { refuseOlderSchema } from "../storage/schema/migrate.ts";
import { makeServers } from "../storage/server/connections.ts";
import type { Database, Query } from "../storage/server/database.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { openKeys } from "../vault/keys.ts";
import { makeVault } from "../vault/vault.ts";
import {
  describeUnusable,
  findAbsence,
  findServer,
  makeServersOf,
  openAs,
} from "./database-server.ts";
import { type Installation, openInstallation } from "./installation.ts";
import { deleteGivenKeys, findMasterKey } from "./master-key.ts";

type LookOptions = Omit<Parameters<typeof openInstallation>[0], "besideOthers" | "approve">;

export async function openToLook(options: LookOptions): Promise<Installation | Problem> {
  const { environment, report } = options;
  const config = readConfig(environment, false);
  if (config instanceof Problem) return config;
  if (config.environment === "staging") return openInstallation({ ...options, besideOthers: true });
  const absent = config.databaseUrl === "" ? findAbsence(config) : undefined;
  if (absent !== undefined) return absent;
  const masterKey = await findMasterKey(config, environment).catch(() => new Problem(""));
  deleteGivenKeys(environment);
  const server = await findServer(config, { report, besideOthers: true });
  if (server instanceof Problem) return server;
  const servers = makeServers(server.url);
  const login = openAs(undefined, servers, config);
  const opened = [login];
  const close = async () => {
    await Promise.allSettled(opened.map((each) => each.close()));
    await server.stop();
  };
  const serversOf = makeServersOf(servers, server.url);
  const open = (place?: CellLocation) => openAs(role, serversOf(place), config, place);
  let role: string | undefined;
  try {
    role = await findNodeRole(login.query);
  } catch (error) {
    await close();
    return describeUnusable(config, error);
  }
  const database = open();
  opened.push(database);
  const older = await refuseOlderSchema(database.query).catch((error) =>
    describeUngranted(login.query, error),
  );
  if (older !== undefined) {
    await close();
    return older;
  }
  const openSecret = await findSecrets(login, masterKey);
  const cells = makeCells({
    main: { node: database, vault: database },
    open: (place) => both(open(place)),
    waitMs: config.acceptRetryMs,
    onFailed: (cell, error) => report(`The cell ${cell} cannot be used: ${messageOf(error)}.`),
  });
  cells.follow(await openCellMap(loadReachable));
  const actor = actorOf(config, environment);
  const auditAs = (by: Partial<typeof actor>) =>
    makeAudit(database, { actor: { ...actor, ...by } });
  return {
    config,
    databaseUrl: server.url,
    actor,
    audit: auditAs({}),
    auditAs,
    database,
    cells,
    masterKey: masterKey instanceof Problem ? new Uint8Array() : masterKey,
    openKnown: async () => openSecret,
    unreachableCells: [],
    databases: both(database),
    openCell: (place?: CellLocation) => both(open(place)),
    vaultAdvice: undefined,
    async close() {
      await cells.close();
      await close();
    },
  };

  async function loadReachable() {
    const map = await loadCellMap(database.query, openSecret ?? leaveSealed);
    if (openSecret !== undefined) return map;
    const reachable = map.cells.filter(({ url }) => url === undefined);
    for (const { name } of map.cells.filter(({ url }) => url !== undefined)) {
      report(`Without the key-encryption key, the cell ${name} and its orders are left out.`);
    }
    return { ...map, cells: reachable };
  }
}

/** A restore grants the role its rights at its end, so a failed one leaves tables without them. */
async function describeUngranted(query: Query, error: unknown): Promise<Problem> {
  if (!(error instanceof Error && "code" in error && error.code === notAllowed)) throw error;
  // A login that cannot read the vault gets the sentence about a restore that has not ended.
  const isEmpty = await query("select from vault.keys limit 1").then(
    (keys) => keys.length === 0,
    () => false,
  );
  const what = "The gateway's role may not read this database. If you restored into it, that";
  const next = isEmpty
    ? "has failed, and nothing is in it: run `gw restore` again."
    : "has not come to its end: run `gw restore verify`, which gives the role its rights.";
  return new Problem(`${what} ${next} The database says: ${error.message}.`);
}

const notAllowed = "42501";

const both = (database: Database) => ({ node: database, vault: database });

/** Returns undefined without the key, or if the login may not read the vault's keys. */
async function findSecrets({ query }: Database, masterKey: Uint8Array | Problem) {
  if (masterKey instanceof Problem) return undefined;
  try {
    const keys = await openKeys(masterKey, makeKeyStore(query));
    return makeVault(keys, () => Promise.resolve(undefined)).openSecret;
  } catch {
    return undefined;
  }
}
