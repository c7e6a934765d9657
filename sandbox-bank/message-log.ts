/**
 * The last messages that the host received and sent. They are kept as bytes in one block of memory
 * (a hundred thousand live objects would cost every sale), which never leaves this file unmasked
 * except for `find`, the in-process question of a test.
 */
import {
  DecodeFault,
  decode,
  describe,
  type IsoMessage,
  type Specification,
} from "@tollgate/protocols/iso8583";
import { isoAt } from "./bank-clock.ts";

export type Direction = "received" | "sent";

export type LoggedMessage = {
  readonly at: string;
  readonly direction: Direction;
  readonly mti: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Recorded = {
  readonly reference: string;
  readonly payload: Buffer;
  readonly specification: Specification;
  readonly ms: number;
};

// A slot begins with the reference; a message that does not fit behind it is kept aside.
const slotBytes = 512;
const referenceBytes = 12;
const roomBytes = slotBytes - referenceBytes;

export class MessageLog {
  readonly #capacity: number;
  readonly #slots: Buffer;
  readonly #ms: Float64Array;
  readonly #sent: Uint8Array;
  readonly #referenceLengths: Uint8Array;
  readonly #lengths: Uint16Array;
  /** Few: a slot knows its own by the place in here. */
  readonly #specifications: Specification[] = [];
  readonly #specificationPlaces: Uint8Array;
  readonly #long = new Map<number, Buffer>();
  #recorded = 0;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
    this.#slots = Buffer.allocUnsafeSlow(capacity * slotBytes);
    this.#ms = new Float64Array(capacity);
    this.#sent = new Uint8Array(capacity);
    this.#referenceLengths = new Uint8Array(capacity);
    this.#lengths = new Uint16Array(capacity);
    this.#specificationPlaces = new Uint8Array(capacity);
  }

  record(direction: Direction, message: Recorded): void {
    const { payload } = message;
    const slot = this.#recorded % this.#capacity;
    const start = slot * slotBytes;
    const reference = message.reference.slice(0, referenceBytes);
    this.#ms[slot] = message.ms;
    this.#sent[slot] = direction === "sent" ? 1 : 0;
    this.#referenceLengths[slot] = reference.length;
    this.#lengths[slot] = payload.length;
    this.#specificationPlaces[slot] = this.#placeOf(message.specification);
    this.#slots.write(reference, start, "latin1");
    if (this.#long.size > 0) this.#long.delete(slot);
    if (payload.length <= roomBytes) payload.copy(this.#slots, start + referenceBytes);
    else this.#long.set(slot, Buffer.from(payload));
    this.#recorded += 1;
  }

  /** Oldest first, decoded and masked. */
  list(reference?: string): readonly LoggedMessage[] {
    return [...this.#walk(reference)].map((slot) => this.#describe(slot));
  }

  /** The same, of the last few messages whatever their reference. */
  listLast(count: number): readonly LoggedMessage[] {
    return [...this.#walk(undefined, count)].map((slot) => this.#describe(slot));
  }

  /** The oldest received message of this kind, as it came. */
  find(mti: string, reference: string | undefined): IsoMessage | undefined {
    for (const slot of this.#walk(reference)) {
      if (this.#directionOf(slot) !== "received") continue;
      const message = this.#decode(slot);
      if (!(message instanceof DecodeFault) && message.mti === mti) return message;
    }
    return undefined;
  }

  *#walk(reference: string | undefined, last = this.#capacity): Generator<number> {
    const kept = Math.min(this.#recorded, this.#capacity, last);
    for (let number = this.#recorded - kept; number < this.#recorded; number += 1) {
      const slot = number % this.#capacity;
      if (reference === undefined || this.#referenceOf(slot) === reference) yield slot;
    }
  }

  #describe(slot: number): LoggedMessage {
    const at = isoAt(this.#ms[slot] ?? 0);
    const direction = this.#directionOf(slot);
    const message = this.#decode(slot);
    if (message instanceof DecodeFault) {
      const unreadable = `${this.#payloadOf(slot).length} bytes`;
      return { at, direction, mti: "", fields: { unreadable } };
    }
    const { mti = "", ...fields } = describe(message, this.#specificationOf(slot));
    return { at, direction, mti, fields };
  }

  #decode(slot: number): IsoMessage | DecodeFault {
    return decode(this.#specificationOf(slot), this.#payloadOf(slot));
  }

  #placeOf(specification: Specification): number {
    const place = this.#specifications.indexOf(specification);
    return place >= 0 ? place : this.#specifications.push(specification) - 1;
  }

  #specificationOf(slot: number): Specification {
    const specification = this.#specifications[this.#specificationPlaces[slot] ?? 0];
    if (specification === undefined) throw new Error("No message is in this slot.");
    return specification;
  }

  #directionOf(slot: number): Direction {
    return this.#sent[slot] === 1 ? "sent" : "received";
  }

  #referenceOf(slot: number): string {
    const start = slot * slotBytes;
    return this.#slots.toString("latin1", start, start + (this.#referenceLengths[slot] ?? 0));
  }

  #payloadOf(slot: number): Buffer {
    const start = slot * slotBytes + referenceBytes;
    return this.#long.get(slot) ?? this.#slots.subarray(start, start + (this.#lengths[slot] ?? 0));
  }
}
