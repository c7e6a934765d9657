/**
 * Connections to PostgreSQL. Hot statements have connections of their own, whose planner may not
 * scan whole tables: a table that was empty when a plan was cached grows quickly.
 */
import pg from "pg";

export type Query = <Result>(
  text: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<readonly Result[]>;

export type Database = Readonly<ReturnType<typeof openDatabase>>;

// A batch is joined with a table by one index look-up per row: any other plan reads the whole
// table, which looks cheap until the statistics notice that it has grown. The page costs prevent a
// nested loop over the table's rows, however few those are now.
const hotPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
  ...["enable_bitmapscan=off", "random_page_cost=0.01", "seq_page_cost=0.01"],
  "plan_cache_mode=force_generic_plan",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

type DatabaseOptions = {
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly onLost: (error: Error) => void;
  /** The role that the login assumes. */
  readonly role?: string | undefined;
  /** The schemas of a cell, whose tables statements name without one; those of the first cell. */
  readonly searchPath?: string;
};

/** Of the first cell, and of everything that an installation has once. */
export const mainSearchPath = "public,vault";

export function openDatabase(url: string, options: DatabaseOptions) {
  const role = options.role === undefined ? "" : `-c role=${options.role}`;
  const session = `-c search_path=${options.searchPath ?? mainSearchPath} ${role}`;
  const shared = {
    connectionString: url,
    application_name: "tollgate",
    connectionTimeoutMillis: options.connectTimeoutMs,
    options: session,
  };
  const cold = new pg.Pool({ ...shared, max: options.poolSize });
  const hotOptions = { options: `${hotPlanner} ${session}`, max: options.poolSize, min: 2 };
  const hot = new pg.Pool({ ...shared, ...hotOptions });
  // The next query replaces a lost idle connection; without a listener it would end the process.
  for (const pool of [cold, hot]) pool.on("error", options.onLost);

  return {
    /** With PostgreSQL's default planner. */
    query: makeQuery(cold),
    /** For statements that find rows of large tables: the planner must use an index. */
    hot: makeReplanned(makeQuery(hot)),
    /** A connection outside the pools, for a lock or a subscription. */
    async connect() {
      const client = new pg.Client(shared);
      // A waiting query reports the loss; without a listener the event would end the process.
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    async transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
      const client = await cold.connect();
      const ignore = () => undefined;
      client.on("error", ignore);
      try {
        await client.query("begin");
        const result = await work(makeQuery(client));
        await client.query("commit");
        client.off("error", ignore);
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
    async close(): Promise<void> {
      await Promise.all([cold.end(), hot.end()]);
    },
  };
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

function makeQuery(target: pg.Pool | pg.PoolClient): Query {
  return async <Result>(text: string, values: readonly unknown[] = [], name?: string) => {
    const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    const { rows } = await target.query(statement);
    // The driver does not know the columns; the statement's author states them.
    return rows as Result[];
  };
}

/** The server is away or refuses work now: the same statement may succeed later. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    /^(08|57P0|53)/.test(code) ||
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT)$/.test(code) ||
    /connection terminated|connection timeout|timeout exceeded|not queryable|client has encountered/i.test(
      error.message,
    )
  );
}
