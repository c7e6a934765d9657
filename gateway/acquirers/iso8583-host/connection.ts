/**
 * One TCP connection to a host: messages in, messages out. What is sent within one turn of the
 * event loop is written at once, because a write per message would cost more than the message.
 */
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import {
  DecodeFault,
  decode,
  encode,
  FrameFault,
  FrameReader,
  frame,
  type IsoMessage,
} from "@tollgate/protocols/iso8583";
import type { Dialect } from "./dialect.ts";

const payloadBytesMax = 8_192;

export type Address = { readonly host: string; readonly port: number };

/** What a connection must know of its host's dialect. */
export type Wire = Pick<Dialect, "specification" | "framing">;

export type ConnectionEvents = {
  readonly onOpen: () => void;
  readonly onMessage: (message: IsoMessage) => void;
  /** A frame that is no message; the stream after it is as good as before. */
  readonly onUnreadable: (fault: DecodeFault, bytes: number) => void;
  /** Once, and nothing else afterwards. */
  readonly onLost: (why: string) => void;
};

export class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #wire: Wire;
  readonly #reader: FrameReader;
  #gathered: Buffer[] = [];
  #isLost = false;

  constructor({ host, port }: Address, wire: Wire, events: ConnectionEvents) {
    this.#events = events;
    this.#wire = wire;
    this.#reader = new FrameReader(wire.framing, { payloadBytesMax });
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on("connect", () => this.#isLost || events.onOpen());
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error: NodeJS.ErrnoException) => this.drop(error.code ?? "error"));
    this.#socket.on("close", () => this.drop("closed by the host"));
  }

  send(message: IsoMessage): void {
    const { framing, specification } = this.#wire;
    const framed = frame(framing, encode(specification, message));
    if (this.#gathered.length === 0) setImmediate(() => this.#flush());
    this.#gathered.push(framed);
  }

  drop(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#gathered = [];
    this.#socket.destroy();
    this.#events.onLost(why);
  }

  #flush(): void {
    if (this.#isLost || this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#socket.write(bytes);
  }

  #read(chunk: Buffer): void {
    const read = this.#reader.push(chunk);
    for (const payload of read instanceof FrameFault ? read.framesBefore : read) {
      if (this.#isLost) return;
      this.#receive(payload);
    }
    if (read instanceof FrameFault) this.drop(`framing: ${read.reason}`);
  }

  #receive(payload: Buffer): void {
    const message = decode(this.#wire.specification, payload);
    if (message instanceof DecodeFault) this.#events.onUnreadable(message, payload.length);
    else this.#events.onMessage(message);
  }
}
