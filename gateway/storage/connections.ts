/**
 * The connection policy, for every database that the gateway opens. A connection is made to the
 * first server that takes writes, and the server that did so last is asked first. All time limits
 * are the client's: it closes the connection and never cancels a statement, because PostgreSQL
 * reports success for a cancelled wait of a commit for its standby (decision 0036).
 */
import pg from "pg";
import { Problem } from "../values/problem.ts";
import { parseDatabaseUrl, type Server } from "./database-url.ts";
import { isServerInDoubt, judge, readOnly } from "./faults.ts";

export type ConnectionOptions = {
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** After it the connection is closed; absent for commands, which may take their time. */
  readonly statementTimeoutMs?: number | undefined;
  /** An idle connection was lost. */
  readonly onLost: (error: Error) => void;
};

/** A dead machine is noticed after this time and ten unanswered probes, one a second. */
const keepAliveInitialDelayMillis = 5_000;
/** A pool's own wait says nothing about the server. */
const poolIsBusy = "timeout exceeded when trying to connect";

/** The server's connections of one time: after a doubt about it, older ones are not used again. */
type Marked = { readonly server: number; readonly generation: number };

export type Connections = ReturnType<typeof makeConnections>;

export function makeConnections(url: string, options: ConnectionOptions) {
  const parsed = parseDatabaseUrl(url);
  if (parsed instanceof Problem) throw new Error(parsed.sentence);
  const servers: readonly Server[] = parsed;
  const marks = new WeakMap<pg.ClientBase, Marked>();
  const outside = new Set<pg.Client>();
  let current = 0;
  let generation = 0;

  class MarkedClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, connectionString: servers[current]?.url });
      marks.set(this, { server: current, generation });
      // A waiting query reports the loss; without a listener the event would end the process.
      this.on("error", () => undefined);
    }
  }

  const shared = (settings: string): pg.ClientConfig => ({
    application_name: "tollgate",
    connectionTimeoutMillis: options.connectTimeoutMs,
    query_timeout: options.statementTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    options: `-c statement_timeout=0 ${settings}`,
  });

  return {
    openPool(settings: string, min = 0): pg.Pool {
      const verify = (client: pg.PoolClient, done: (error?: Error) => void) =>
        void checkWritable(client).then(() => done(), done);
      const limits = { max: options.poolSize, min, verify, Client: MarkedClient };
      const pool = new pg.Pool({ ...shared(settings), ...limits });
      // The next query replaces a lost idle connection.
      pool.on("error", options.onLost);
      return pool;
    },

    /** From a pool, or new. */
    take: (pool: pg.Pool): Promise<pg.PoolClient> => atEachServer(() => takeFresh(pool)),

    /** Outside the pools, for a lock or a subscription. */
    async open(settings: string): Promise<pg.Client> {
      const client = await atEachServer(async () => {
        const opened = new MarkedClient(shared(settings));
        try {
          await opened.connect();
          await checkWritable(opened);
          return opened;
        } catch (error) {
          destroy(opened);
          throw error;
        }
      });
      outside.add(client);
      client.on("end", () => outside.delete(client));
      return client;
    },

    /** To be called with every error of a statement. */
    doubt(client: pg.ClientBase, error: unknown): void {
      const mark = marks.get(client);
      if (!isServerInDoubt(error) || mark?.generation !== generation) return;
      generation += 1;
      passOver(mark.server);
      for (const each of outside) void checkWritable(each).catch(() => destroy(each));
    },
  };

  /** Fails on a standby, and on a server that was made read-only. */
  async function checkWritable(client: pg.ClientBase): Promise<void> {
    const question = {
      text: "show transaction_read_only",
      query_timeout: options.connectTimeoutMs,
    };
    const { rows } = await client.query<{ transaction_read_only: string }>(question);
    if (rows[0]?.transaction_read_only === "off") return;
    throw Object.assign(new Error("the server is read-only"), { code: readOnly });
  }

  async function takeFresh(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (marks.get(client)?.generation === generation) return client;
      destroy(client);
      client.release(true);
    }
  }

  /** Answers the first connection that is made; fails when each server was tried once. */
  async function atEachServer<Client>(connect: () => Promise<Client>): Promise<Client> {
    const failures: Error[] = [];
    for (;;) {
      const server = current;
      try {
        return await connect();
      } catch (error) {
        if (!(error instanceof Error) || judge(error) === "bug") throw error;
        if (error.message === poolIsBusy || servers.length === 1) throw error;
        passOver(server);
        failures.push(nameServer(error, servers[server]));
        if (failures.length >= servers.length) throw joinFailures(failures);
      }
    }
  }

  function passOver(server: number): void {
    if (current === server) current = (server + 1) % servers.length;
  }
}

/** Without a good-bye, which a silent server would leave unanswered for minutes. */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** The driver's own errors have no code, and some of the system's have no sentence. */
function nameServer(error: Error, server: Server | undefined): Error {
  const known = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const code = known ?? (judge(error) === "retry" ? noConnection : notAuthorized);
  const message = `${server?.name}: ${error.message || code}`;
  return Object.assign(new Error(message, { cause: error }), { code });
}

const noConnection = "08001";
const notAuthorized = "28000";

/** The one that another try may overcome gives its code. */
function joinFailures(failures: readonly Error[]): Error | undefined {
  const [first] = failures.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (failures.length === 1 || first === undefined) return first;
  const message = failures.map((each) => each.message).join("; ");
  return Object.assign(new Error(message), { code: "code" in first ? first.code : undefined });
}

function rankOf(error: Error): number {
  return judge(error) === "retry" ? 0 : 1;
}
