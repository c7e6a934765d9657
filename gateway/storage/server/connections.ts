/**
 * Opens connections to every database of the gateway. A connection is made to the first server of
 * an address that accepts writes, beginning with the server that did so last. All time limits are
 * those of the client: when a limit passes, the client closes the connection and never cancels the
 * statement. If a commit is cancelled while it waits for its standby, PostgreSQL reports success
 * although the standby does not have the commit (decision 0036). If the connection is closed, the
 * commit continues to wait.
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
   * The time after which a connection is closed if its statement has not ended. Undefined for
   * commands, whose statements may take any time.
   */
  readonly statementTimeoutMs?: number | undefined;
  /** Called when a connection that no statement uses was lost. */
  readonly onLost: (error: Error) => void;
};

export type Servers = ReturnType<typeof makeServers>;

/**
 * The servers of one database address. When a server is replaced by a standby, all connections that
 * share this object leave the old server together. An old server that was frozen and wakes up again
 * still says that it accepts writes, and must not be used.
 */
export function makeServers(url: string) {
  const parsed = parseDatabaseUrl(url);
  if (parsed instanceof Problem) throw new Error(parsed.sentence);
  const list: readonly Server[] = parsed;
  /**
   * Called when the connections must leave a server. If `isReplaced` is true, a standby has
   * replaced the server, and even its answers to statements in progress must be ignored.
   */
  const listeners = new Set<(isReplaced: boolean) => void>();
  let next = 0;
  let serving = 0;
  let generation = 0;
  /**
   * The newest timeline among the servers that have accepted writes. A timeline is only compared
   * with that of the same database system.
   */
  let newest = { system: "", timeline: 0 };
  let watching: NodeJS.Timeout | undefined;
  let isLooking = false;
  return {
    list,
    listeners,
    watch,
    /** Removes a listener. If there is no other listener, the regular checks of the servers end. */
    unlisten(listener: (isReplaced: boolean) => void): void {
      listeners.delete(listener);
      if (listeners.size === 0) clearInterval(watching);
    },
    mark: (): Mark => ({ server: next, generation }),
    isServing: (mark: Mark | undefined) => mark?.server === serving,
    isCurrent: (mark: Mark | undefined) =>
      mark?.generation === generation && mark.server === serving,
    passOver,
    /**
     * Notes that a server accepts writes. The note is ignored if a server was put in doubt after
     * this connection was begun.
     */
    arrive(mark: Mark, { system, timeline }: Timeline): void {
      const isOld = system === newest.system && timeline < newest.timeline;
      if (isOld) throw readOnlyError("the server was replaced by a standby");
      newest = { system, timeline };
      if (mark.server === serving || mark.generation !== generation) return;
      serving = mark.server;
      for (const listener of listeners) listener(false);
    },
    /** Puts a server in doubt. Connections to it that exist already are not used again. */
    doubt(mark: Mark): void {
      if (mark.generation !== generation) return;
      generation += 1;
      passOver(mark);
      for (const listener of listeners) listener(false);
    },
  };

  /**
   * Checks the other servers once a second. When a standby has taken over, it has a new timeline.
   * The old server may be frozen at that time, and may return outdated data when it wakes up.
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

  /** Makes the next connection try the server after this one. */
  function passOver({ server }: Mark): void {
    if (next === server) next = (server + 1) % list.length;
  }
}

/**
 * The server of a connection, and the number of times when a server had been put in doubt before
 * the connection was begun.
 */
type Mark = { readonly server: number; readonly generation: number };

/**
 * How long a connection is idle before keep-alive probes are sent. After ten unanswered probes, one
 * a second, the connection counts as lost, so that a dead machine is noticed.
 */
const keepAliveInitialDelayMillis = 5_000;
/**
 * The form in which servers print values. All servers use the same form, because `copy-rows.ts`
 * compares printed values of two servers.
 */
const form = "-c timezone=UTC -c datestyle=ISO,YMD -c bytea_output=hex";
/** How often the other servers of an address are checked. */
const watchMs = 1_000;
/**
 * The error of a pool in which all connections are in use. It does not mean that the server has
 * failed.
 */
const poolIsBusy = "timeout exceeded when trying to connect";

export type Connections = ReturnType<typeof makeConnections>;

export function makeConnections(servers: Servers, options: ConnectionOptions) {
  const marks = new WeakMap<pg.ClientBase, Mark>();
  const arrived = new WeakSet<pg.ClientBase>();
  const pools: pg.Pool[] = [];
  const outside = new Set<pg.Client>();
  const all = new Set<pg.Client>();
  servers.listeners.add(dropOlder);
  // Only a node checks the other servers regularly. A command ends soon and does not.
  if ((options.statementTimeoutMs ?? 0) > 0) servers.watch(options.connectTimeoutMs || watchMs);

  class MarkedClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const mark = servers.mark();
      super({ ...config, connectionString: servers.list[mark.server]?.url });
      marks.set(this, mark);
      all.add(this.on("end", () => all.delete(this)));
      // If a statement is in progress, it reports the lost connection itself. Without a listener,
      // the error event would end the process.
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
      // A connection that was lost while no statement used it is reported. The next statement opens
      // another one.
      pool.on("error", options.onLost);
      pools.push(pool);
      return pool;
    },

    /** Takes a free connection from a pool, or opens one. */
    take: (pool: pg.Pool): Promise<pg.PoolClient> => atEachServer(servers, () => takeFresh(pool)),

    /** Opens a connection that belongs to no pool, to hold a lock or to receive notices. */
    async open(settings: string): Promise<pg.Client> {
      const client = await atEachServer(servers, () => connect(settings));
      outside.add(client);
      client.on("end", () => outside.delete(client));
      return client;
    },

    /**
     * Decides by an error whether the server is in doubt. It must be called with every error of a
     * statement.
     */
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

  /** Fails if the server accepts no writes, because it is a standby or was set to read-only. */
  async function checkWritable(client: pg.ClientBase): Promise<Timeline> {
    const limitMs = options.connectTimeoutMs;
    const question = { text: firstStatement, query_timeout: limitMs };
    const { rows } = await client.query<ServerState>(question);
    if (rows[0]?.readOnly !== "off") throw readOnlyError("the server is read-only");
    return timelineOf(rows[0]);
  }

  /**
   * Takes a connection from a pool, and checks it if it is new. The pool has an option for this
   * check (`verify`), but with it the pool would lose a connection if the caller's time limit ends
   * during the check.
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
   * Closes connections that were made before the latest doubt. Those that no statement uses are
   * closed at once. The others are not used again, and end with their statement or its time limit.
   * If the server was replaced, all of these connections are closed at once.
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

/** Returns the state of each server of an address, for `gw doctor`. */
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

/** Opens a connection to one server and asks for its state. */
async function askServer(url: string, timeoutMs: number) {
  let client: pg.Client | undefined;
  try {
    // The constructor reads the files of certificates and throws if one cannot be read.
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
    // The certificate of the server. Undefined for a connection without TLS.
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

/** Reads the state of a server. The timeline of a standby is empty until the standby takes over. */
const serverState = `
select current_setting('transaction_read_only') as "readOnly",
  (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery()
    then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * The first statement of each connection. It makes the server end a statement when the client has
 * gone. Otherwise such statements would pile up behind a lock. A commit continues even then. Some
 * operating systems cannot detect that a client has gone, and do not get this setting.
 */
const firstStatement = `${serverState},
  case when version() ~* 'linux|darwin|bsd'
    then set_config('client_connection_check_interval', '2s', false) end`;

function drop(client: pg.PoolClient): void {
  destroy(client);
  client.release(true);
}

/**
 * Closes the socket at once. The protocol's own close message would wait for minutes if the server
 * does not answer.
 */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/**
 * Tries the servers one after the other and returns the first connection that can be opened. Fails
 * after each server was tried once.
 */
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
 * Adds the name of the server to an error. It also adds a missing code and message: errors of the
 * driver have no code, and some errors of the operating system have no message.
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
 * Joins the errors of all servers into one. If a later try may succeed at one of the servers, the
 * joined error has the code of that server's error.
 */
function joinFailures(failures: readonly Error[]): Error {
  const telling = failures.find((each) => judge(each) === "retry") ?? failures[0];
  const message = failures.map((each) => each.message).join("; ");
  const code = telling !== undefined && "code" in telling ? telling.code : noConnection;
  return Object.assign(new Error(message), { code });
}
