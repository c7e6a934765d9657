/**
 * The presence of a node among others. One connection holds a lock on the node's name while the
 * process lives. It receives notices of changed configuration, and answers that other nodes hand
 * over. A node that gets the lock on its name knows that the previous node of that name has ended,
 * and may claim its orders at once. No node runs without the lock, because commits and orders in
 * flight contain the name.
 */
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import type pg from "pg";
import { configurationChannel } from "../configuration/configuration.ts";
import type { Database, Query } from "./database.ts";
import { makeGather, textArray } from "./gather.ts";

/**
 * The node's current name. It changes if another node has taken it while the database was
 * unreachable.
 */
export type NodeName = {
  readonly name: string;
  /** Returns all names that this process has had. Its own commits contain one of them. */
  names(): readonly string[];
};

/** Makes a name for a command, which is no node. */
export function makeFixedName(name: string): NodeName {
  return { name, names: () => [name] };
}

type Options = {
  /** The possible names, of which the first free one is taken. */
  readonly names: readonly string[];
  /** How long to wait for a name that is in use, perhaps by a process that is just ending. */
  readonly waitMs: number;
  /** How often the connection is tested, and how long it may take to answer. */
  readonly checkMs: number;
  readonly onLost: (error: Error) => void;
  readonly onRenamed: (renamed: { readonly from: string; readonly to: string }) => void;
};

export class NodeNameTaken extends Error {
  constructor(names: readonly string[]) {
    super(`another node is running as ${names[0]}`);
  }
}

/**
 * The channel for acquirers' answers that arrived at another process than the one that waits for
 * them.
 */
const answerChannel = "tollgate_answers";

/**
 * Hands a text to every node, including this one. A node that does not listen at that moment does
 * not get it, so a node that waits for a text must be able to continue without it.
 */
export function makeHandOver(query: Query, { retryMs }: { readonly retryMs: number }) {
  return makeGather<string, void>(
    async (texts) => {
      await query(
        "select pg_notify($1, text) from unnest($2::text[]) as text",
        [answerChannel, textArray(texts)],
        "hand_over",
      );
      return texts.map(() => undefined);
    },
    // A text that is too long for a notice must not make the others fail.
    { retryMs, retryAlone: true },
  );
}

const tryEveryMs = 200;
const spareNames = 9;

export async function takePresence(database: Pick<Database, "connect">, options: Options) {
  const { names, waitMs, checkMs, onLost, onRenamed } = options;
  const spare = Array.from({ length: spareNames }, (_, index) => `${names[0]}-${index + 2}`);
  let client: pg.Client | undefined;
  let session: Session | undefined;
  let stopped = false;
  let notice = () => {};
  let takeOver = (_text: string) => {};
  let wasNoticed = false;
  const held: string[] = [];
  let name = await joinFirst();
  let nextCheck = setTimeout(check, checkMs).unref();

  return {
    get name() {
      return name;
    },
    names: () => [...held, name],
    /** Calls the function at every notice from now on, and at once if there was one before. */
    follow(onNotice: () => void): void {
      notice = onNotice;
      if (wasNoticed) onNotice();
    },
    /** Calls the function with every text that a node hands over from now on. */
    receive(onHandedOver: (text: string) => void): void {
      takeOver = onHandedOver;
    },
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(nextCheck);
      await leave();
    },
  };

  async function joinFirst(): Promise<string> {
    for (let leftMs = waitMs; ; leftMs -= tryEveryMs) {
      const taken = await join(names).catch((error) => {
        if (!(error instanceof NodeNameTaken) || leftMs <= 0) throw error;
        return undefined;
      });
      if (taken !== undefined) return taken;
      await pause(tryEveryMs);
    }
  }

  /**
   * Joins with one of the names. Until the connection is complete, its loss makes this call fail.
   */
  async function join(candidates: readonly string[]): Promise<string> {
    const joining = await database.connect();
    try {
      await joining.query(prepareSession);
      // The server may not have noticed that the earlier connection is lost.
      if (session !== undefined) await joining.query(endSession, [session.pid, session.begun]);
      const free = await lockFirst(joining, candidates);
      if (free === undefined) throw new NodeNameTaken(candidates);
      joining.on("notification", ({ channel, payload = "" }) => {
        if (channel === answerChannel) takeOver(payload);
        else tell();
      });
      await joining.query(`listen ${configurationChannel}`);
      await joining.query(`listen ${answerChannel}`);
      session = (await joining.query<Session>(ownSession)).rows[0];
      // The loss of a connection may be reported more than once.
      joining.on("error", (error) => void lose(joining, error));
      joining.on("end", () => void lose(joining, new Error("the connection ended")));
      client = joining;
      return free;
    } catch (error) {
      joining.end().catch(() => undefined);
      throw error;
    }
  }

  function tell(): void {
    wasNoticed = true;
    notice();
  }

  /** Tests the connection: this node cannot rely on the lock of a silent one. */
  async function check(): Promise<void> {
    const checked = client;
    if (checked !== undefined) {
      const silent = new Error("the connection does not answer");
      // A process that was busy for so long first reads an answer that has already arrived, and
      // then judges.
      const late = pause(checkMs, silent, { ref: false }).then((error) => setImmediate(error));
      const error = await Promise.race([checked.query("select").then(noError, asError), late]);
      if (error !== undefined) void lose(checked, error);
    }
    if (!stopped) nextCheck = setTimeout(check, checkMs).unref();
  }

  /**
   * Handles the loss of the connection, and with it of the lock: the node takes its name again, or
   * another one.
   */
  async function lose(lost: pg.Client, error: Error): Promise<void> {
    if (lost !== client || stopped) return;
    client = undefined;
    lost.end().catch(() => undefined);
    onLost(error);
    let taken: string | undefined;
    while (taken === undefined && !stopped) {
      taken = await join([name, ...spare]).catch(() => undefined);
      if (taken === undefined) await pause(tryEveryMs, undefined, { ref: false });
    }
    if (stopped) return leave();
    if (taken !== undefined && taken !== name) {
      held.push(name);
      onRenamed({ from: name, to: taken });
      name = taken;
    }
    // Notices may have been lost with the connection.
    tell();
  }

  async function leave(): Promise<void> {
    await client?.end().catch(() => undefined);
  }
}

const noError = () => undefined;
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

type Session = { readonly pid: number; readonly begun: string };

async function lockFirst(client: pg.Client, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const { rows } = await client.query(
      "select pg_try_advisory_lock(hashtextextended($1, 8583)) as got",
      [name],
    );
    if (rows[0]?.got === true) return name;
  }
  return undefined;
}

/**
 * Makes the server free the name of a node whose machine has gone after some ten seconds. The login
 * may end its own sessions, while the role that nodes assume may not.
 */
const prepareSession = `set role none; set tcp_keepalives_idle = 5;
  set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;
const ownSession =
  "select pid, backend_start::text as begun from pg_stat_activity where pid = pg_backend_pid()";
/** Ends the earlier session and waits for its end, because it still holds the name. */
const endSession = `select pg_terminate_backend(pid, 2000) from pg_stat_activity
  where pid = $1 and backend_start = $2::timestamptz`;
