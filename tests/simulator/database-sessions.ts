/**
 * The sessions that hold locks, such as those on nodes' names: at most one has a lock. A session
 * ends with its process, with the server, when another session ends it, and some seconds after its
 * machine was suspended. The client is notified of the end, unless it is frozen.
 */
import { EventEmitter } from "node:events";
import type { SimulatedProcess, VirtualTime } from "./virtual-time.ts";

type Session = {
  readonly pid: number;
  readonly owner: SimulatedProcess;
  readonly client: EventEmitter;
  readonly names: Set<string>;
  /** The channels on which it listens. */
  readonly channels: Set<string>;
};

type Notice = { readonly channel: string; readonly payload: string };

export type Sessions = ReturnType<typeof makeSessions>;

export function makeSessions(time: VirtualTime) {
  const open = new Map<number, Session>();
  let count = 0;

  return {
    begin(): Session {
      count += 1;
      const client = new EventEmitter();
      const own = { names: new Set<string>(), channels: new Set<string>() };
      const session = { pid: count, owner: time.current(), client, ...own };
      open.set(count, session);
      return session;
    },
    isOpen: ({ pid }: Session) => open.has(pid),
    end,
    endAll: () => [...open.values()].forEach(end),
    endOf(process: SimulatedProcess): void {
      for (const session of [...open.values()]) if (session.owner === process) end(session);
    },
    notify(notice: Notice, delayMs: () => number): void {
      for (const session of open.values()) {
        if (!session.channels.has(notice.channel)) continue;
        time.after(delayMs(), session.owner, () => {
          if (open.has(session.pid)) session.client.emit("notification", notice);
        });
      }
    },
    /**
     * Returns the rows of a statement about the session itself, or undefined for any other
     * statement.
     */
    execute(session: Session, text: string, values: readonly unknown[]): object[] | undefined {
      if (text.includes("pg_try_advisory_lock")) {
        return [{ got: lock(session, String(values[0] ?? "rotation")) }];
      }
      const [, channel] = /^listen (\w+)/.exec(text) ?? [];
      if (channel !== undefined) session.channels.add(channel);
      if (text.includes("pg_terminate_backend")) {
        const other = open.get(Number(values[0]));
        if (other !== undefined) end(other);
        return [];
      }
      if (text.includes("pg_backend_pid()")) return [{ pid: session.pid, begun: "" }];
      return /^(set role none|listen|select$)/.test(text.trim()) ? [] : undefined;
    },
  };

  function lock(session: Session, name: string): boolean {
    const isTaken = [...open.values()].some((each) => each !== session && each.names.has(name));
    if (!isTaken) session.names.add(name);
    return !isTaken;
  }

  function end({ pid, owner, client }: Session): void {
    if (!open.delete(pid)) return;
    time.after(1, owner, () => client.emit("end"));
  }
}
