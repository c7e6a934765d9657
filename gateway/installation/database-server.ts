/**
 * Finds an installation's database: the servers of GW_DATABASE_URL, or the embedded one in the data
 * folder, which is started here. Also makes connections with the rights of a role.
 */
import { statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Config, keySourcesOf, stagingKeyFile } from "../config/config.ts";
import { type CellLocation, schemaOf } from "../storage/cells/cells.ts";
import { findEmbeddedUrl, startEmbedded } from "../storage/embedded/embedded.ts";
import { makeServers, type Servers } from "../storage/server/connections.ts";
import { openDatabase } from "../storage/server/database.ts";
import { namesOfServers, parseDatabaseUrl } from "../storage/server/database-url.ts";
import { messageOf, Problem } from "../values/problem.ts";

type FindOptions = {
  readonly report: (progress: string) => void;
  /** A gateway may be running on the data folder, whose database is used and left running. */
  readonly besideOthers: boolean;
};

/** A server that is started here is stopped when the installation is closed. */
export async function findServer(config: Config, { report, besideOthers }: FindOptions) {
  const others = { isOwn: false, stop: async () => undefined };
  if (config.databaseUrl !== "") {
    const servers = parseDatabaseUrl(config.databaseUrl);
    return servers instanceof Problem ? servers : { ...others, url: config.databaseUrl };
  }
  const folder = join(resolve(config.dataDir), "postgres");
  const running = besideOthers ? findEmbeddedUrl(folder) : undefined;
  if (running !== undefined) return { ...others, url: running };
  const started = await startEmbedded({ folder, report });
  return started instanceof Problem ? started : { ...started, isOwn: true };
}

export function openAs(
  role: string | undefined,
  servers: Servers,
  config: Config,
  place?: CellLocation,
) {
  return openDatabase(servers, {
    ...(place !== undefined && { searchPath: schemaOf(place.name), onCitus: place.onCitus }),
    poolSize: config.databasePoolSize,
    connectTimeoutMs: config.databaseConnectMs,
    statementTimeoutMs: config.databaseStatementMs,
    onLost: () => undefined,
    role,
  });
}

/**
 * Cells behind the main address share its servers, so that all leave a failed server together. A
 * cell on Citus does not, because its silence may be that of one Citus worker server.
 */
export function makeServersOf(main: Servers, mainUrl: string): (place?: CellLocation) => Servers {
  return (place) =>
    place === undefined || (place.url === undefined && place.onCitus !== true)
      ? main
      : makeServers(place.url?.reveal() ?? mainUrl);
}

/** Explains an error. Throws it if the database is the embedded one. */
export function describeUnusable({ databaseUrl }: Config, error: unknown): Problem {
  if (databaseUrl === "") throw error;
  const cause = error instanceof Error ? error.message || error.name : String(error);
  const fault = cause.replace(/\.$/, "");
  const advice = /does not support SSL/.test(cause)
    ? "Set `ssl = on`, ssl_cert_file and ssl_key_file in its postgresql.conf, and restart it."
    : "Check that it runs and that address and password are right, or unset GW_DATABASE_URL.";
  return new Problem(
    `The database at ${namesOfServers(databaseUrl)} (GW_DATABASE_URL) cannot be used: ${fault}. ` +
      advice,
  );
}

/**
 * Refuses a command without settings. A shell that lacks those of a production installation is in
 * staging, where a command that only looks would create a key and a database, and judge these.
 */
export function findAbsence(config: Config): Problem | undefined {
  const folder = resolve(config.dataDir);
  const isStaging = config.environment === "staging";
  const hasKey = !isStaging || keySourcesOf(config).length > 0 || isThere(stagingKeyFile(config));
  const hasDatabase = config.databaseUrl !== "" || isThere(join(folder, "postgres"));
  if (hasKey && hasDatabase) return undefined;
  const meant = isStaging ? "GW_ENV is staging: set the settings of the one that you mean" : "";
  return new Problem(
    `There is no installation in ${folder} (GW_DATA_DIR), and this command makes none. ` +
      `${meant || "Set GW_DATABASE_URL"}, or start it first.`,
  );
}

/** Returns true for a path that this user may not read, which a later step reports. */
function isThere(place: string): boolean {
  try {
    return statSync(place) !== undefined;
  } catch (error) {
    // Failures of the file system have a code.
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

export async function makeDataFolder({ dataDir }: Config): Promise<Problem | undefined> {
  try {
    // For root, the database runs as another user, who must be able to reach its folder here.
    await mkdir(resolve(dataDir), { recursive: true, mode: 0o711 });
    await mkdir(join(resolve(dataDir), "keys"), { recursive: true, mode: 0o700 });
    return undefined;
  } catch (error) {
    return new Problem(
      `The data folder ${resolve(dataDir)} is not writable (${messageOf(error)}): ` +
        "make it writable for this user, or set GW_DATA_DIR to another folder.",
    );
  }
}
