/**
 * Connections to PostgreSQL. Frequent statements have connections of their own, whose settings
 * forbid PostgreSQL's planner to read whole tables, because a plan that was cached for an empty
 * table is used when the table has grown.
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

// Planner settings for frequent statements, which join a batch with a table by one index look-up
// for each row. Every other plan reads the whole table, which looks cheap until the statistics show
// how the table has grown. Low page costs make PostgreSQL use an index of a small table too.
export const hotPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
  ...["enable_bitmapscan=off", "random_page_cost=0.01", "seq_page_cost=0.01"],
].reduce((settings, setting) => `${settings} -c ${setting}`, genericPlans);

type DatabaseOptions = ConnectionOptions & {
  /** The database role that the session has in place of its login. */
  readonly role?: string | undefined;
  /** The schemas with the tables of the cell; by default those of the main cell. */
  readonly searchPath?: string;
  /** If true, planner settings are left out, because Citus does not forward them to its servers. */
  readonly onCitus?: boolean;
};

/** The schemas of the main cell, with the tables that an installation has once. */
const mainSearchPath = "public,vault";

/**
 * Settings of a session on Citus: time limits for locks are forwarded to the worker server, and the
 * coordinator waits for this server no longer than the gateway waits for the coordinator.
 */
const sessionOnCitus = (connectTimeoutMs: number) => [
  "-c citus.propagate_set_commands=local",
  `-c citus.node_connection_timeout=${connectTimeoutMs}`,
];

/**
 * How many connections for new orders, and for other frequent statements, always stay open, because
 * the first batch of a new connection waits until its statement is planned.
 */
const [newMin, hotMin] = [1, 3];

const screenConnectionsMax = 3;

/**
 * A true condition, which on Citus becomes one that reads a table of the cell. Without it, Citus
 * sends the rows of a CTE to every worker server before it inserts them, so that one unreachable
 * server would stop all cells.
 */
export const besideOthers = "true /* beside others */";
const readsCell = "not exists (select from moved_merchants where merchant_id = 0)";

/** A transaction may take this many times as long as a statement: some replace whole lists. */
const transactionPatience = 12;

/** Databases with the same `Servers` close their connections to a failed server together. */
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
    query: ask(cold),
    /** For statements that find rows in large tables: PostgreSQL's planner has to use an index. */
    hot: makeReplanned(ask(hot)),
    /** Inserts batches of rows by statements that are planned once and may join by hash. */
    add: ask(adding),
    /** Runs the portal's queries on connections of their own, so that payments do not wait. */
    forScreens: ask(screens),
    snapshot: readIn(cold),
    snapshotForScreens: readIn(screens),
    /** Opens a connection outside the pools, to hold a lock or to receive notices. */
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
 * Gives a prepared statement a new name, and so a new plan, at its 10th, 100th, 1000th use and so
 * on. PostgreSQL keeps the first plan, which was made when the table was empty and had no
 * statistics.
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
    // The driver does not know columns' types, so the cast trusts the type that the caller names.
    return rows as Result[];
  };
}
