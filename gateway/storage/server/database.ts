/**
 * Connections to PostgreSQL. Frequent statements have connections of their own, on which the
 * planner may not scan whole tables: a table that was empty when a plan was cached grows quickly.
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

// A batch must be joined with a table by one index look-up per row. Any other plan reads the whole
// table, which looks cheap until the statistics notice that it has grown. The page costs prevent a
// nested loop over the table's rows, however few they are now.
export const hotPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
  ...["enable_bitmapscan=off", "random_page_cost=0.01", "seq_page_cost=0.01"],
].reduce((settings, setting) => `${settings} -c ${setting}`, genericPlans);

type DatabaseOptions = ConnectionOptions & {
  /** The role that the login assumes. */
  readonly role?: string | undefined;
  /**
   * The schemas of the cell, in which statements find its tables. The default is that of the first
   * cell.
   */
  readonly searchPath?: string;
  /**
   * Whether the database is a Citus coordinator: Citus cannot plan batches generically, and does
   * not forward planner settings to its workers.
   */
  readonly onCitus?: boolean;
};

/** The search path of the first cell, and of the tables that an installation has once. */
const mainSearchPath = "public,vault";

/**
 * Makes Citus forward `set local` to the worker, so that lock time-outs hold there too, and limits
 * the wait for a worker to the gateway's wait for the coordinator.
 */
const sessionOnCitus = (connectTimeoutMs: number) => [
  "-c citus.propagate_set_commands=local",
  `-c citus.node_connection_timeout=${connectTimeoutMs}`,
];

/**
 * The numbers of connections that stay open: one for new orders; three for their steps, their
 * look-ups and one more. On a new connection, a batch waits until its statement is planned.
 */
const [newMin, hotMin] = [1, 3];

const screenConnectionsMax = 3;

/**
 * A condition that is always true. On Citus it is replaced by one that reads a table of the cell.
 * Otherwise Citus sends the rows of a CTE to every worker before it inserts them, and one
 * unreachable worker would stop all cells.
 */
export const besideOthers = "true /* beside others */";
const readsCell = "not exists (select from moved_merchants where merchant_id = 0)";

/**
 * How much longer transactions may take: a transaction may replace a whole list with few
 * statements.
 */
const transactionPatience = 12;

/** Opens a database. Two that share their `Servers` leave a failed server together. */
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
    /** Runs a statement with PostgreSQL's default planner. */
    query: ask(cold),
    /** Runs statements that find rows of large tables, for which the planner must use an index. */
    hot: makeReplanned(ask(hot)),
    /** Runs batches of new rows, which are joined with one another: by hash, and planned once. */
    add: ask(adding),
    /** Runs queries of screens. They wait for each other, and never make a payment wait. */
    forScreens: ask(screens),
    /** Runs work whose statements all read from one snapshot. */
    snapshot: readIn(cold),
    snapshotForScreens: readIn(screens),
    /** Opens a connection outside the pools, for a lock or a subscription. */
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

/** Runs work on a connection. If a statement fails, the connection is closed. */
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
 * Prepares a statement again, under another name, at its 10th, 100th, 1000th … use. A prepared
 * statement keeps its first plan, and this is often enough for a table that grows from nothing
 * before statistics exist.
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
    // The driver does not know the types of columns. The statement's author declares them.
    return rows as Result[];
  };
}
