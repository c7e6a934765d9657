/**
 * A gateway's end of the connection, for the bank's own tests. Silence is proved without waiting:
 * the host answers in order, so the answer to an echo sent after a request shows what was left out.
 */
import { once } from "node:events";
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
import { asciiSpeech, type Speech } from "./speech.ts";

export type Received = IsoMessage | DecodeFault;

export class GatewayLine {
  readonly closed: Promise<unknown>;
  readonly speech: Speech;
  readonly #socket: Socket;
  readonly #reader = new FrameReader("binary-2", { payloadBytesMax: 8_192 });
  readonly #received: Received[] = [];
  readonly #waiting: ((message: Received) => void)[] = [];

  private constructor(socket: Socket, speech: Speech) {
    this.#socket = socket;
    this.speech = speech;
    this.closed = once(socket, "close");
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
  }

  static async open(port: number, speech = asciiSpeech): Promise<GatewayLine> {
    const socket = connect(port, "127.0.0.1");
    const line = new GatewayLine(socket, speech);
    await once(socket, "connect");
    return line;
  }

  /** Connected and signed on. */
  static async signOn(port: number, speech = asciiSpeech): Promise<GatewayLine> {
    const line = await GatewayLine.open(port, speech);
    await line.ask(network("001"));
    return line;
  }

  /** A charge as this line speaks. */
  charge(options: ChargeFields = {}): IsoMessage {
    return charge({ speech: this.speech, ...options });
  }

  send(...messages: readonly IsoMessage[]): void {
    const { specification } = this.speech;
    this.sendBytes(...messages.map((message) => frame("binary-2", encode(specification, message))));
  }

  sendBytes(...bytes: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(bytes));
  }

  async ask(message: IsoMessage): Promise<IsoMessage> {
    this.send(message);
    return this.answer();
  }

  /** The next answer, which must be a message. */
  async answer(): Promise<IsoMessage> {
    const received = await this.next();
    if (received instanceof DecodeFault) throw new Error("the host answered no message");
    return received;
  }

  next(): Promise<Received> {
    const received = this.#received.shift();
    if (received !== undefined) return Promise.resolve(received);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const payloads = this.#reader.push(chunk);
    if (payloads instanceof FrameFault) throw new Error("the host sent no frame");
    for (const payload of payloads) {
      const received = decode(this.speech.specification, payload);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#received.push(received);
      else waiting(received);
    }
  }
}

let traces = 0;
let references = 0;

export function nextReference(): string {
  references += 1;
  return `T${String(references).padStart(11, "0")}`;
}

export function network(code: "001" | "002" | "301"): IsoMessage {
  return { mti: "0800", fields: { 7: "1115023900", 11: nextTrace(), 70: code } };
}

export const echo = network("301");

export type ChargeFields = {
  readonly card?: string;
  readonly amount?: number;
  readonly reference?: string;
  readonly mti?: "0200" | "0100";
  readonly cvv?: string;
  readonly eci?: string;
  readonly cavv?: string;
  readonly speech?: Speech;
  readonly more?: IsoMessage["fields"];
};

export function charge(options: ChargeFields = {}): IsoMessage {
  const { card = "4000001000000018", amount = 1_000, mti = "0200" } = options;
  const { cvv = "123", eci, cavv, speech = asciiSpeech } = options;
  const fields = {
    2: card,
    3: "000000",
    4: digits(amount),
    7: "1115023900",
    11: nextTrace(),
    14: "9912",
    22: "812",
    32: "123456",
    37: options.reference ?? nextReference(),
    41: "TERMINAL",
    42: "MERCHANT       ",
    49: "840",
  };
  return { mti, fields: { ...fields, ...speech.writeProof({ cvv, eci, cavv }), ...options.more } };
}

/** A capture or a reversal of a charge; `remaining` makes a reversal a partial one. */
export function follow(
  mti: "0220" | "0221" | "0400" | "0401" | "0420" | "0421",
  original: IsoMessage,
  { amount, remaining }: { readonly amount?: number; readonly remaining?: number } = {},
): IsoMessage {
  const { 3: code = "", 4: charged = "", 37: reference = "", 49: currency = "" } = original.fields;
  const replaced = remaining === undefined ? {} : { 95: digits(remaining).padEnd(42, "0") };
  const fields = {
    3: code,
    4: amount === undefined ? charged : digits(amount),
    7: "1115023930",
    11: nextTrace(),
    37: reference,
    49: currency,
  };
  return { mti, fields: { ...fields, ...replaced } };
}

/** Asks what became of a charge. */
export function inquire(original: IsoMessage): IsoMessage {
  const { 37: reference = "" } = original.fields;
  return { mti: "0600", fields: { 7: "1115023930", 11: nextTrace(), 37: reference } };
}

function nextTrace(): string {
  traces = (traces % 999_999) + 1;
  return String(traces).padStart(6, "0");
}

function digits(amount: number): string {
  return String(amount).padStart(12, "0");
}
