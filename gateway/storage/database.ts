/**
 * Connections to PostgreSQL. The hot statements have connections of their own, whose planner is
 * kept from scanning whole tables: a table that was empty when a plan was cached soon is not.
 */
import pg from "pg";

export type Query = <Result>(
  text: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<readonly Result[]>;

export type Database = {
  /** With PostgreSQL's own planner. */
  readonly query: Query;
  /** For statements that find rows of large tables: the planner must go by an index. */
  readonly hot: Query;
  /** One connection of its own for a transaction, a lock or a subscription. */
  connect(): Promise<pg.Client>;
  transaction<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
};

const applicationName = "tollgate";
// A batch is joined with a table by one index look-up per row, and by nothing else: any other plan
// reads the whole table, which looks cheap only as long as the statistics have not noticed it grow.
const hotPlanner = [
  ...["seqscan", "hashjoin", "mergejoin", "material", "bitmapscan"].map(
    (way) => `enable_${way}=off`,
  ),
  // Nor one row of the batch after the other for each row of the table, however few those are now.
  ...["random_page_cost=0.01", "seq_page_cost=0.01", "plan_cache_mode=force_generic_plan"],
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const role = options.role === undefined ? "" : `-c role=${options.role}`;
  const shared = {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    options: role,
  };
  const cold = new pg.Pool({ ...shared, max: options.poolSize });
  const planned = { ...shared, options: `${hotPlanner} ${role}` };
  const hot = new pg.Pool({ ...planned, max: options.poolSize, min: 2 });
  // A lost idle connection is replaced by the next query; without a listener it would end us.
  for (const pool of [cold, hot]) pool.on("error", options.onLost);

  return {
    query: makeQuery(cold),
    hot: makeReplanned(makeQuery(hot)),
    async connect() {
      const client = new pg.Client(shared);
      // Whoever waits for an answer learns of the loss by that; unheard, the event would end us.
      client.on("error", () => undefined);
      await client.connect();
      return client;
    },
    async transaction(work) {
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
    async close() {
      await Promise.all([cold.end(), hot.end()]);
    },
  };
}

export type DatabaseOptions = {
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly onLost: (error: Error) => void;
  /** What whoever logs in becomes; without it, nobody else. */
  readonly role?: string | undefined;
};

/**
 * A prepared statement keeps the plan that was right for the table as it was then. It is prepared
 * anew, under another name, at its 10th, 100th, 1000th … use: often enough for a table that grows
 * from nothing, before anything has gathered statistics.
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
    // The driver cannot know what a row looks like; the statement's author says it.
    return rows as Result[];
  };
}

/** The server went away or refuses work for the moment: the same statement may work later. */
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
