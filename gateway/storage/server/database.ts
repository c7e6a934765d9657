/**
 * Connections to PostgreSQL. Frequent statements have connections of their own, with settings that
 * forbid PostgreSQL's planner to read whole tables. Otherwise a plan that was cached while a table
 * was empty would be used when the table has grown.
 */
import type pg from "pg";
import {
  type ConnectionOptions,
  type Connections,
  makeConnections,
  makeServers,
  type Servers,
} from "./connections.ts";

export type Query = <Result>(
  text: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<readonly Result[]>;

export type Database = Readonly<ReturnType<typeof openDatabase>>;

const genericPlans = "-c plan_cache_mode=force_generic_plan";

// Planner settings for frequent statements. They join a batch with a table by one index look-up for
// each row. Any other plan reads the whole table, which looks cheap until the statistics show that
// the table has grown. The page costs prevent a nested loop over the rows of the table, however few
// they are now.
export const hotPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
  ...["enable_bitmapscan=off", "random_page_cost=0.01", "seq_page_cost=0.01"],
].reduce((settings, setting) => `${settings} -c ${setting}`, genericPlans);

type DatabaseOptions = ConnectionOptions & {
  /** The database role that the session uses in place of its login. */
  readonly role?: string | undefined;
  /**
   * The schemas in which statements find the tables of the cell. By default, these are the schemas
   * of the first cell.
   */
  readonly searchPath?: string;
  /**
   * True if the database is a Citus coordinator. Citus cannot make generic plans for batches, and
   * does not forward planner settings to its workers.
   */
  readonly onCitus?: boolean;
};

/** The search path for the first cell, and for the tables that an installation has once. */
const mainSearchPath = "public,vault";

/**
 * Settings of a session on Citus. `set local` is forwarded to the worker, so that time limits for
 * locks apply there too. The wait for a worker has the same limit as the gateway's wait for the
 * coordinator.
 */
const sessionOnCitus = (connectTimeoutMs: number) => [
  "-c citus.propagate_set_commands=local",
  `-c citus.node_connection_timeout=${connectTimeoutMs}`,
];

/**
 * The number of connections that always stay open: one for new orders, and three for other frequent
 * statements, such as steps and look-ups. A new connection makes its first batch wait, because the
 * statement must be planned.
 */
const [newMin, hotMin] = [1, 3];

const screenConnectionsMax = 3;

/**
 * A condition that is always true. On Citus it is replaced by a condition that reads a table of the
 * cell. Without such a condition, Citus sends the rows of a CTE to every worker before it inserts
 * them, and one unreachable worker would stop all cells.
 */
export const besideOthers = "true /* beside others */";
const readsCell = "not exists (select from moved_merchants where merchant_id = 0)";

/**
 * The factor by which the time limit of a transaction exceeds that of a statement. A transaction
 * may replace a whole list with few statements.
 */
const transactionPatience = 12;

/**
 * Opens a database. If two databases share their `Servers`, the connections of both leave a failed
 * server together.
 */
export function openDatabase(place: string | Servers, options: DatabaseOptions) {
  const role = options.role === undefined ? "" : `-c role=${options.role}`;
  const onCitus = options.onCitus === true;
  const session = [
    ...[`-c search_path=${options.searchPath ?? mainSearchPath}`, role],
    ...(onCitus ? sessionOnCitus(options.connectTimeoutMs) : []),
  ].join(" ");
  const servers = typeof place === "string" ? makeServers(place) : place;
  const connections = makeConnections(servers, options);
  const cold = connections.openPool(session);
  const planned = (settings: string) => (onCitus ? session : `${settings} ${session}`);
  const hot = connections.openPool(planned(hotPlanner), hotMin);
  const screens = connections.openPool(session, 0, screenConnectionsMax);
  const adding = connections.openPool(planned(genericPlans), newMin);
  const ask = (pool: pg.Pool): Query => {
    const query = makePoolQuery(connections, pool);
    if (!onCitus) return query;
    return (text, ...rest) => query(text.replaceAll(besideOthers, readsCell), ...rest);
  };
  const longMs = (options.statementTimeoutMs ?? 0) * transactionPatience;
  const readIn = (pool: pg.Pool) => {
    return <Result>(work: (query: Query) => Promise<Result>): Promise<Result> =>
      using(connections, pool, async (client) => {
        const query = makeQuery(client);
        await query("begin transaction isolation level repeatable read, read only");
        const result = await work(query);
        await query("commit");
        return result;
      });
  };

  return {
    /** Runs a statement with the default settings of PostgreSQL's planner. */
    query: ask(cold),
    /** Runs statements that find rows in large tables. The planner has to use an index for them. */
    hot: makeReplanned(ask(hot)),
    /**
     * Runs statements that insert batches of rows. The arrays of a batch are joined by hash, and
     * the statement is planned only once.
     */
    add: ask(adding),
    /**
     * Runs the queries of screens. They have few connections, wait for each other, and never make a
     * payment wait.
     */
    forScreens: ask(screens),
    /** Runs several statements that all read from the same snapshot. */
    snapshot: readIn(cold),
    snapshotForScreens: readIn(screens),
    /** Opens a connection that belongs to no pool, to hold a lock or to receive notices. */
    connect: () => connections.open(session),
    async transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
      return using(connections, cold, async (client) => {
        const query = makeQuery(client, longMs);
        await query("begin");
        const result = await work(query);
        await query("commit");
        return result;
      });
    },
    close: connections.close,
  };
}

function makePoolQuery(connections: Connections, pool: pg.Pool): Query {
  return (text, values, name) =>
    using(connections, pool, (client) => makeQuery(client)(text, values, name));
}

/** Runs work on a connection from the pool. The connection is closed if a statement fails. */
async function using<Result>(
  { take, doubt }: Connections,
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await take(pool);
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    doubt(client, error);
    client.release(true);
    throw error;
  }
}

/**
 * Makes PostgreSQL plan a prepared statement again at its 10th, 100th, 1000th and every further
 * such use, by preparing it under another name. A prepared statement keeps its first plan.
 * Replanning this often is enough for a table that is empty at first and has no statistics.
 */
function makeReplanned(query: Query): Query {
  const uses = new Map<string, number>();
  return (text, values, name) => {
    if (name === undefined) return query(text, values);
    const count = (uses.get(name) ?? 0) + 1;
    uses.set(name, count);
    return query(text, values, `${name}_${String(count).length}`);
  };
}

function makeQuery(client: pg.PoolClient, limitMs = 0): Query {
  return async <Result>(text: string, values: readonly unknown[] = [], name?: string) => {
    const statement = {
      text,
      values: [...values],
      ...(name === undefined ? {} : { name }),
      ...(limitMs === 0 ? {} : { query_timeout: limitMs }),
    };
    const { rows } = await client.query(statement);
    // The driver does not know the types of the columns, so the type that the caller has declared
    // is used.
    return rows as Result[];
  };
}
