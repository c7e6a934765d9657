/**
 * One keep-alive HTTP/1.1 connection, as light as it can be, because the load generator shares its
 * cores with what it measures. It knows only replies with a content-length, one at a time.
 */
import { connect, type Socket } from "node:net";

export type Reply = { readonly status: number; readonly body: string };

const readBytes = 16_384;

export class HttpConnection {
  readonly #socket: Socket;
  #received = "";
  #onReply: ((reply: Reply) => void) | undefined;

  private constructor(port: number, onLost: (why: string) => void) {
    const buffer = Buffer.allocUnsafe(readBytes);
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      // One buffer for all reads: a new one for each would be half of the work.
      onread: { buffer, callback: (bytes) => this.#read(buffer.toString("latin1", 0, bytes)) },
    });
    this.#socket.on("error", (error) => onLost(error.message));
    this.#socket.on("end", () => onLost("closed by the other side"));
  }

  static async open(port: number, onLost: (why: string) => void): Promise<HttpConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const connection = new HttpConnection(port, (why) => {
      reject(new Error(why));
      onLost(why);
    });
    connection.#socket.once("connect", resolve);
    await promise;
    return connection;
  }

  /** The reply to the request before must have come. */
  send(request: Uint8Array, onReply: (reply: Reply) => void): void {
    this.#onReply = onReply;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("end");
    this.#socket.destroy();
  }

  #read(chunk: string): boolean {
    this.#received = this.#received === "" ? chunk : this.#received + chunk;
    const reply = findReply(this.#received);
    if (reply === undefined) return true;
    this.#received = "";
    this.#onReply?.(reply);
    return true;
  }
}

/** Nothing while the reply is not whole. */
export function findReply(received: string): Reply | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received)?.[1];
  if (length === undefined) throw new Error("a reply without content-length");
  const bodyStart = headEnd + 4;
  const missing = bodyStart + Number(length) - received.length;
  if (missing > 0) return undefined;
  if (missing < 0) throw new Error("more than one reply to one request");
  return { status: Number(received.slice(9, 12)), body: received.slice(bodyStart) };
}
