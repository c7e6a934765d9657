/**
 * What the tests of this folder share: a clock they move, a journal they wait on, a host that does
 * as it is told, and the link and the acquirer made with these.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import {
  DecodeFault,
  decode,
  describe,
  encode,
  FrameFault,
  FrameReader,
  frame,
  iso87Ascii,
  type Message,
  responseMti,
} from "@tollgate/protocols/iso8583";
import type { Answer } from "../../orders/order.ts";
import { CardNumber } from "../../values/card-number.ts";
import { getCurrency } from "../../values/currency.ts";
import { asGateId } from "../../values/ids.ts";
import { Money } from "../../values/money.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant, type Clock, type Instant } from "../../values/time.ts";
import type { Attempt } from "../acquirer.ts";
import type { GateSettings } from "../gate.ts";
import { makeIso8583Acquirer } from "./connector.ts";
import { Link, type LinkLimits, usualLinkLimits } from "./link.ts";

/** 2026-11-15 02:04:06.789 UTC. */
export const startsAt = asInstant(1_794_708_246_789);

export class TestClock implements Clock {
  #now: number = startsAt;
  #timers: { readonly at: number; readonly task: () => void }[] = [];

  now(): Instant {
    return asInstant(this.#now);
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The moments at which something is to happen, from now, soonest first. */
  get pendingMs(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#now).toSorted((left, right) => left - right);
  }

  move(durationMs: number): void {
    const end = this.#now + durationMs;
    for (;;) {
      const [next] = this.#timers.toSorted((left, right) => left.at - right.at);
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.task();
    }
    this.#now = end;
  }
}

export type Entry = { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };

/** A log to wait on. Every wait goes on from where the one before it ended. */
export class Journal {
  readonly entries: Entry[] = [];
  #read = 0;
  #onEntry: () => void = () => {};

  readonly log = (event: string, facts: object): void => {
    this.entries.push({ event, facts: { ...facts } });
    this.#onEntry();
  };

  async until(event: string, wanted: Readonly<Record<string, unknown>> = {}): Promise<Entry> {
    for (;;) {
      for (const entry of this.entries.slice(this.#read)) {
        this.#read += 1;
        const agrees = Object.entries(wanted).every(([name, value]) => entry.facts[name] === value);
        if (entry.event === event && agrees) return entry;
      }
      await new Promise<void>((resolve) => {
        this.#onEntry = resolve;
      });
    }
  }
}

/** What a host says to a message: another, raw bytes, or nothing. */
export type Says = (message: Message) => Message | Buffer | undefined;

/** A host that does as it is told, for what no bank would do. */
export async function startHost(t: TestContext, says: Says): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const reader = new FrameReader("binary-2", { payloadBytesMax: 8_192 });
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      const frames = reader.push(chunk);
      for (const payload of frames instanceof FrameFault ? [] : frames) {
        const message = decode(iso87Ascii, payload);
        const said = message instanceof DecodeFault ? undefined : says(message);
        if (said instanceof Uint8Array) socket.write(said);
        else if (said !== undefined) socket.write(frame("binary-2", encode(iso87Ascii, said)));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export function accept({ mti, fields }: Message): Message {
  return { mti: responseMti(mti), fields: { ...fields, 39: "00" } };
}

export const settings: GateSettings = {
  host: "127.0.0.1",
  port: 0,
  terminalId: "TERM01",
  merchantCode: "MERCHANT01",
  nameAndPlace: "Corner Shop           Springfield  NLD",
  categoryCode: "5999",
  countryCode: "528",
  acquirerId: "400123",
  descriptor: "Corner Shop",
  worksWithoutCvv: true,
  partialReversal: true,
  partialCapture: true,
};

export type AttemptChanges = {
  readonly card?: string;
  readonly minor?: bigint;
  readonly cvv?: string;
  readonly eci?: string;
  readonly reference?: string;
  readonly traceNumber?: string;
};

export function makeAttempt(changes: AttemptChanges = {}): Attempt {
  const gate = {
    id: asGateId("1"),
    descriptor: "Corner Shop",
    shownDescriptor: "Corner Shop",
    terminalId: settings.terminalId,
    partialReversal: true,
    partialCapture: true,
  };
  const { reference = "00000000AB01", traceNumber = "000777" } = changes;
  return {
    charge: { gate, attempt: 1, reference, traceNumber, transmittedAt: startsAt },
    amount: new Money(changes.minor ?? 1015n, getCurrency("EUR")),
    card: {
      number: new CardNumber(changes.card ?? "4000001000000018"),
      expiryYear: "2039",
      expiryMonth: "4",
    },
    cvv: new Secret(changes.cvv ?? "123"),
    eci: changes.eci,
  };
}

export function openLink(t: TestContext, port: number, limits: Partial<LinkLimits> = {}) {
  const clock = new TestClock();
  const journal = new Journal();
  const link = new Link({
    address: { host: "127.0.0.1", port },
    clock,
    random: () => 0,
    limits: { ...usualLinkLimits, ...limits },
    events: {
      onState: (state, why) => journal.log("state", { state, why }),
      onUnmatched: (message, earlierCode) =>
        journal.log("unmatched", { ...describe(message), earlierCode }),
      onUnreadable: ({ reason }, bytes) => journal.log("unreadable", { reason, bytes }),
    },
  });
  link.open();
  t.after(() => closeInTime(clock, link.close()));
  const until = (state: string) => journal.until("state", { state });
  return { clock, journal, link, until };
}

export const answerTimeoutMs = 20_000;

/** An acquirer that is signed on. */
export async function connectAcquirer(t: TestContext, port: number) {
  const clock = new TestClock();
  const journal = new Journal();
  const late: { readonly reference: string; readonly answer: Answer }[] = [];
  const observed: string[] = [];
  const acquirer = makeIso8583Acquirer({
    settings: { ...settings, port },
    clock,
    answerTimeoutMs,
    random: () => 0,
    log: journal.log,
    onLateApproval: (reference, answer) => void late.push({ reference, answer }),
    observe: {
      answered: (mti, answerMs) => void observed.push(`${mti} ${answerMs} ms`),
      inFlight: (count) => void observed.push(`${count} in flight`),
    },
  });
  t.after(() => closeInTime(clock, acquirer.stop()));
  await journal.until("link_state", { state: "online" });
  return { acquirer, clock, journal, late, observed };
}

/** What is still waited for when a test ends is not waited for in earnest. */
function closeInTime(clock: TestClock, closed: Promise<void>): Promise<void> {
  clock.move(100_000);
  return closed;
}
