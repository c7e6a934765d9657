/** The acquirer host: listens for gateways, and can be down for a while without losing its port. */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { listenOn } from "../listen-on.ts";
import { Connection, type Surroundings } from "./connection.ts";

export class AcquirerHost {
  readonly #surroundings: Surroundings;
  readonly #sockets = new Set<Socket>();
  readonly #host: string;
  #server: Server | undefined;
  #port: number;
  #change: Promise<void> = Promise.resolve();

  constructor(address: { host: string; port: number }, surroundings: Surroundings) {
    this.#host = address.host;
    this.#port = address.port;
    this.#surroundings = surroundings;
  }

  /** The port asked for, or the free one that was taken for 0. */
  get port(): number {
    return this.#port;
  }

  /** Listens, or does nothing when it does already. */
  open(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#server !== undefined) return;
      const server = createServer((socket) => this.#accept(socket));
      this.#port = await listenOn(server, { host: this.#host, port: this.#port });
      this.#server = server;
    });
  }

  /** Drops every connection at once and stops listening. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      const server = this.#server;
      if (server === undefined) return;
      this.#server = undefined;
      const closed = once(server, "close");
      server.close();
      for (const socket of this.#sockets) socket.destroy();
      await closed;
    });
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    new Connection(socket, this.#surroundings);
  }

  /** Opening and closing wait for each other, so that the last switch wins. */
  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#change.then(change);
    this.#change = done.catch(() => {});
    return done;
  }
}
