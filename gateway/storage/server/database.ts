/**
 * Connections to PostgreSQL. Hot statements have connections of their own, whose planner may not
 * scan whole tables: a table that was empty when a plan was cached grows quickly.
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

// A batch is joined with a table by one index look-up per row: any other plan reads the whole
// table, which looks cheap until the statistics notice that it has grown. The page costs prevent a
// nested loop over the table's rows, however few those are now.
export const hotPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
  ...["enable_bitmapscan=off", "random_page_cost=0.01", "seq_page_cost=0.01"],
].reduce((settings, setting) => `${settings} -c ${setting}`, genericPlans);

type DatabaseOptions = ConnectionOptions & {
  /** The role that the login assumes. */
  readonly role?: string | undefined;
  /** The schemas of a cell, whose tables statements name without one; those of the first cell. */
  readonly searchPath?: string;
  /** Citus cannot plan batches generically, and keeps planner settings from its workers. */
  readonly onCitus?: boolean;
};

/** Of the first cell, and of everything that an installation has once. */
const mainSearchPath = "public,vault";

/**
 * Citus passes `set local` on to the worker: a statement there waits no longer for a lock. And it
 * waits no longer for a worker than the gateway waits for the coordinator.
 */
const sessionOnCitus = (connectTimeoutMs: number) => [
  "-c citus.propagate_set_commands=local",
  `-c citus.node_connection_timeout=${connectTimeoutMs}`,
];

/**
 * Connections that stay open: for new orders alone; for their steps, their look-ups and one more.
 * On a new connection a batch waits until its statement is planned.
 */
const [newMin, hotMin] = [1, 3];

const asideMax = 3;

/**
 * A condition that is always true; on Citus it reads a table of the cell. Without it Citus sends
 * the rows of a CTE to every worker before it inserts them: one that is away would stop all cells.
 */
export const besideOthers = "true /* beside others */";
const readsCell = "not exists (select from moved_merchants where merchant_id = 0)";

/** A transaction replaces a whole list: its statements are few and may take longer. */
const transactionPatience = 12;

/** Two that share their servers leave a failed one together. */
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
  const aside = connections.openPool(session, 0, asideMax);
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
    /** With PostgreSQL's default planner. */
    query: ask(cold),
    /** For statements that find rows of large tables: the planner must use an index. */
    hot: makeReplanned(ask(hot)),
    /** For batches of new rows, which are joined with one another: by hash, and planned once. */
    add: ask(adding),
    /** For what people look at: it waits for its own kind, and never keeps a payment waiting. */
    aside: ask(aside),
    /** All that the work reads is as of one moment. */
    snapshot: readIn(cold),
    snapshotAside: readIn(aside),
    /** A connection outside the pools, for a lock or a subscription. */
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

/** A connection on which a statement has failed is closed. */
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
 * A prepared statement keeps the plan that was right when it was prepared. It is prepared again,
 * under another name, at its 10th, 100th, 1000th … use: often enough for a table that grows from
 * nothing, before statistics exist.
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
    // The driver does not know the columns; the statement's author states them.
    return rows as Result[];
  };
}
