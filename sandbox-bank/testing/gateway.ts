/**
 * The gateway's end of a connection, in either dialect. A test proves without waiting that the host
 * does not answer: the host answers in order, so the answer to an echo that is sent after the
 * request suffices.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import {
  DecodeFault,
  decode,
  encode,
  FrameFault,
  FrameReader,
  type Framing,
  frame,
  type IsoFields,
  type IsoMessage,
  iso87Ascii,
  iso87Bitmapped,
  type Specification,
  security126,
  writeComposite,
  writeSubelements,
} from "@tollgate/protocols/iso8583";
import type { Bank } from "../bank.ts";
import { eciFor, usesUcaf } from "../issuer.ts";

type Received = IsoMessage | DecodeFault;

export class TestGateway {
  readonly closed: Promise<unknown>;
  readonly dialect: TestDialect;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #received: Received[] = [];
  readonly #waiting: ((message: Received) => void)[] = [];

  private constructor(socket: Socket, dialect: TestDialect) {
    this.#socket = socket;
    this.dialect = dialect;
    this.#reader = new FrameReader(framingOf(dialect), { payloadBytesMax: 8_192 });
    this.closed = once(socket, "close");
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
  }

  static async open(port: number, dialect = asciiDialect): Promise<TestGateway> {
    const socket = connect(port, "127.0.0.1");
    const gateway = new TestGateway(socket, dialect);
    await once(socket, "connect");
    return gateway;
  }

  /** Connects and signs on. */
  static async signOn(port: number, dialect = asciiDialect): Promise<TestGateway> {
    const gateway = await TestGateway.open(port, dialect);
    await gateway.ask(network("001"));
    return gateway;
  }

  /** Makes a charge in this gateway's dialect. */
  charge(options: ChargeFields = {}): IsoMessage {
    return charge({ dialect: this.dialect, ...options });
  }

  send(...messages: readonly IsoMessage[]): void {
    const { specification } = this.dialect;
    const framing = framingOf(this.dialect);
    this.sendBytes(...messages.map((message) => frame(framing, encode(specification, message))));
  }

  sendBytes(...bytes: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(bytes));
  }

  async ask(message: IsoMessage): Promise<IsoMessage> {
    this.send(message);
    return this.answer();
  }

  /** Returns the next answer, which must be a message. */
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
      const received = decode(this.dialect.specification, payload);
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

type ChargeFields = {
  readonly card?: string;
  readonly amount?: number;
  readonly reference?: string;
  readonly mti?: "0200" | "0100";
  readonly cvv?: string;
  readonly eci?: string;
  readonly cavv?: string;
  readonly dialect?: TestDialect;
  readonly more?: IsoMessage["fields"];
};

export function charge(options: ChargeFields = {}): IsoMessage {
  const { card = "4000001000000018", amount = 1_000, mti = "0200" } = options;
  const { cvv = "123", eci, cavv, dialect = asciiDialect } = options;
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
  return {
    mti,
    fields: { ...fields, ...dialect.writeProof({ card, cvv, eci, cavv }), ...options.more },
  };
}

/** Makes a capture or a reversal of a charge. With `remaining`, a reversal is a partial one. */
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

/** Makes an inquiry about a charge. */
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

function framingOf({ framing = "binary-2" }: TestDialect): Framing {
  return framing;
}

export type TestDialect = {
  readonly name: string;
  readonly framing?: Framing;
  readonly specification: Specification;
  readonly portOf: (bank: Bank) => number;
  readonly writeProof: (proof: Proof) => IsoFields;
  /** A field that the codec accepts and the dialect does not. */
  readonly unreadable: IsoFields;
  /** Field 62 of an approval, and field 63 of the cards that have texts in theirs. */
  readonly networkId: RegExp;
  readonly loyalty: string;
  readonly explanation: RegExp;
};

type Proof = {
  readonly card: string;
  readonly cvv: string;
  readonly eci: string | undefined;
  /** The bytes in hexadecimal digits. */
  readonly cavv: string | undefined;
};

export const asciiDialect: TestDialect = {
  name: "ascii",
  specification: iso87Ascii,
  portOf: (bank) => bank.hostPort,
  writeProof({ cvv, eci, cavv }) {
    const elements: [string, string][] = [];
    if (eci !== undefined) elements.push(["42", eci]);
    if (cavv !== undefined) elements.push(["43", Buffer.from(cavv, "hex").toString("base64")]);
    if (cvv !== "") elements.push(["92", cvv]);
    return elements.length === 0 ? {} : { 48: writeSubelements("T", elements) };
  },
  unreadable: { 48: "T92" },
  networkId: /^\d{15}$/,
  loyalty: "R010412500228Thank you for paying with us0302150413Sandbox Bonus",
  explanation: /^R0570The balance of this card is too low\./,
};

export const binaryDialect: TestDialect = {
  name: "binary",
  specification: iso87Bitmapped,
  portOf: (bank) => bank.binaryHostPort,
  writeProof({ card, cvv, eci, cavv }) {
    const subfields: { [subfield: number]: string } = {};
    if (usesUcaf(card) && eci !== undefined) subfields[15] = eci.slice(-1);
    if (usesUcaf(card) && cavv !== undefined) {
      subfields[16] = Buffer.from(cavv, "hex").toString("base64");
    } else if (cavv !== undefined) subfields[9] = cavv;
    if (cvv !== "") subfields[10] = `10${cvv.padStart(4)}`;
    return {
      ...(eci === undefined ? {} : { 60: `00000000${visaEciOf(card, eci)}` }),
      ...(Object.keys(subfields).length === 0
        ? {}
        : { 126: writeComposite(security126, subfields) }),
    };
  },
  unreadable: { 126: "0040000000000000" },
  networkId: /^40{15}0\d{15}$/,
  loyalty: [
    "1250".padEnd(12),
    "15".padEnd(12),
    "Sandbox Bonus".padEnd(25),
    "Thank you for paying with us".padEnd(60),
  ].join(""),
  explanation: /^ {109}The balance of this card is too low\./,
};

export const testDialects: readonly TestDialect[] = [asciiDialect, binaryDialect];

/**
 * Returns the ECI in Visa's terms, which field 60 also uses for networks whose own are 02 and 01.
 */
function visaEciOf(card: string, eci: string): string {
  if (eciFor(card, "Y") !== "02") return eci;
  return eci === "02" ? "05" : "06";
}
