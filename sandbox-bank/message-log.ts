/**
 * The last ISO 8583 messages that the host received and sent. They are stored as bytes in one block
 * of memory, because a hundred thousand live objects would slow down every sale. Card numbers leave
 * this file masked, except through `waitFor`, which a test in the same process calls.
 */
import {
  DecodeFault,
  decode,
  describe,
  type IsoMessage,
  type Specification,
} from "@tollgate/protocols/iso8583";
import type { BankClock } from "./bank-context.ts";
import { maskCard } from "./issuer.ts";

type Direction = "received" | "sent";

export type LoggedMessage = {
  readonly at: string;
  readonly direction: Direction;
  readonly mti: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type MessageMatch = { readonly mti: string; readonly reference?: string };

type RawMessage = {
  readonly reference: string;
  readonly payload: Buffer;
  readonly specification: Specification;
  readonly ms: number;
};

// A slot contains the time (8 bytes), direction, specification, length of the reference, length of
// the payload (2 bytes), reference and payload. A payload that is too long is stored outside.
const slotBytes = 512;
const firstSlots = 1_000;
const referenceAt = 13;
const referenceBytesMax = 12;
const payloadAt = referenceAt + referenceBytesMax;

export class MessageLog {
  readonly #capacity: number;
  #slots = Buffer.allocUnsafeSlow(firstSlots * slotBytes);
  /** The specifications, which a slot names by index. */
  readonly #specifications: Specification[] = [];
  readonly #longPayloads = new Map<number, Buffer>();
  readonly #waiters = new Waiters<IsoMessage>();
  #recorded = 0;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  record(direction: Direction, { reference, payload, specification, ms }: RawMessage): void {
    const slot = (this.#recorded % this.#capacity) * slotBytes;
    if (slot === this.#slots.length) {
      this.#slots = Buffer.concat([this.#slots], 2 * this.#slots.length);
    }
    const name = reference.slice(0, referenceBytesMax);
    this.#slots.writeDoubleLE(ms, slot);
    this.#slots[slot + 8] = direction === "sent" ? 1 : 0;
    this.#slots[slot + 9] = this.#indexOf(specification);
    this.#slots[slot + 10] = name.length;
    this.#slots.writeUInt16LE(payload.length, slot + 11);
    this.#slots.write(name, slot + referenceAt, "latin1");
    if (this.#longPayloads.size > 0) this.#longPayloads.delete(slot);
    if (payload.length <= slotBytes - payloadAt) payload.copy(this.#slots, slot + payloadAt);
    else this.#longPayloads.set(slot, Buffer.from(payload));
    this.#recorded += 1;
  }

  /** Lists messages, the oldest first, decoded and masked. */
  list(reference?: string, countMax = this.#capacity): readonly LoggedMessage[] {
    return [...this.#findSlots(reference, countMax)].map((slot) => this.#describe(slot));
  }

  /** Returns the oldest matching message that was received, or else waits for the next one. */
  waitFor({ mti, reference }: MessageMatch): Promise<IsoMessage> {
    const isMatch = (message: IsoMessage) =>
      message.mti === mti && (reference === undefined || message.fields[37] === reference);
    for (const slot of this.#findSlots(reference)) {
      const message = this.#decode(slot);
      const isReceived = this.#directionOf(slot) === "received";
      if (isReceived && !(message instanceof DecodeFault) && isMatch(message)) {
        return Promise.resolve(message);
      }
    }
    return this.#waiters.waitFor(mti, isMatch);
  }

  forget(): void {
    this.#recorded = 0;
    this.#longPayloads.clear();
  }

  announce(received: IsoMessage): void {
    this.#waiters.announce(received);
  }

  close(): void {
    this.#waiters.close();
  }

  /** Finds slots among the last messages, the oldest first. */
  *#findSlots(reference: string | undefined, countMax = this.#capacity): Generator<number> {
    const kept = Math.min(this.#recorded, this.#capacity, countMax);
    for (let number = this.#recorded - kept; number < this.#recorded; number += 1) {
      const slot = (number % this.#capacity) * slotBytes;
      if (reference === undefined || this.#referenceOf(slot) === reference) yield slot;
    }
  }

  #describe(slot: number): LoggedMessage {
    const at = new Date(this.#slots.readDoubleLE(slot)).toISOString();
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

  #indexOf(specification: Specification): number {
    const index = this.#specifications.indexOf(specification);
    return index >= 0 ? index : this.#specifications.push(specification) - 1;
  }

  #specificationOf(slot: number): Specification {
    const specification = this.#specifications[this.#slots[slot + 9] ?? 0];
    if (specification === undefined) throw new Error("No message is in this slot.");
    return specification;
  }

  #directionOf(slot: number): Direction {
    return this.#slots[slot + 8] === 1 ? "sent" : "received";
  }

  #referenceOf(slot: number): string {
    const start = slot + referenceAt;
    return this.#slots.toString("latin1", start, start + (this.#slots[slot + 10] ?? 0));
  }

  #payloadOf(slot: number): Buffer {
    const start = slot + payloadAt;
    const end = start + this.#slots.readUInt16LE(slot + 11);
    return this.#longPayloads.get(slot) ?? this.#slots.subarray(start, end);
  }
}

type Waiter<Message> = {
  readonly name: string;
  readonly isMatch: (message: Message) => boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
};

/** Lets a test await a message instead of sleeping. */
class Waiters<Message> {
  #waiting: readonly Waiter<Message>[] = [];

  waitFor(name: string, isMatch: Waiter<Message>["isMatch"]): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    // A test that failed before it awaited this must not fail a second time.
    promise.catch(() => {});
    this.#waiting = [...this.#waiting, { name, isMatch, resolve, reject }];
    return promise;
  }

  announce(message: Message): void {
    if (this.#waiting.length === 0) return;
    const matched = this.#waiting.filter(({ isMatch }) => isMatch(message));
    this.#waiting = this.#waiting.filter((waiter) => !matched.includes(waiter));
    for (const { resolve } of matched) resolve(message);
  }

  close(): void {
    for (const { name, reject } of this.#waiting) {
      reject(new Error(`The bank stopped before a message ${name} came.`));
    }
    this.#waiting = [];
  }
}

type ThreeDsFields = { readonly [field: string]: unknown };

type ThreeDsMessage = {
  readonly at: string;
  readonly direction: Direction;
  readonly type: string;
  /** The threeDSServerTransID, or in 1.0.2 the message id or the purchase's xid. */
  readonly transactionId: string;
  readonly fields: ThreeDsFields;
};

export type ThreeDsMatch = { readonly type: string; readonly transactionId?: string };

const messagesMax = 10_000;
const maskedFields: ReadonlySet<string> = new Set(["acctNumber", "pan"]);

/**
 * The last 3-D Secure messages that the sandbox bank received and sent. Card numbers are masked.
 */
export class ThreeDsMessages {
  readonly #clock: BankClock;
  readonly #waiters = new Waiters<ThreeDsMessage>();
  #messages: ThreeDsMessage[] = [];

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  record(direction: Direction, type: string, transactionId: string, fields: object): void {
    const masked = Object.entries(fields).map(([name, value]) =>
      maskedFields.has(name) ? [name, maskCard(String(value))] : [name, value],
    );
    const at = this.#clock.now().iso;
    const message = { at, direction, type, transactionId, fields: Object.fromEntries(masked) };
    this.#messages.push(message);
    // The list is shortened rarely, because this copies the rest.
    if (this.#messages.length >= 2 * messagesMax)
      this.#messages = this.#messages.slice(-messagesMax);
    this.#waiters.announce(message);
  }

  /** Lists messages, the oldest first. */
  list(transactionId?: string): readonly ThreeDsMessage[] {
    const last = this.#messages.slice(-messagesMax);
    if (transactionId === undefined) return last;
    return last.filter((message) => message.transactionId === transactionId);
  }

  forget(): void {
    this.#messages = [];
  }

  /** Returns the fields of the oldest matching message, or else waits for the next one. */
  waitFor({ type, transactionId }: ThreeDsMatch): Promise<ThreeDsFields> {
    const isMatch = (message: ThreeDsMessage) =>
      message.type === type &&
      (transactionId === undefined || message.transactionId === transactionId);
    const logged = this.list().find(isMatch);
    if (logged !== undefined) return Promise.resolve(logged.fields);
    const fields = this.#waiters.waitFor(type, isMatch).then((message) => message.fields);
    fields.catch(() => {});
    return fields;
  }

  close(): void {
    this.#waiters.close();
  }
}
