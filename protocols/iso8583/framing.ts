/**
 * Length headers of ISO 8583 messages on a stream, which the standard leaves to the parties. A
 * frame that arrives whole in one chunk is a view of it: callers must not reuse a chunk's memory.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

export type Framing = keyof typeof headers;

/** A length counts the payload and not itself; `read` is negative when the length is malformed. */
const headers = {
  "binary-2": {
    bytes: 2,
    payloadBytesMax: 0xffff,
    read: (stream: Buffer, at: number) => stream.readUInt16BE(at),
    write: (length: number, target: Buffer) => target.writeUInt16BE(length),
  },
  "ascii-4": {
    bytes: 4,
    payloadBytesMax: 9999,
    read: (stream: Buffer, at: number) => {
      const digits = stream.toString("latin1", at, at + 4);
      return /^[0-9]{4}$/.test(digits) ? Number(digits) : -1;
    },
    write: (length: number, target: Buffer) =>
      target.write(String(length).padStart(4, "0"), "latin1"),
  },
};

/** A frame with an empty payload is a heartbeat. */
export function frame(framing: Framing, payload: Uint8Array): Buffer {
  const header = headers[framing];
  assert.ok(payload.length <= header.payloadBytesMax, "the payload is too long for its framing");
  const framed = Buffer.allocUnsafe(header.bytes + payload.length);
  header.write(payload.length, framed);
  framed.set(payload, header.bytes);
  return framed;
}

/** The rest of the stream is unreadable; `framesBefore` are complete frames of the same chunk. */
export class FrameFault {
  readonly reason: "malformed_header" | "too_long";
  readonly framesBefore: readonly Buffer[];

  constructor(reason: FrameFault["reason"], framesBefore: readonly Buffer[]) {
    this.reason = reason;
    this.framesBefore = framesBefore;
  }
}

export class FrameReader {
  readonly #header: (typeof headers)[Framing];
  readonly #payloadBytesMax: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #bytesWanted: number;
  #fault: FrameFault | undefined;

  constructor(framing: Framing, { payloadBytesMax }: { readonly payloadBytesMax: number }) {
    this.#header = headers[framing];
    this.#payloadBytesMax = payloadBytesMax;
    this.#bytesWanted = this.#header.bytes;
  }

  /** The frames that this chunk completes, without heartbeats. A fault is final. */
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
    const header = this.#header;
    const frames: Buffer[] = [];
    let at = 0;
    this.#bytesWanted = header.bytes;
    while (stream.length - at >= header.bytes) {
      const length = header.read(stream, at);
      if (length < 0) return this.#fail("malformed_header", frames);
      if (length > this.#payloadBytesMax) return this.#fail("too_long", frames);
      const end = at + header.bytes + length;
      if (end > stream.length) {
        this.#bytesWanted = end - at;
        break;
      }
      if (length > 0) frames.push(stream.subarray(at + header.bytes, end));
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
