/**
 * The connection policy for every database that the gateway opens. A connection is made to the
 * first server that takes writes, beginning with the server that did so last. All time limits are
 * the client's: it closes the connection and never cancels a statement, because PostgreSQL reports
 * success for a commit whose wait for its standby was cancelled (decision 0036). A commit continues
 * to wait after its client has gone.
 */
import { TLSSocket } from "node:tls";
import pg from "pg";
import { messageOf, Problem } from "../../values/problem.ts";
import { parseDatabaseUrl, type Server } from "./database-url.ts";
import { isServerInDoubt, judge, readOnly } from "./faults.ts";

export type ConnectionOptions = {
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /**
   * The time after which the connection is closed. Undefined for commands, which may take their
   * time.
   */
  readonly statementTimeoutMs?: number | undefined;
  /** Called when an idle connection was lost. */
  readonly onLost: (error: Error) => void;
};

export type Servers = ReturnType<typeof makeServers>;

/**
 * The servers of one address. All connections that use this object leave a server together, because
 * an old primary that wakes up again claims to take writes.
 */
export function makeServers(url: string) {
  const parsed = parseDatabaseUrl(url);
  if (parsed instanceof Problem) throw new Error(parsed.sentence);
  const list: readonly Server[] = parsed;
  /** Called when a server was left. `isReplaced` says that its answers do not count any more. */
  const listeners = new Set<(isReplaced: boolean) => void>();
  let next = 0;
  let serving = 0;
  let generation = 0;
  /**
   * The newest timeline of the servers that took writes. A server of another system is no
   * successor.
   */
  let newest = { system: "", timeline: 0 };
  let watching: NodeJS.Timeout | undefined;
  let isLooking = false;
  return {
    list,
    listeners,
    watch,
    /** Removes a listener, and stops asking the servers if there is none left. */
    unlisten(listener: (isReplaced: boolean) => void): void {
      listeners.delete(listener);
      if (listeners.size === 0) clearInterval(watching);
    },
    mark: (): Mark => ({ server: next, generation }),
    isServing: (mark: Mark | undefined) => mark?.server === serving,
    isCurrent: (mark: Mark | undefined) =>
      mark?.generation === generation && mark.server === serving,
    passOver,
    /** Notes that a server takes writes, unless it was in doubt since the connection was begun. */
    arrive(mark: Mark, { system, timeline }: Timeline): void {
      const isOld = system === newest.system && timeline < newest.timeline;
      if (isOld) throw readOnlyError("the server was replaced by a standby");
      newest = { system, timeline };
      if (mark.server === serving || mark.generation !== generation) return;
      serving = mark.server;
      for (const listener of listeners) listener(false);
    },
    /** Puts a server in doubt: connections that were made before are not used again. */
    doubt(mark: Mark): void {
      if (mark.generation !== generation) return;
      generation += 1;
      passOver(mark);
      for (const listener of listeners) listener(false);
    },
  };

  /**
   * Asks the other servers once a second. A promoted standby has begun another timeline, while the
   * old primary may be frozen and answer from outdated knowledge when it wakes up.
   */
  function watch(timeoutMs: number): void {
    if (watching !== undefined || list.length === 1) return;
    watching = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void Promise.all(list.map(look)).finally(() => {
        isLooking = false;
      });
    }, watchMs).unref();

    async function look({ url: address }: Server, server: number): Promise<void> {
      if (server === serving) return;
      const { isWritable, system, timeline } = await askServer(address, timeoutMs);
      const isSuccessor = system === newest.system && timeline > newest.timeline;
      if (!isWritable || !isSuccessor) return;
      newest = { system, timeline };
      [next, serving] = [server, server];
      generation += 1;
      for (const listener of listeners) listener(true);
    }
  }

  /** Makes the next attempt use another server. */
  function passOver({ server }: Mark): void {
    if (next === server) next = (server + 1) % list.length;
  }
}

/** The server of a connection, and whether it was made after the latest doubt. */
type Mark = { readonly server: number; readonly generation: number };

/**
 * The idle time after which keep-alive probes are sent. After ten unanswered ones, one a second, a
 * dead machine is noticed.
 */
const keepAliveInitialDelayMillis = 5_000;
/**
 * The form of values as text, which is the same on all servers because `copy-rows.ts` compares
 * them.
 */
const form = "-c timezone=UTC -c datestyle=ISO,YMD -c bytea_output=hex";
/** How often the other servers are asked. */
const watchMs = 1_000;
/** The error of a full pool, which says nothing about the server. */
const poolIsBusy = "timeout exceeded when trying to connect";

export type Connections = ReturnType<typeof makeConnections>;

export function makeConnections(servers: Servers, options: ConnectionOptions) {
  const marks = new WeakMap<pg.ClientBase, Mark>();
  const arrived = new WeakSet<pg.ClientBase>();
  const pools: pg.Pool[] = [];
  const outside = new Set<pg.Client>();
  const all = new Set<pg.Client>();
  servers.listeners.add(dropOlder);
  // Only nodes watch the servers, because a command ends soon.
  if ((options.statementTimeoutMs ?? 0) > 0) servers.watch(options.connectTimeoutMs || watchMs);

  class MarkedClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const mark = servers.mark();
      super({ ...config, connectionString: servers.list[mark.server]?.url });
      marks.set(this, mark);
      all.add(this.on("end", () => all.delete(this)));
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
    options: `-c statement_timeout=0 ${form} ${settings}`,
  });

  return {
    openPool(settings: string, min = 0, max = options.poolSize): pg.Pool {
      const pool = new pg.Pool({ ...shared(settings), max, min, Client: MarkedClient });
      // The next query replaces a lost idle connection.
      pool.on("error", options.onLost);
      pools.push(pool);
      return pool;
    },

    /** Takes a connection from a pool, or makes one. */
    take: (pool: pg.Pool): Promise<pg.PoolClient> => atEachServer(servers, () => takeFresh(pool)),

    /** Opens a connection outside the pools, for a lock or a subscription. */
    async open(settings: string): Promise<pg.Client> {
      const client = await atEachServer(servers, () => connect(settings));
      outside.add(client);
      client.on("end", () => outside.delete(client));
      return client;
    },

    /** Judges the server by an error. It must be called with every error of a statement. */
    doubt(client: pg.ClientBase, error: unknown): void {
      const mark = marks.get(client);
      if (mark !== undefined && isServerInDoubt(error)) servers.doubt(mark);
    },

    async close(): Promise<void> {
      servers.unlisten(dropOlder);
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };

  async function connect(settings: string): Promise<pg.Client> {
    const client = new MarkedClient(shared(settings));
    try {
      await client.connect();
      await arrive(client);
      if (servers.isCurrent(marks.get(client))) return client;
      throw Object.assign(new Error("the server is in doubt"), { code: noConnection });
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  async function arrive(client: pg.ClientBase): Promise<void> {
    const timeline = await checkWritable(client);
    const mark = marks.get(client);
    if (mark !== undefined) servers.arrive(mark, timeline);
    arrived.add(client);
  }

  /** Fails on a standby, and on a server that was made read-only. */
  async function checkWritable(client: pg.ClientBase): Promise<Timeline> {
    const limitMs = options.connectTimeoutMs;
    const question = { text: firstStatement, query_timeout: limitMs };
    const { rows } = await client.query<ServerState>(question);
    if (rows[0]?.readOnly !== "off") throw readOnlyError("the server is read-only");
    return timelineOf(rows[0]);
  }

  /**
   * Takes a connection and checks a new one. The pool's own hook (`verify`) would lose a connection
   * for good if the caller's time limit ends during the check.
   */
  async function takeFresh(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      try {
        if (!arrived.has(client)) await arrive(client);
      } catch (error) {
        drop(client);
        throw error;
      }
      if (servers.isCurrent(marks.get(client))) return client;
      drop(client);
    }
  }

  /**
   * Closes older connections: idle ones at once, while busy ones end by their own time limit and
   * are not used again. If the server was replaced, all are closed at once.
   */
  function dropOlder(isReplaced: boolean): void {
    if (isReplaced) {
      for (const each of all) if (!servers.isCurrent(marks.get(each))) destroy(each);
      return;
    }
    for (const pool of pools) {
      for (let left = pool.idleCount; left > 0; left -= 1) {
        const isOld = (client: pg.PoolClient) => !servers.isCurrent(marks.get(client));
        const check = (client: pg.PoolClient) => (isOld(client) ? drop(client) : client.release());
        void pool.connect().then(check, () => undefined);
      }
    }
    for (const each of outside) {
      if (!servers.isServing(marks.get(each))) destroy(each);
      else void checkWritable(each).catch(() => destroy(each));
    }
  }
}

/** Returns what each server of an address says, for `gw doctor`. */
export async function examineServers(url: string, timeoutMs: number) {
  const { list } = makeServers(url);
  return Promise.all(
    list.map(async ({ name, url: address }) => {
      const { isWritable, failure, certificate } = await askServer(address, timeoutMs);
      const state = failure ?? (isWritable ? "takes writes" : "read-only");
      return { name, isWritable, state, certificate };
    }),
  );
}

/** Asks a server over a connection of its own. */
async function askServer(url: string, timeoutMs: number) {
  let client: pg.Client | undefined;
  try {
    // The constructor may throw, because it reads the files of certificates.
    client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      application_name: "tollgate-watch",
    });
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query<ServerState>(serverState);
    const isWritable = rows[0]?.readOnly === "off";
    const { stream } = client.connection;
    // Without TLS, the server presents no certificate.
    const certificate = stream instanceof TLSSocket ? stream.getPeerX509Certificate() : undefined;
    return { isWritable, ...timelineOf(rows[0]), failure: undefined, certificate };
  } catch (error) {
    const failure = messageOf(error);
    return { isWritable: false, ...timelineOf(undefined), failure, certificate: undefined };
  } finally {
    if (client !== undefined) destroy(client);
  }
}

type Timeline = { readonly system: string; readonly timeline: number };
type ServerState = { readonly readOnly: string } & {
  readonly [Name in keyof Timeline]: Timeline[Name] | null;
};

function timelineOf(state: ServerState | undefined): Timeline {
  return { system: state?.system ?? "", timeline: state?.timeline ?? 0 };
}

/** Reads the state of a server. A standby has no timeline of its own until it is promoted. */
const serverState = `
select current_setting('transaction_read_only') as "readOnly",
  (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery()
    then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * The first statement of a connection. It makes the server end statements whose client has gone,
 * except commits: otherwise abandoned statements would pile up behind a lock. Some systems cannot
 * detect that a client has gone.
 */
const firstStatement = `${serverState},
  case when version() ~* 'linux|darwin|bsd'
    then set_config('client_connection_check_interval', '2s', false) end`;

function drop(client: pg.PoolClient): void {
  destroy(client);
  client.release(true);
}

/**
 * Closes the socket without the protocol's farewell, which a silent server would leave unanswered
 * for minutes.
 */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Returns the first connection that can be made. Fails after each server was tried once. */
async function atEachServer<Client>(
  { list, mark, passOver }: Servers,
  connect: () => Promise<Client>,
): Promise<Client> {
  const failures: Error[] = [];
  for (;;) {
    const tried = mark();
    try {
      return await connect();
    } catch (error) {
      if (!(error instanceof Error) || judge(error) === "bug") throw error;
      if (error.message === poolIsBusy || list.length === 1) throw error;
      passOver(tried);
      failures.push(nameServer(error, list[tried.server]));
      if (failures.length >= list.length) throw joinFailures(failures);
    }
  }
}

/**
 * Adds the server's name to an error. The driver's own errors have no code, and some of the
 * system's have no message.
 */
function nameServer(error: Error, server: Server | undefined): Error {
  const known = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const code = known ?? (judge(error) === "retry" ? noConnection : notAuthorized);
  const message = `${server?.name}: ${error.message || code}`;
  return Object.assign(new Error(message, { cause: error }), { code });
}

const noConnection = "08001";

function readOnlyError(sentence: string): Error {
  return Object.assign(new Error(sentence), { code: readOnly });
}
const notAuthorized = "28000";

/**
 * Joins the failures of all servers. The code comes from one that another try may overcome, if
 * there is one.
 */
function joinFailures(failures: readonly Error[]): Error {
  const telling = failures.find((each) => judge(each) === "retry") ?? failures[0];
  const message = failures.map((each) => each.message).join("; ");
  const code = telling !== undefined && "code" in telling ? telling.code : noConnection;
  return Object.assign(new Error(message), { code });
}
