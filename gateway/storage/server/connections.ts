/**
 * Opens connections to the one server of an address that accepts writes, and tries the server first
 * that accepted writes last. The client keeps all time limits: when one passes, it closes the
 * connection and never cancels the statement. A commit that is cancelled while it waits for its
 * standby would be reported as a success that the standby lacks (decision 0036); after a close, it
 * continues to wait.
 */
import { TLSSocket } from "node:tls";
import pg from "pg";
import { messageOf, Problem } from "../../values/problem.ts";
import { parseDatabaseUrl, type Server } from "./database-url.ts";
import { isServerInDoubt, judge, readOnly } from "./faults.ts";

export type ConnectionOptions = {
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  /** The longest duration of a statement. Undefined for commands, which may take any time. */
  readonly statementTimeoutMs?: number | undefined;
  /** Called when a connection that no statement uses was lost. */
  readonly onLost: (error: Error) => void;
};

export type Servers = ReturnType<typeof makeServers>;

/**
 * The servers of one address. When a standby replaces a server, all connections that share this
 * object leave the old server together: it may have been frozen, and on waking up it still says
 * that it accepts writes.
 */
export function makeServers(url: string) {
  const parsed = parseDatabaseUrl(url);
  if (parsed instanceof Problem) throw new Error(parsed.sentence);
  const list: readonly Server[] = parsed;
  /**
   * Called when the connections must leave a server, with true if a standby has replaced it: even
   * its answers to running statements must be ignored then.
   */
  const listeners = new Set<(isReplaced: boolean) => void>();
  let next = 0;
  let serving = 0;
  let generation = 0;
  /** The system identifier and the newest timeline of the servers that have accepted writes. */
  let newest = { system: "", timeline: 0 };
  let watching: NodeJS.Timeout | undefined;
  let isLooking = false;
  return {
    list,
    listeners,
    watch,
    /** The regular checks of the servers end with the last listener. */
    unlisten(listener: (isReplaced: boolean) => void): void {
      listeners.delete(listener);
      if (listeners.size === 0) clearInterval(watching);
    },
    mark: (): Mark => ({ server: next, generation }),
    isServing: (mark: Mark | undefined) => mark?.server === serving,
    isCurrent: (mark: Mark | undefined) =>
      mark?.generation === generation && mark.server === serving,
    passOver,
    /** Notes that a server accepts writes. Refuses a server that a standby has replaced. */
    arrive(mark: Mark, { system, timeline }: Timeline): void {
      const isOld = system === newest.system && timeline < newest.timeline;
      if (isOld) throw readOnlyError("the server was replaced by a standby");
      newest = { system, timeline };
      if (mark.server === serving || mark.generation !== generation) return;
      serving = mark.server;
      for (const listener of listeners) listener(false);
    },
    /** Puts a server in doubt: its present connections are not used again. */
    doubt(mark: Mark): void {
      if (mark.generation !== generation) return;
      generation += 1;
      passOver(mark);
      for (const listener of listeners) listener(false);
    },
  };

  /**
   * Checks the other servers once a second. A new timeline shows that a standby has taken over, and
   * that the old server, if it was frozen, returns outdated data when it wakes up.
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

  function passOver({ server }: Mark): void {
    if (next === server) next = (server + 1) % list.length;
  }
}

/** A connection's server, and how often servers had been put in doubt before it was connected. */
type Mark = { readonly server: number; readonly generation: number };

/** Ten unanswered probes after this idle time, one a second, show that a machine is dead. */
const keepAliveInitialDelayMillis = 5_000;
/** Fixes how servers print values, because `copy-rows.ts` compares the texts of two servers. */
const form = "-c timezone=UTC -c datestyle=ISO,YMD -c bytea_output=hex";
const watchMs = 1_000;
/** The error of a pool whose connections are all in use. The server has not failed. */
const poolIsBusy = "timeout exceeded when trying to connect";

export type Connections = ReturnType<typeof makeConnections>;

export function makeConnections(servers: Servers, options: ConnectionOptions) {
  const marks = new WeakMap<pg.ClientBase, Mark>();
  const arrived = new WeakSet<pg.ClientBase>();
  const pools: pg.Pool[] = [];
  const outside = new Set<pg.Client>();
  const all = new Set<pg.Client>();
  servers.listeners.add(dropOlder);
  if ((options.statementTimeoutMs ?? 0) > 0) servers.watch(options.connectTimeoutMs || watchMs);

  class MarkedClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const mark = servers.mark();
      super({ ...config, connectionString: servers.list[mark.server]?.url });
      marks.set(this, mark);
      all.add(this.on("end", () => all.delete(this)));
      // Without a listener, a lost connection ends the process. Its statement reports the loss.
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
      // Reports a lost connection that no statement used. The next statement opens another one.
      pool.on("error", options.onLost);
      pools.push(pool);
      return pool;
    },

    take: (pool: pg.Pool): Promise<pg.PoolClient> => atEachServer(servers, () => takeFresh(pool)),

    async open(settings: string): Promise<pg.Client> {
      const client = await atEachServer(servers, () => connect(settings));
      outside.add(client);
      client.on("end", () => outside.delete(client));
      return client;
    },

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

  /** Fails if the server is a standby or was set to read-only. */
  async function checkWritable(client: pg.ClientBase): Promise<Timeline> {
    const limitMs = options.connectTimeoutMs;
    const question = { text: firstStatement, query_timeout: limitMs };
    const { rows } = await client.query<ServerState>(question);
    if (rows[0]?.readOnly !== "off") throw readOnlyError("the server is read-only");
    return timelineOf(rows[0]);
  }

  /**
   * Checks a new connection when it is taken. With the pool's own option for this (`verify`), the
   * pool would lose a connection if the caller's time limit ends during the check.
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
   * Closes connections made before a server was last in doubt. A connection that a statement uses
   * ends with the statement or its time limit, or at once if a standby has replaced the server.
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

async function askServer(url: string, timeoutMs: number) {
  let client: pg.Client | undefined;
  try {
    // `pg.Client` reads the files of certificates, and throws if one cannot be read.
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

/** The timeline of a standby is empty until it takes over. */
const serverState = `
select current_setting('transaction_read_only') as "readOnly",
  (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery()
    then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * The first statement of each connection. It makes the server end a statement, though not a commit,
 * whose client has gone, because such statements would pile up behind a lock. Some operating
 * systems cannot detect that a client has gone, and do not get this setting.
 */
const firstStatement = `${serverState},
  case when version() ~* 'linux|darwin|bsd'
    then set_config('client_connection_check_interval', '2s', false) end`;

function drop(client: pg.PoolClient): void {
  destroy(client);
  client.release(true);
}

/** Closes the socket at once, because the protocol's close waits minutes for a silent server. */
function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Tries each server once and returns the first connection that can be opened. */
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
 * Adds the server's name to an error, and what may be missing: errors of the driver have no code,
 * and some of the operating system no message.
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

/** If one of the errors is temporary, the joined error has its code, and the caller tries again. */
function joinFailures(failures: readonly Error[]): Error {
  const telling = failures.find((each) => judge(each) === "retry") ?? failures[0];
  const message = failures.map((each) => each.message).join("; ");
  const code = telling !== undefined && "code" in telling ? telling.code : noConnection;
  return Object.assign(new Error(message), { code });
}
