/**
 * Length headers of ISO 8583 messages on a stream, which the standard leaves to the parties. A
 * frame that arrives whole in one chunk is a view of it: callers must not reuse a chunk's memory.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

export type Framing = keyof typeof framings;

type FramingRow = {
  readonly length: keyof typeof lengths;
  readonly bytes: number;
  readonly countsItself: boolean;
  /** Bytes in hex before and after each payload, which the length counts. Reading skips them. */
  readonly header: string;
  readonly trailer: string;
};

/**
 * The framings. A host with other header bytes, such as the addresses of its TPDU, has a row of its
 * own. The answer swaps the two addresses of a TPDU, so received headers are not compared.
 */
export const framings = {
  "binary-2": { length: "binary", bytes: 2, countsItself: false, header: "", trailer: "" },
  "binary-2-inclusive": { length: "binary", bytes: 2, countsItself: true, header: "", trailer: "" },
  "binary-2-tpdu": {
    length: "binary",
    bytes: 2,
    countsItself: false,
    header: "6000000000",
    trailer: "",
  },
  "binary-2-etx": { length: "binary", bytes: 2, countsItself: false, header: "", trailer: "03" },
  "binary-4": { length: "binary", bytes: 4, countsItself: false, header: "", trailer: "" },
  "bcd-2": { length: "bcd", bytes: 2, countsItself: false, header: "", trailer: "" },
  "bcd-2-tpdu": { length: "bcd", bytes: 2, countsItself: false, header: "6000000000", trailer: "" },
  "ascii-4": { length: "ascii", bytes: 4, countsItself: false, header: "", trailer: "" },
  "ascii-4-inclusive": { length: "ascii", bytes: 4, countsItself: true, header: "", trailer: "" },
  "hex-4": { length: "hex", bytes: 4, countsItself: false, header: "", trailer: "" },
} as const satisfies Record<string, FramingRow>;

/** The forms of a length. `read` returns NaN if it is malformed. */
const lengths = {
  binary: {
    max: (bytes: number) => 256 ** bytes - 1,
    read: (stream: Buffer, at: number, bytes: number) => stream.readUIntBE(at, bytes),
    write: (length: number, target: Buffer, bytes: number) => target.writeUIntBE(length, 0, bytes),
  },
  bcd: makeDigits(2, "hex", 10),
  ascii: makeDigits(1, "latin1", 10),
  hex: makeDigits(1, "latin1", 16),
};

function makeDigits(perByte: number, encoding: "hex" | "latin1", radix: number) {
  const isMalformed = radix === 10 ? /[^0-9]/ : /[^0-9A-Fa-f]/;
  return {
    max: (bytes: number) => radix ** (bytes * perByte) - 1,
    read: (stream: Buffer, at: number, bytes: number) => {
      const digits = stream.toString(encoding, at, at + bytes);
      return isMalformed.test(digits) ? Number.NaN : Number.parseInt(digits, radix);
    },
    write: (length: number, target: Buffer, bytes: number) =>
      target.write(
        length
          .toString(radix)
          .toUpperCase()
          .padStart(bytes * perByte, "0"),
        encoding,
      ),
  };
}

/** Returns the bytes around the payloads of a framing. */
function makeSurroundings(framing: Framing) {
  const { bytes, countsItself, ...row } = framings[framing];
  const header = Buffer.from(row.header, "hex");
  const trailer = Buffer.from(row.trailer, "hex");
  return {
    bytes,
    ...lengths[row.length],
    header,
    trailer,
    /** How many bytes a length counts besides the payload. */
    counted: header.length + trailer.length + (countsItself ? bytes : 0),
    itself: countsItself ? bytes : 0,
  };
}

/**
 * The surroundings of each framing, which are made once because a frame is made for each message.
 * The keys are those of the table.
 */
const surroundings = Object.fromEntries(
  Object.keys(framings).map((name) => [name, makeSurroundings(name as Framing)]),
) as Readonly<Record<Framing, ReturnType<typeof makeSurroundings>>>;

/** Makes a frame. A frame with an empty payload is a heartbeat. */
export function frame(framing: Framing, payload: Uint8Array): Buffer {
  const { bytes, header, trailer, counted, max, write } = surroundings[framing];
  const length = payload.length + counted;
  assert.ok(length <= max(bytes), "the payload is too long for its framing");
  const start = bytes + header.length;
  const framed = Buffer.allocUnsafe(start + payload.length + trailer.length);
  write(length, framed, bytes);
  framed.set(header, bytes);
  framed.set(payload, start);
  framed.set(trailer, start + payload.length);
  return framed;
}

/** The rest of the stream is unreadable. `framesBefore` are complete frames of the same chunk. */
export class FrameFault {
  readonly reason: "malformed_header" | "too_long";
  readonly framesBefore: readonly Buffer[];

  constructor(reason: FrameFault["reason"], framesBefore: readonly Buffer[]) {
    this.reason = reason;
    this.framesBefore = framesBefore;
  }
}

export class FrameReader {
  readonly #around: (typeof surroundings)[Framing];
  readonly #payloadBytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #bytesWanted: number;
  #fault: FrameFault | undefined;

  constructor(framing: Framing, { payloadBytesMax }: { readonly payloadBytesMax: number }) {
    this.#around = surroundings[framing];
    this.#payloadBytesMax = payloadBytesMax;
    this.#bytesWanted = this.#around.bytes;
  }

  /** Returns the frames that this chunk completes, without heartbeats. A fault is final. */
  push(chunk: Uint8Array): readonly Buffer[] | FrameFault {
    if (this.#fault !== undefined) return this.#fault;
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#bytes += chunk.byteLength;
    // Joining only when a frame is complete avoids copying a slow stream again for every chunk.
    if (this.#bytes < this.#bytesWanted) return [];
    const [first] = this.#chunks;
    return this.#split(first?.length === this.#bytes ? first : Buffer.concat(this.#chunks));
  }

  #split(stream: Buffer): readonly Buffer[] | FrameFault {
    const { bytes, header, trailer, counted, itself, read } = this.#around;
    const frames: Buffer[] = [];
    let at = 0;
    this.#bytesWanted = bytes;
    while (stream.length - at >= bytes) {
      const length = read(stream, at, bytes);
      const isHeartbeat = length === itself;
      if (!(length >= counted || isHeartbeat)) return this.#fail("malformed_header", frames);
      if (length - counted > this.#payloadBytesMax) return this.#fail("too_long", frames);
      const end = at + bytes + length - itself;
      if (end > stream.length) {
        this.#bytesWanted = end - at;
        break;
      }
      if (length > counted) {
        frames.push(stream.subarray(at + bytes + header.length, end - trailer.length));
      }
      at = end;
    }
    this.#chunks = at < stream.length ? [stream.subarray(at)] : [];
    this.#bytes = stream.length - at;
    return frames;
  }

  #fail(reason: FrameFault["reason"], framesBefore: readonly Buffer[]): FrameFault {
    this.#chunks = [];
    this.#fault = new FrameFault(reason, []);
    return new FrameFault(reason, framesBefore);
  }
}
