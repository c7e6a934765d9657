/**
 * Real PostgreSQL servers for tests: the one that all files of a test run share, or one for a file
 * that runs alone; and one that a test may kill.
 */
import { join } from "node:path";
import { findEmbeddedUrl, startEmbedded } from "@tollgate/gateway/embedded";
import { Problem } from "@tollgate/gateway/problem";
import { settingsForTests } from "@tollgate/gateway/settings-for-tests";
import pg from "pg";
import { atEnd, type Test } from "../clean-up.ts";
import { endOfFile } from "../end-of-file.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import {
  citusUrl,
  copyCitusDatabase,
  dropCitusDatabases,
  makeCitusDatabase,
  nameForRun,
} from "./citus.ts";
import { startServerGuard } from "./gateway-server.ts";

/** The server and its folder, which may contain more that belongs to the server. */
export type Server = { readonly url: string; readonly folder: string };

/** The second cell is the demonstration merchant's. An installation may have none. */
export const testSearchPath = "cell_second,public,vault";

let shared: Promise<Server> | undefined;
let count = 0;

export function sharedServer(): Promise<Server> {
  shared ??= findOrStartServer();
  return shared;
}

/** Makes a new database and returns its address. It is removed with the server. */
export async function makeDatabase(template?: string): Promise<string> {
  const server = await sharedServer();
  count += 1;
  const name = `world_${process.pid}_${count}`;
  if (citusUrl !== undefined)
    return makeOnCitus(citusUrl, nameForRun(server.folder, name), template);
  await whileConnected(server, (client) =>
    client.query(`create database ${name} template ${template ?? "template1"} strategy file_copy`),
  );
  return server.url.replace(/\/tollgate(?=\?|$)/, `/${name}`);
}

async function makeOnCitus(url: string, name: string, template?: string): Promise<string> {
  if (template === undefined) await makeCitusDatabase(url, name);
  else await copyCitusDatabase(url, template, name);
  atEnd(endOfFile, () => dropCitusDatabases(url, (each) => each === name));
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

export async function whileConnected(
  { url }: Server,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function findOrStartServer(): Promise<Server> {
  const given = process.env["TOLLGATE_TEST_FOLDER"];
  if (citusUrl !== undefined) {
    return { url: citusUrl, folder: given ?? (await makeFolder(endOfFile, "server")) };
  }
  const running = given === undefined ? undefined : findEmbeddedUrl(join(given, "postgres"));
  if (given !== undefined && running !== undefined) return { url: running, folder: given };
  return startServer(endOfFile, settingsForTests);
}

async function startServer(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const folder = await makeFolder(t, "server");
  const postgres = join(folder, "postgres");
  const server = await startEmbedded({ folder: postgres, report: () => undefined, settings });
  if (server instanceof Problem) throw new Error(server.sentence);
  const guard = startServerGuard(folder);
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= server.stop().then(() => void guard.kill("SIGKILL")));
  atEnd(t, end);
  return { url: server.url, folder, pid: () => server.pid, end };
}

export type OwnServer = {
  readonly url: string;
  /** Kills the server. Resolves when another process has replaced it and answers. */
  killAndAwaitNext(): Promise<void>;
  /** Does the same with a fast shutdown, as an operator restarts a server. */
  stopAndAwaitNext(): Promise<void>;
  /** Ends the server without a restart. */
  end(): Promise<void>;
};

/** Starts a server for one test, which may end it. A server that ends is started again. */
export async function startOwnServer(t: Test): Promise<OwnServer> {
  const { url, pid, end } = await startServer(t);
  const endAndAwaitNext = async (signal: "SIGKILL" | "SIGINT") => {
    const earlier = pid();
    process.kill(earlier, signal);
    await until("PostgreSQL is started again", () => (pid() === earlier ? undefined : pid()));
  };
  return {
    url,
    end,
    killAndAwaitNext: () => endAndAwaitNext("SIGKILL"),
    stopAndAwaitNext: () => endAndAwaitNext("SIGINT"),
  };
}
