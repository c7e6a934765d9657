/**
 * Shows the other nodes that this node is running: a connection holds a lock on the node's name
 * while the process lives. A node that gets the lock knows that the previous node of that name has
 * ended, and can claim that node's orders at once. No node runs without the lock, because commits
 * and orders in flight contain the name. The connection also receives notices of a changed
 * configuration, and acquirers' answers that other nodes hand over.
 */
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import type pg from "pg";
import { configurationChannel } from "../configuration/configuration.ts";
import type { Database, Query } from "./database.ts";
import { makeGather, textArray } from "./gather.ts";

/** The node's name, which changes if another node takes it while the database is unreachable. */
export type NodeName = {
  readonly name: string;
  /** Returns all names that this process has had and that its commits contain. */
  names(): readonly string[];
};

export function makeFixedName(name: string): NodeName {
  return { name, names: () => [name] };
}

type Options = {
  /** Possible names of the node, which takes the first that is free. */
  readonly names: readonly string[];
  /** How long to wait if all names are in use, because one of their processes may be ending. */
  readonly waitMs: number;
  /** How often the connection is tested, and how long the server may take to answer. */
  readonly checkMs: number;
  readonly onLost: (error: Error) => void;
  readonly onRenamed: (renamed: { readonly from: string; readonly to: string }) => void;
};

export class NodeNameTaken extends Error {
  constructor(names: readonly string[]) {
    super(`another node is running as ${names[0]}`);
  }
}

/** Nodes hand over acquirers' answers, which may arrive at another node than the one that waits. */
const answerChannel = "tollgate_answers";

/**
 * Hands an acquirer's answer, as a text, to every node, including this one. A node that has just
 * lost its connection does not get it, so no node may depend on it.
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
    // PostgreSQL refuses all texts of a batch if one is too long for a notice. Each is sent alone
    // after that, so that only the long one is lost.
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
    /** Calls the function at each notice of a changed configuration, even an earlier one. */
    follow(onNotice: () => void): void {
      notice = onNotice;
      if (wasNoticed) onNotice();
    },
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

  /** Takes the first free name on a new connection. Fails if every name is taken. */
  async function join(candidates: readonly string[]): Promise<string> {
    const joining = await database.connect();
    try {
      await joining.query(prepareSession);
      // The previous connection may still hold the lock, if the server has not noticed its loss.
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
      // The events `error` and `end` may report the same loss. Only the first report is used.
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

  /** If the server does not answer a test, the node can no longer rely on its lock. */
  async function check(): Promise<void> {
    const checked = client;
    if (checked !== undefined) {
      const silent = new Error("the connection does not answer");
      // If the process was busy for longer than the limit, the answer may be in its input already,
      // so it reads the input before it decides that there is none.
      const late = pause(checkMs, silent, { ref: false }).then((error) => setImmediate(error));
      const error = await Promise.race([checked.query("select").then(noError, asError), late]);
      if (error !== undefined) void lose(checked, error);
    }
    if (!stopped) nextCheck = setTimeout(check, checkMs).unref();
  }

  /** The lock is lost. The node takes its name again, or another one if the name is taken. */
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
    // Notices may have been lost with the connection, so the configuration is read again.
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
 * Keep-alive probes release a connection's locks about ten seconds after its node's machine has
 * failed.
 */
export const probeNode = `set tcp_keepalives_idle = 5;
  set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;
/** The session keeps the login's rights, because the role of nodes may not end earlier sessions. */
const prepareSession = `set role none; ${probeNode}`;
const ownSession =
  "select pid, backend_start::text as begun from pg_stat_activity where pid = pg_backend_pid()";
/** Ends the previous session of this node, which still holds the lock on the name. */
const endSession = `select pg_terminate_backend(pid, 2000) from pg_stat_activity
  where pid = $1 and backend_start = $2::timestamptz`;
