/**
 * A Citus cluster instead of the shared server (`npm test -- citus`). Each world's database exists
 * on the coordinator and, by the same name, on every worker. A copy of all of them contains the
 * catalogues of Citus, and works like the original.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import pg from "pg";

/** The coordinator's address for a superuser; undefined in any other run. */
export const citusUrl =
  process.env["TOLLGATE_ON_CITUS"] === undefined ? undefined : process.env["GW_TEST_CITUS_URL"];

type Node = { readonly host: string; readonly port: number; readonly isCoordinator: boolean };

const prefix = "tollgate_test_";

/**
 * Returns a name with the id of the run's process, which is the first number in the name of its
 * folder.
 */
export function nameForRun(folder: string, name: string): string {
  const pid = /\d+/.exec(basename(folder))?.[0] ?? process.pid;
  return `${prefix}${pid}_${name}`;
}

export function isOfEndedRun(name: string): boolean {
  return !existsSync(`/proc/${name.slice(prefix.length).split("_")[0]}`);
}

/** Makes an empty database of the cluster, with all its workers. */
export async function makeCitusDatabase(url: string, name: string): Promise<void> {
  const nodes = await listNodes(url);
  await onEachNode(url, nodes, async (query) => {
    await query(`create database ${name}`);
  });
  await onEachNode(url, nodes, (query) => query("create extension citus"), name);
  const coordinator = nodes.filter(({ isCoordinator }) => isCoordinator);
  const workers = nodes.filter(({ isCoordinator }) => !isCoordinator);
  await onEachNode(
    url,
    coordinator,
    async (query, { host, port }) => {
      await query("select citus_set_coordinator_host($1, $2)", [host, port]);
      for (const each of workers)
        await query("select citus_add_node($1, $2)", [each.host, each.port]);
    },
    name,
  );
}

/**
 * Makes the database a template, which allows no connections, because a daemon of Citus would
 * otherwise connect to it.
 */
export async function makeCitusTemplate(url: string, name: string, template: string) {
  await onEachNode(url, (await listNodes(url)).toReversed(), async (query) => {
    await query(`alter database ${name} allow_connections false`);
    await query("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1", [
      name,
    ]);
    await query(`alter database ${name} rename to ${template}`);
  });
}

export async function copyCitusDatabase(url: string, template: string, name: string) {
  await onEachNode(url, await listNodes(url), async (query) => {
    await query(`create database ${name} template ${template}`);
  });
}

export async function dropCitusDatabases(
  url: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  await onEachNode(url, await listNodes(url), async (query) => {
    const names = await query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [prefix],
    );
    for (const { name } of names.filter((each) => isWanted(each.name))) {
      await query(`drop database if exists ${name} with (force)`);
    }
  });
}

/** Returns the nodes of the cluster, the coordinator first. */
export async function listNodes(url: string): Promise<readonly Node[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Node>(
      `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator"
       from pg_dist_node order by groupid`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

type Ask = <Row extends pg.QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

async function onEachNode(
  url: string,
  nodes: readonly Node[],
  work: (query: Ask, node: Node) => Promise<unknown>,
  database = "postgres",
): Promise<void> {
  for (const node of nodes) {
    const client = new pg.Client({ connectionString: addressOnNode(url, node, database) });
    await client.connect();
    const query: Ask = async (text, values = []) => (await client.query(text, [...values])).rows;
    try {
      await work(query, node);
    } finally {
      await client.end();
    }
  }
}

/** Returns the address of the same or of another database on this node. */
export function addressOnNode(url: string, { host, port }: Node, database?: string): string {
  const address = new URL(url);
  address.hostname = host;
  address.port = String(port);
  if (database !== undefined) address.pathname = `/${database}`;
  return address.href;
}
