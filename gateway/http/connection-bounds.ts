/**
 * How many connections one address may have. The connections of a proxy are its clients': behind
 * it, each client may have as many requests open as another address may have connections.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientNetworkOf, type IsTrusted, networkOf } from "./client-network.ts";

type Options = {
  /** Zero is no bound. */
  readonly connectionsPerAddressMax: number;
  /** Whether an address is a proxy of the operator. */
  readonly isTrusted: IsTrusted;
};

export function makeConnectionBounds({ connectionsPerAddressMax, isTrusted }: Options) {
  const connections = makeCounts(connectionsPerAddressMax);
  const requests = makeCounts(connectionsPerAddressMax);
  const proxied = new WeakSet<Socket>();

  return {
    /** False when the address of a new connection has too many of them. */
    admitConnection(socket: Socket): boolean {
      const { remoteAddress = "" } = socket;
      if (isTrusted(remoteAddress)) {
        proxied.add(socket);
        return true;
      }
      const network = networkOf(remoteAddress);
      return network === undefined || connections.take(network, socket);
    },

    /** False when the client behind a proxy has too many requests open. */
    admitRequest({ socket, headers }: IncomingMessage, response: ServerResponse): boolean {
      if (!proxied.has(socket)) return true;
      const network = clientNetworkOf(headers, isTrusted);
      return network === undefined || requests.take(network, response);
    },
  };
}

type Closing = { once(event: "close", release: () => void): unknown };

/** What is open, by network. */
function makeCounts(most: number) {
  const open = new Map<string, number>();
  return {
    take(network: string, closing: Closing): boolean {
      const count = open.get(network) ?? 0;
      if (most > 0 && count >= most) return false;
      open.set(network, count + 1);
      closing.once("close", () => release(network));
      return true;
    },
  };

  function release(network: string): void {
    const left = (open.get(network) ?? 1) - 1;
    if (left > 0) open.set(network, left);
    else open.delete(network);
  }
}
