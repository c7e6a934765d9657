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
import { type Clock, type Instant, later } from "../../values/time.ts";
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

export type Ending = IsoMessage | "timeout" | "link_lost";

type Waiter = {
  readonly key: string;
  readonly lane: Lane;
  readonly deadlineAt: Instant;
  readonly promise: Promise<Ending>;
  readonly resolve: (ending: Ending) => void;
};

/** Requests with one time limit, the first to run out first. */
type Lane = { readonly timeoutMs: number; readonly waiters: Set<Waiter>; callOff: () => void };

/**
 * The requests that wait for their answers. Requests with the same time limit expire in the order
 * in which they were sent, so each limit needs one timer, not one per request.
 */
export class PendingAnswers {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Waiter>();
  readonly #lanes = new Map<number, Lane>();
  #onEmpty: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): Promise<Ending> | undefined {
    return this.#byKey.get(key)?.promise;
  }

  add(key: string, timeoutMs: number): Promise<Ending> {
    const lane = this.#lanes.get(timeoutMs) ?? this.#openLane(timeoutMs);
    const deadlineAt = later(this.#clock.now(), timeoutMs);
    const waiter = { key, lane, deadlineAt, ...Promise.withResolvers<Ending>() };
    this.#byKey.set(key, waiter);
    lane.waiters.add(waiter);
    return waiter.promise;
  }

  /** False when no request waits for it. */
  answer(key: string, message: IsoMessage): boolean {
    const waiter = this.#byKey.get(key);
    if (waiter === undefined) return false;
    this.#end(waiter, message);
    return true;
  }

  /** The link is lost, and with it every answer. */
  loseAll(): void {
    for (const { callOff } of this.#lanes.values()) callOff();
    this.#lanes.clear();
    for (const waiter of this.#byKey.values()) this.#end(waiter, "link_lost");
  }

  whenEmpty(): Promise<void> {
    if (this.#byKey.size === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    return promise;
  }

  #openLane(timeoutMs: number): Lane {
    const lane: Lane = { timeoutMs, waiters: new Set(), callOff: () => {} };
    this.#lanes.set(timeoutMs, lane);
    this.#arm(lane, timeoutMs);
    return lane;
  }

  #arm(lane: Lane, delayMs: number): void {
    lane.callOff = this.#clock.after(delayMs, () => this.#sweep(lane));
  }

  #sweep(lane: Lane): void {
    const now = this.#clock.now();
    for (const waiter of lane.waiters) {
      const leftMs = waiter.deadlineAt - now;
      // More left than the limit itself: the clock was set back, and the request must still end.
      if (leftMs > 0 && leftMs <= lane.timeoutMs) {
        this.#arm(lane, leftMs);
        return;
      }
      this.#end(waiter, "timeout");
    }
    this.#lanes.delete(lane.timeoutMs);
  }

  #end(waiter: Waiter, ending: Ending): void {
    this.#byKey.delete(waiter.key);
    waiter.lane.waiters.delete(waiter);
    waiter.resolve(ending);
    if (this.#byKey.size === 0) this.#onEmpty();
  }
}

/**
 * Remembers the latest values, at least `countMin` and at most twice as many. It forgets half at a
 * time: a map that forgets its oldest entry one by one searches for it longer and longer.
 */
export class Recent<Value> {
  readonly #countMin: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(countMin: number) {
    this.#countMin = countMin;
  }

  remember(key: string, value: Value): void {
    if (this.#newer.size >= this.#countMin) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  find(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }
}
