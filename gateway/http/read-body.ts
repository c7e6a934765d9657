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

/** The framework answers a request with the status of the error. */
export class BodyRefused extends Error {
  readonly statusCode: 408 | 413 | 503;

  constructor(statusCode: 408 | 413 | 503, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

type Done = (error: Error | null, body?: Uint8Array) => void;

export function makeReadBody({ bodyBytesMax, unfinishedBytesMax }: BodyBounds) {
  /** By what ends their reading. */
  const unfinished = new Map<Body, Done>();
  let unfinishedBytes = 0;

  return {
    get unfinishedBytes() {
      return unfinishedBytes;
    },

    /** `declared` is the length that the client announced, if it did. */
    read(payload: Readable, declared: number | undefined, done: Done): void {
      const body = new Body(declared);
      const onEnd = () => end(null);
      const onClose = () => end(new BodyRefused(408, "the client closed the connection"));
      if ((declared ?? 0) > bodyBytesMax) {
        done(tooLarge());
        return;
      }
      payload.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
      unfinished.set(body, end);
      payload.resume();

      function onData(chunk: Buffer): void {
        if (body.length + chunk.length > bodyBytesMax) {
          end(tooLarge());
          return;
        }
        unfinishedBytes += body.add(chunk, bodyBytesMax);
        if (unfinishedBytes > unfinishedBytesMax) makeRoom();
      }

      function end(error: Error | null): void {
        payload.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
        unfinished.delete(body);
        unfinishedBytes -= body.capacity;
        done(error, error === null ? body.bytes() : undefined);
      }
    },
  };

  /** More than is needed, because the search for the largest bodies costs time. */
  function makeRoom(): void {
    const wantedBytes = unfinishedBytesMax * 0.9;
    const largestFirst = [...unfinished].sort(([left], [right]) => right.capacity - left.capacity);
    for (const [, end] of largestFirst) {
      if (unfinishedBytes <= wantedBytes) return;
      end(new BodyRefused(503, "too many bytes in unfinished bodies"));
    }
  }
}

const tooLarge = () => new BodyRefused(413, "the body is too large");

/** One buffer that doubles: a body of tiny chunks must not cost an object for each. */
class Body {
  readonly #declared: number | undefined;
  #buffer = Buffer.alloc(0);
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
