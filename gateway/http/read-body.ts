/**
 * Reads request bodies within two bounds: of one body, and of all bodies that have not arrived
 * whole. When these exceed their bound, the largest is refused: a payment is small, so half bodies
 * that fill the memory make room for it, and not the other way round.
 */
import type { Readable } from "node:stream";

export type BodyBounds = {
  /** The largest body. */
  readonly bodyBytesMax: number;
  /** All bodies together that have not arrived whole. */
  readonly unfinishedBytesMax: number;
};

/** Why a body was not read, as the status of the answer. */
export class BodyRefused {
  readonly statusCode: 408 | 413 | 503;

  constructor(statusCode: 408 | 413 | 503) {
    this.statusCode = statusCode;
  }
}

type Done = (read: Uint8Array | BodyRefused) => void;
type End = (refused?: BodyRefused) => void;

export function makeReadBody({ bodyBytesMax, unfinishedBytesMax }: BodyBounds) {
  /** The bodies that are being read, and what ends their reading. */
  const unfinished = new Map<Body, End>();
  let unfinishedBytes = 0;

  return {
    get unfinishedBytes() {
      return unfinishedBytes;
    },

    /** A body that has arrived whole, as most do. */
    take(payload: Readable): Uint8Array | BodyRefused {
      // Without a size it would be the first piece alone.
      const body: Buffer = payload.read(payload.readableLength) ?? empty;
      return body.length > bodyBytesMax ? new BodyRefused(413) : body;
    },

    /** `declared` is the length that the client announced, if it did. */
    read(payload: Readable, declared: number | undefined, done: Done): void {
      if ((declared ?? 0) > bodyBytesMax) {
        done(new BodyRefused(413));
        return;
      }
      const body = new Body(declared);
      const onClose = () => end(new BodyRefused(408));
      unfinished.set(body, end);
      payload.on("data", onData).on("end", end).on("error", onClose).on("close", onClose);

      /** What arrives after a refusal is dropped. */
      function onData(chunk: Buffer): void {
        if (!unfinished.has(body)) return;
        if (body.length + chunk.length > bodyBytesMax) {
          end(new BodyRefused(413));
          return;
        }
        unfinishedBytes += body.add(chunk, bodyBytesMax);
        if (unfinishedBytes > unfinishedBytesMax) makeRoom();
      }

      function end(refused?: BodyRefused): void {
        if (!unfinished.delete(body)) return;
        unfinishedBytes -= body.capacity;
        done(refused ?? body.bytes());
      }
    },
  };

  /** More than is needed, because the search for the largest bodies costs time. */
  function makeRoom(): void {
    const wantedBytes = unfinishedBytesMax * 0.9;
    const largestFirst = [...unfinished].sort(([left], [right]) => right.capacity - left.capacity);
    for (const [, end] of largestFirst) {
      if (unfinishedBytes <= wantedBytes) return;
      end(new BodyRefused(503));
    }
  }
}

const empty = Buffer.alloc(0);

/** The only chunk, or one buffer that doubles: tiny chunks must not cost an object for each. */
class Body {
  readonly #declared: number | undefined;
  #buffer: Buffer = empty;
  length = 0;

  constructor(declared: number | undefined) {
    this.#declared = declared;
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /** Answers by how much the buffer has grown. */
  add(chunk: Buffer, most: number): number {
    const { capacity } = this;
    const needed = this.length + chunk.length;
    if (chunk.length === this.#declared) {
      this.#buffer = chunk;
      this.length = needed;
      return needed;
    }
    if (needed > capacity) {
      const wanted = needed === this.#declared ? needed : Math.max(needed, 2 * capacity);
      const grown = Buffer.allocUnsafeSlow(Math.min(wanted, most));
      this.#buffer.copy(grown, 0, 0, this.length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.length);
    this.length = needed;
    return this.capacity - capacity;
  }
}
