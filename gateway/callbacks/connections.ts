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

export function makeConnections(options: DialOptions): Connections {
  const kept = new Map<string, Set<Connection>>();
  const sockets = new Set<Socket>();
  let keptCount = 0;
  let isStopped = false;

  return {
    takeKept(receiver) {
      const [first] = kept.get(keyOf(receiver)) ?? [];
      if (first !== undefined) forget(receiver, first);
      return first;
    },
    async open(receiver, onSocket) {
      if (isStopped) throw new Error("the gateway is ending");
      const socket = await dial(receiver, options, (each) => {
        sockets.add(each);
        each.once("close", () => sockets.delete(each));
        onSocket(each);
      });
      const connection = makeConnection(socket, () => forget(receiver, connection));
      return connection;
    },
    keep(receiver, connection) {
      const key = keyOf(receiver);
      const others = kept.get(key) ?? new Set();
      if (others.size >= keptPerReceiverMax || keptCount >= keptMax) return connection.cut();
      kept.set(key, others.add(connection));
      keptCount += 1;
    },
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };

  function forget(receiver: Receiver, connection: Connection): void {
    const key = keyOf(receiver);
    const others = kept.get(key);
    if (others?.delete(connection) !== true) return;
    keptCount -= 1;
    if (others.size === 0) kept.delete(key);
  }
}

function keyOf({ isSecure, hostname, port }: Receiver): string {
  return `${isSecure ? "https" : "http"} ${hostname} ${port}`;
}
