/**
 * How many connections one address may have. The connections of a proxy are its clients': behind
 * it, each client may have as many requests open as another address may have connections.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { clientNetworkOf, type IsTrusted, networkOf, type ProxyHeader } from "./client-network.ts";

type Options = {
  /** Zero is no bound. */
  readonly connectionsPerAddressMax: number;
  /** Whether an address is a proxy of the operator. */
  readonly isTrusted: IsTrusted;
  readonly proxyHeader: ProxyHeader;
  readonly proxiesOnly: boolean;
};

export function makeConnectionBounds(options: Options) {
  const { connectionsPerAddressMax, isTrusted, proxyHeader, proxiesOnly } = options;
  const connections = makeCounts(connectionsPerAddressMax);
  const requests = makeCounts(connectionsPerAddressMax);
  const known = new WeakMap<Socket, boolean>();

  return {
    /** Why a new connection is refused, before its first byte and its handshake. */
    findRefusal(socket: Socket) {
      if (isProxied(socket)) return undefined;
      if (proxiesOnly) return "plain HTTP from an address that is no trusted proxy";
      const network = networkOf(socket.remoteAddress);
      if (network === undefined) return undefined;
      if (connections.take(network, (release) => socket.once("close", release))) return undefined;
      return "too many connections of one address";
    },

    /** False when the client behind a proxy has too many requests open. */
    admitRequest({ socket, headers }: Asked, atEnd: AtEnd): boolean {
      if (!isProxied(socket)) return true;
      const network = clientNetworkOf(headers, isTrusted, proxyHeader);
      return network === undefined || requests.take(network, atEnd);
    },
  };

  /** A socket of TLS is another one than that of its connection. */
  function isProxied(socket: Socket): boolean {
    let proxied = known.get(socket);
    if (proxied === undefined) {
      proxied = isTrusted(socket.remoteAddress ?? "");
      known.set(socket, proxied);
    }
    return proxied;
  }
}

type Asked = Pick<IncomingMessage, "socket" | "headers">;
/** Registers what to do when the connection or the request ends. */
export type AtEnd = (release: () => void) => void;

/** What is open, by network. */
function makeCounts(most: number) {
  const open = new Map<string, number>();
  return {
    take(network: string, atEnd: AtEnd): boolean {
      const count = open.get(network) ?? 0;
      if (most > 0 && count >= most) return false;
      open.set(network, count + 1);
      atEnd(() => release(network));
      return true;
    },
  };

  function release(network: string): void {
    const left = (open.get(network) ?? 1) - 1;
    if (left > 0) open.set(network, left);
    else open.delete(network);
  }
}
