/**
 * Connections to receivers, kept for a while after use. A connection serves the name that it was
 * checked for, and no other.
 */
import type { Socket } from "node:net";
import { type Connection, makeConnection } from "./connection.ts";
import { type DialOptions, dial, type Receiver } from "./dial.ts";

export type Connections = {
  /** One that was used before, if any is free. */
  takeKept(receiver: Receiver): Connection | undefined;
  /** A new one; `onSocket` gets every socket on the way there, to be ended by whoever gives up. */
  open(receiver: Receiver, onSocket: (socket: Socket) => void): Promise<Connection>;
  /** It is good for another request. */
  keep(receiver: Receiver, connection: Connection): void;
  stop(): void;
};

const keptPerReceiverMax = 64;
const keptMax = 1_024;
/** After that the name is looked up and judged anew: it may lead elsewhere by now. */
const ageMaxMs = 300_000;

export function makeConnections(options: DialOptions): Connections {
  const kept = new Map<string, Connection[]>();
  const openedAt = new WeakMap<Connection, number>();
  const sockets = new Set<Socket>();
  let keptCount = 0;
  let isStopped = false;

  return {
    takeKept(receiver) {
      // The latest used: the others may rest, and be closed for it.
      const latest = kept.get(keyOf(receiver))?.at(-1);
      if (latest !== undefined) forget(receiver, latest);
      return latest;
    },
    async open(receiver, onSocket) {
      if (isStopped) throw new Error("the gateway is ending");
      const socket = await dial(receiver, options, (each) => {
        sockets.add(each);
        each.once("close", () => sockets.delete(each));
        onSocket(each);
      });
      const connection = makeConnection(socket, () => forget(receiver, connection));
      openedAt.set(connection, performance.now());
      return connection;
    },
    keep(receiver, connection) {
      const key = keyOf(receiver);
      const others = kept.get(key) ?? [];
      const isOld = performance.now() - (openedAt.get(connection) ?? 0) > ageMaxMs;
      const isFull = others.length >= keptPerReceiverMax || keptCount >= keptMax;
      if (isOld || isFull || isStopped) return connection.cut();
      kept.set(key, [...others, connection]);
      keptCount += 1;
    },
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };

  function forget(receiver: Receiver, connection: Connection): void {
    const key = keyOf(receiver);
    const before = kept.get(key) ?? [];
    const others = before.filter((each) => each !== connection);
    keptCount -= before.length - others.length;
    if (others.length === 0) kept.delete(key);
    else kept.set(key, others);
  }
}

function keyOf({ isSecure, hostname, port }: Receiver): string {
  return `${isSecure ? "https" : "http"} ${hostname} ${port}`;
}
