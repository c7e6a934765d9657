/**
 * A long-lived link to one host: connects, signs on, asks for a sign of life when it is quiet, and
 * comes back by itself. An answer belongs to a request by message type, trace number and reference
 * together, because trace numbers repeat.
 */
import { type DecodeFault, type IsoMessage, responseMti } from "@tollgate/protocols/iso8583";
import type { Clock } from "../../values/time.ts";
import {
  type Address,
  Connection,
  type Ending,
  PendingAnswers,
  Recent,
  type Wire,
} from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { makeNetworkMessage } from "./messages.ts";

/** `closed`: takes nothing more and does not come back, though it may still wait for answers. */
export type LinkState = "connecting" | "signing_on" | "online" | "down" | "closed";

export const usualLinkLimits = {
  connectTimeoutMs: 5_000,
  /** For the answers to sign-on, echo and sign-off. */
  networkTimeoutMs: 10_000,
  /** An echo is sent when nothing was received for as long as this. */
  echoAfterMs: 60_000,
  /** Between two tries to connect: doubles from the first to the second. */
  backOffMinMs: 250,
  backOffMaxMs: 5_000,
  /** How long a closing link waits for answers. */
  drainMs: 30_000,
  /** How many answered requests are remembered, to know a second answer from a late one. */
  answersRemembered: 50_000,
};

export type LinkLimits = Readonly<typeof usualLinkLimits>;

type LinkOptions = {
  readonly address: Address;
  readonly wire: Wire & Pick<Dialect, "codes" | "network">;
  /** Of the terminal; UTC when absent. */
  readonly zone?: string | undefined;
  readonly clock: Clock;
  readonly limits: LinkLimits;
  readonly events: {
    readonly onState: (state: LinkState, why: string) => void;
    /** `earlierCode`: the response code of the answer that the same request has had before. */
    readonly onUnmatched: (message: IsoMessage, earlierCode: string | undefined) => void;
    /** May be the answer to any request: all go on waiting, and the right one times out. */
    readonly onUnreadable: (fault: DecodeFault, bytes: number) => void;
  };
  /** From 0 to 1, for the jitter. */
  readonly random: () => number;
};

export class Link {
  readonly #options: LinkOptions;
  readonly #waiting: PendingAnswers;
  readonly #answered: Recent<string>;
  #state: LinkState = "down";
  #connection: Connection | undefined;
  /** Every state has at most one timer of its own. */
  #callOffTimer: () => void = () => {};
  #receivedAtMs = 0;
  #failures = 0;
  #traceNumber = 0;
  #closing: Promise<void> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#waiting = new PendingAnswers(options.clock);
    this.#answered = new Recent(options.limits.answersRemembered);
  }

  get state(): LinkState {
    return this.#state;
  }

  isReady(): boolean {
    return this.#state === "online";
  }

  open(): void {
    const { address, wire } = this.#options;
    const connection = new Connection(address, wire, {
      onOpen: () => void this.#signOn(connection),
      onMessage: (message) => this.#receive(message),
      onUnreadable: (fault, bytes) => this.#readInVain(fault, bytes),
      onLost: (why) => this.#lose(why),
    });
    this.#connection = connection;
    this.#enter("connecting", `try ${this.#failures + 1}`);
    this.#setTimer(this.#options.limits.connectTimeoutMs, () => connection.drop("no connection"));
  }

  /** `not_sent` is a promise that nothing left; with any other ending it may have. */
  send(message: IsoMessage, limit: { readonly timeoutMs: number }): Promise<Ending | "not_sent"> {
    const connection = this.#connection;
    if (connection === undefined || !this.isReady()) return Promise.resolve("not_sent");
    return this.#ask(connection, message, limit.timeoutMs);
  }

  /** Waits for answers within a limit, signs off and ends. */
  close(): Promise<void> {
    this.#closing ??= this.#windUp(this.isReady());
    return this.#closing;
  }

  async #windUp(isSignedOn: boolean): Promise<void> {
    this.#enter("closed", "closed from here");
    if (isSignedOn) {
      await this.#drain();
      if (this.#connection !== undefined) {
        await this.#askNetwork(this.#connection, "signOff");
      }
    }
    this.#connection?.drop("closed from here");
  }

  async #drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#setTimer(this.#options.limits.drainMs, resolve);
    await Promise.race([promise, this.#waiting.whenEmpty()]);
    this.#callOffTimer();
  }

  #ask(connection: Connection, message: IsoMessage, timeoutMs: number): Promise<Ending> {
    const key = keyOf(responseMti(message.mti), message);
    // Asked twice is sent once: both askers get the one answer.
    const asked = this.#waiting.find(key);
    if (asked !== undefined) return asked;
    connection.send(message);
    return this.#waiting.add(key, timeoutMs);
  }

  #askNetwork(connection: Connection, code: keyof Dialect["network"]["codes"]): Promise<Ending> {
    const { clock, limits, wire } = this.#options;
    this.#traceNumber = (this.#traceNumber % 999_999) + 1;
    const traceNumber = String(this.#traceNumber).padStart(6, "0");
    const message = makeNetworkMessage(wire.network, code, traceNumber, {
      at: clock.now(),
      zone: this.#options.zone ?? "UTC",
    });
    return this.#ask(connection, message, limits.networkTimeoutMs);
  }

  async #signOn(connection: Connection): Promise<void> {
    this.#enter("signing_on", "connected");
    const answer = await this.#askNetwork(connection, "signOn");
    if (this.#state !== "signing_on" || this.#connection !== connection) return;
    const code = typeof answer === "string" ? answer : answer.fields[39];
    if (code !== this.#options.wire.codes.networkAccepted) {
      connection.drop(`sign-on: ${code}`);
      return;
    }
    this.#failures = 0;
    this.#enter("online", "signed on");
    this.#watch(connection, this.#options.limits.echoAfterMs);
  }

  /** One timer looks now and then how long it has been quiet; a timer per message would cost. */
  #watch(connection: Connection, delayMs: number): void {
    const { clock, limits } = this.#options;
    this.#setTimer(delayMs, () => {
      const quietMs = clock.now() - this.#receivedAtMs;
      if (quietMs < limits.echoAfterMs) this.#watch(connection, limits.echoAfterMs - quietMs);
      else void this.#echo(connection);
    });
  }

  async #echo(connection: Connection): Promise<void> {
    const answer = await this.#askNetwork(connection, "echo");
    if (!this.isReady() || this.#connection !== connection) return;
    if (answer === "timeout") connection.drop("echo: timeout");
    else this.#watch(connection, this.#options.limits.echoAfterMs);
  }

  #receive(message: IsoMessage): void {
    this.#receivedAtMs = this.#options.clock.now();
    const key = keyOf(message.mti, message);
    if (this.#waiting.answer(key, message)) {
      this.#answered.remember(key, message.fields[39] ?? "");
    } else {
      this.#options.events.onUnmatched(message, this.#answered.find(key));
    }
  }

  #readInVain(fault: DecodeFault, bytes: number): void {
    this.#receivedAtMs = this.#options.clock.now();
    this.#options.events.onUnreadable(fault, bytes);
  }

  #lose(why: string): void {
    this.#connection = undefined;
    if (this.#state !== "closed") {
      this.#enter("down", why);
      this.#setTimer(this.#nextBackOffMs(), () => this.open());
    }
    this.#waiting.loseAll();
  }

  /** Jitter takes up to half of it away, so that nodes do not all come back in one moment. */
  #nextBackOffMs(): number {
    const { limits, random } = this.#options;
    const backOffMs = Math.min(limits.backOffMaxMs, limits.backOffMinMs * 2 ** this.#failures);
    this.#failures += 1;
    return backOffMs * (1 - random() / 2);
  }

  #enter(state: LinkState, why: string): void {
    this.#callOffTimer();
    this.#state = state;
    this.#options.events.onState(state, why);
  }

  #setTimer(delayMs: number, task: () => void): void {
    this.#callOffTimer = this.#options.clock.after(delayMs, task);
  }
}

function keyOf(responseType: string, { fields }: IsoMessage): string {
  return `${responseType} ${fields[11] ?? ""} ${fields[37] ?? ""}`;
}
