/**
 * One connection of a gateway: frames in, messages out. What is answered within one turn of the
 * event loop is written at once, because a write per answer would cost more than the answer.
 */
import type { Socket } from "node:net";
import {
  DecodeFault,
  decode,
  encode,
  FrameFault,
  FrameReader,
  frame,
  type IsoMessage,
} from "@tollgate/protocols/iso8583";
import type { Arrivals } from "../arrivals.ts";
import type { BankClock } from "../bank-clock.ts";
import type { MessageLog } from "../message-log.ts";
import type { Attend, Line } from "./desk.ts";
import type { HostDialect } from "./host-dialect.ts";

const payloadBytesMax = 8_192;
const garbage = Buffer.from("\u0000\u00ff\u0001 no message \u00fe\u0000", "latin1");

export type Surroundings = {
  readonly dialect: HostDialect;
  readonly attend: Attend;
  readonly arrivals: Arrivals;
  readonly clock: BankClock;
  readonly messages: MessageLog;
  readonly writeBooks: () => void;
  readonly log: (line: string) => void;
};

export class Connection implements Line {
  readonly dialect: HostDialect;
  signedOn = false;
  readonly #socket: Socket;
  readonly #surroundings: Surroundings;
  readonly #reader: FrameReader;
  #gathered: Buffer[] = [];

  constructor(socket: Socket, surroundings: Surroundings) {
    this.#socket = socket;
    this.#surroundings = surroundings;
    this.dialect = surroundings.dialect;
    this.#reader = new FrameReader(this.dialect.framing, { payloadBytesMax });
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("drain", () => socket.resume());
    socket.on("error", () => socket.destroy());
  }

  isOpen(): boolean {
    return this.#socket.writable;
  }

  answer(message: IsoMessage): void {
    if (!this.isOpen()) return;
    this.#send(message.fields[37] ?? "", encode(this.dialect.specification, message));
  }

  answerGarbage(reference: string): void {
    if (this.isOpen()) this.#send(reference, garbage);
  }

  /** Lets go of the gateway, after what was already answered. */
  close(reason: string): void {
    this.#surroundings.log(`A gateway's connection was closed: ${reason}.`);
    this.#flush();
    this.#socket.destroySoon();
  }

  #read(chunk: Buffer): void {
    if (!this.isOpen()) return;
    const read = this.#reader.push(chunk);
    for (const payload of read instanceof FrameFault ? read.framesBefore : read) {
      if (this.isOpen()) this.#receive(payload);
    }
    if (read instanceof FrameFault) this.close("it sent bytes that are no frame");
  }

  #receive(payload: Buffer): void {
    const { arrivals, clock, messages } = this.#surroundings;
    const request = decode(this.dialect.specification, payload);
    if (request instanceof DecodeFault) {
      const { field, reason } = request;
      this.close(`it sent ${payload.length} bytes that are no message: ${field} is ${reason}`);
      return;
    }
    const reference = request.fields[37] ?? "";
    const { specification } = this.dialect;
    messages.record("received", { reference, payload, specification, ms: clock.now().ms });
    arrivals.announce(request);
    this.#attend(request);
  }

  #attend(request: IsoMessage): void {
    try {
      this.#surroundings.attend(request, this);
    } catch (error) {
      // The error's own words may quote the message, so only the place it came from is told.
      const trace = error instanceof Error ? (error.stack ?? "").split("\n    at ").slice(1) : [];
      this.close(`answering ${request.mti} failed at ${trace.join(", ")}`);
    }
  }

  #send(reference: string, payload: Buffer): void {
    const { clock, messages } = this.#surroundings;
    const { framing, specification } = this.dialect;
    messages.record("sent", { reference, payload, specification, ms: clock.now().ms });
    if (this.#gathered.length === 0) setImmediate(() => this.#flush());
    this.#gathered.push(frame(framing, payload));
  }

  #flush(): void {
    if (this.#gathered.length === 0 || !this.isOpen()) return;
    this.#surroundings.writeBooks();
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    // A gateway that does not read its answers is not read from either.
    if (!this.#socket.write(bytes)) this.#socket.pause();
  }
}
