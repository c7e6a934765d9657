/**
 * Connections whose requests arrive whole and plain, as nearly all do. They are answered without
 * Node's parser and its messages, which saves a tenth of a sale's processor time. With the first
 * request that is not plain, the connection goes to Node with every byte of that request, and stays
 * there: what an unusual request is, and where it ends, only Node decides (decision 0075).
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { readWholeRequest, type WholeRequest } from "./whole-request.ts";

type Options = {
  /** For the first request, from the opening of the connection, in milliseconds as all times. */
  readonly headersTimeout: number;
  /** For a connection without a request. */
  readonly keepAliveTimeout: number;
  readonly connectionsCheckingInterval: number;
  /** Where it rejects, the connection ends without a reply. */
  readonly answer: (request: WholeRequest, exchange: Exchange) => Promise<PrintedReply>;
};

export type Exchange = {
  readonly socket: Socket;
  /** What to do when the present request is answered or its client has gone. */
  onEnd: () => void;
};

export type PrintedReply = {
  /** Without what the connection adds, and the empty line. */
  readonly head: string;
  readonly body: string | Uint8Array;
  /** Whether the connection ends with it. */
  readonly isLast: boolean;
};

/** In place of Node's own listener, which gets the connections that are handed over. */
export function takeConnections(server: Server, options: Options) {
  const event = server instanceof TlsServer ? "secureConnection" : "connection";
  const takeOver = server.listeners(event).find(({ name }) => name === listenerName) as
    | ((socket: Socket) => void)
    | undefined;
  if (takeOver === undefined) throw new Error(`Node's HTTP server has no ${listenerName}`);
  const { keepAliveTimeout, connectionsCheckingInterval } = options;
  const connections = new Set<Connection>();
  const handedOver = new Set<Socket>();
  const owner = {
    ...options,
    kept: `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveTimeout / 1000)}`,
    release: (connection: Connection) => void connections.delete(connection),
    handOver(socket: Socket): void {
      handedOver.add(socket);
      socket.once("close", () => handedOver.delete(socket));
      takeOver.call(server, socket);
    },
  };
  server.removeListener(event, takeOver);
  server.on(event, (socket: Socket) => {
    if (!socket.destroyed) connections.add(new Connection(socket, owner));
  });
  const looking = setInterval(closeOverdue, connectionsCheckingInterval).unref();
  server.once("close", () => clearInterval(looking));

  return {
    /** Those without a request that waits for its reply. */
    closeIdle(): void {
      for (const connection of connections) connection.closeIdle();
    },

    /** Of those that Node has. */
    closeHandedOver(isToClose: (socket: Socket) => boolean): void {
      for (const socket of handedOver) if (isToClose(socket)) socket.destroy();
    },

    closeAll(): void {
      for (const { socket } of connections) socket.destroy();
    },
  };

  function closeOverdue(): void {
    const now = performance.now();
    for (const connection of connections) connection.closeOverdue(now);
  }
}

/** The name of Node's own. */
const listenerName = "connectionListener";
/** A client that trusts the time that replies tell must not meet a closed connection. */
const graceMs = 1_000;

type Owner = Options & {
  readonly kept: string;
  readonly release: (connection: Connection) => void;
  readonly handOver: (socket: Socket) => void;
};

class Connection implements Exchange {
  readonly socket: Socket;
  readonly #owner: Owner;
  readonly #listeners: readonly (readonly [event: string, listener: (bytes: Buffer) => void])[];
  #isAnswering = false;
  /** When it is closed unless a request arrives. */
  #dueAt: number;
  onEnd = nothing;

  constructor(socket: Socket, owner: Owner) {
    this.socket = socket;
    this.#owner = owner;
    this.#dueAt = performance.now() + owner.headersTimeout;
    this.#listeners = [
      ["data", (bytes) => this.#read(bytes)],
      ["drain", () => this.#rest()],
      // As Node does: a client that has ended its side waits for no reply.
      ["end", () => socket.end()],
      ["error", () => socket.destroy()],
      ["close", () => this.#release()],
    ];
    for (const [event, listener] of this.#listeners) socket.on(event, listener);
  }

  closeIdle(): void {
    if (!this.#isAnswering) this.socket.destroy();
  }

  /** A client that is still reading a reply has time. */
  closeOverdue(now: number): void {
    if (this.#dueAt <= now && this.socket.writableLength === 0) this.closeIdle();
  }

  #read(bytes: Buffer): void {
    // After the last reply nothing is taken any more.
    if (!this.socket.writable) return;
    if (this.#isAnswering || this.socket.writableNeedDrain) {
      this.socket.pause();
      this.socket.unshift(bytes);
      return;
    }
    const request = readWholeRequest(bytes);
    if (request === undefined) this.#handOver(bytes);
    else void this.#answer(request);
  }

  async #answer(request: WholeRequest): Promise<void> {
    this.#isAnswering = true;
    try {
      const reply = await this.#owner.answer(request, this);
      if (this.socket.writable) this.#write(reply);
    } catch {
      this.socket.destroy();
    }
    this.#isAnswering = false;
    this.#endExchange();
    this.#rest();
  }

  /** Head and body leave in one write. */
  #write({ head, body, isLast }: PrintedReply): void {
    const { socket } = this;
    const text = `${head}${isLast ? "connection: close" : this.#owner.kept}\r\n\r\n`;
    if (typeof body === "string") socket.write(text + body);
    else {
      socket.cork();
      socket.write(text);
      socket.write(body);
      socket.uncork();
    }
    if (isLast) socket.destroySoon();
  }

  /** Until the next request, which may have arrived meanwhile. A reply is to be read first. */
  #rest(): void {
    const { socket } = this;
    this.#dueAt = performance.now() + this.#owner.keepAliveTimeout + graceMs;
    if (socket.isPaused() && !this.#isAnswering && !socket.writableNeedDrain) socket.resume();
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    for (const [event, listener] of this.#listeners) socket.off(event, listener);
    this.#owner.release(this);
    socket.pause();
    socket.unshift(bytes);
    this.#owner.handOver(socket);
    socket.resume();
  }

  #release(): void {
    this.#endExchange();
    this.#owner.release(this);
  }

  #endExchange(): void {
    this.onEnd();
    this.onEnd = nothing;
  }
}

function nothing(): void {
  // The request is not counted.
}
