/**
 * A long-lived link to a host, one of a gate's. It connects, signs on, sends an echo when it is
 * quiet, and reconnects by itself. An answer belongs to the gate's request with the same message
 * type, trace number and reference, because trace numbers alone repeat.
 */
import { type DecodeFault, type IsoMessage, responseMti } from "@tollgate/protocols/iso8583";
import type { Clock } from "../../values/time.ts";
import type { Address, Addresses } from "../gates.ts";
import { Connection, type Tls, type Wire } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { makeNetworkMessage } from "./messages.ts";
import { type Ending, PendingAnswers, type Recent, type WaitersByKey } from "./pending-answers.ts";

/** A `closed` link sends nothing more and does not reconnect, but may still wait for answers. */
export type LinkState = "connecting" | "signing_on" | "online" | "down" | "closed";

export const usualLinkLimits = {
  connectTimeoutMs: 5_000,
  /** The time limit of answers to sign-on, echo and sign-off. */
  networkTimeoutMs: 10_000,
  /** An echo is sent when nothing was received for as long as this. */
  echoAfterMs: 60_000,
  /** The gap between attempts to connect doubles from the first value to the second. */
  backOffMinMs: 250,
  backOffMaxMs: 5_000,
  /** Used while another link of the gate is up: the host may permanently refuse this one. */
  backOffSpareMaxMs: 30_000,
  /** A link that was up for less than this counts as a failed attempt. */
  steadyAfterMs: 1_000,
  /** How long a closing link waits for answers. */
  drainMs: 30_000,
  /** Answered requests to remember, so that a repeated answer is distinguished from a late one. */
  answersRemembered: 50_000,
};

export type LinkLimits = Readonly<typeof usualLinkLimits>;

/** The links of a gate share this, because a host may answer over another connection. */
export type Conversation = {
  readonly waiting: WaitersByKey;
  /** The response codes of answered requests. */
  readonly answered: Recent<string>;
};

/** The clocks of two nodes may differ by this, which may make an answer seem older than it is. */
const clocksDifferMs = 2_000;

/**
 * Returns false if no request of this process waits for the answer. An answer that another process
 * received before the request was sent is about an earlier request.
 */
export function takeAnswer(
  { waiting, answered }: Conversation,
  message: IsoMessage,
  receivedAt?: number,
): boolean {
  const key = keyOf(message.mti, message);
  const waiter = waiting.get(key);
  if (waiter === undefined) return false;
  if (receivedAt !== undefined && waiter.sentAt > receivedAt + clocksDifferMs) return false;
  waiter.end(message);
  answered.remember(key, message.fields[39] ?? "");
  return true;
}

export type LinkOptions = {
  /** The addresses, which are tried in turn from the first on. */
  readonly addresses: Addresses;
  readonly wire: Wire & Pick<Dialect, "codes" | "network">;
  /** The terminal's time zone; UTC if absent. */
  readonly zone?: string | undefined;
  /** Plain TCP if absent. */
  readonly tls: Tls | undefined;
  /** Whether the host wants a sign-on on every connection. */
  readonly signsOn: boolean;
  readonly conversation: Conversation;
  readonly clock: Clock;
  readonly limits: LinkLimits;
  readonly events: {
    readonly onState: (state: LinkState, why: string, address: Address) => void;
    /** No request waits for the answer. `earlierCode` is the code of its earlier answer, if any. */
    readonly onUnmatched: (message: IsoMessage, earlierCode: string | undefined) => void;
    /** Answers a network message of the host, if it has an answer. Never rejects. */
    readonly onRequest: (request: IsoMessage) => Promise<IsoMessage | undefined>;
    /** An unreadable message may answer any request. All wait on, and the right one times out. */
    readonly onUnreadable: (fault: DecodeFault, bytes: number) => void;
  };
  /** Whether the gate can do without this link, which then reconnects more slowly. */
  readonly isSpare: () => boolean;
  /** A random number from 0 to 1 for the jitter. */
  readonly random: () => number;
};

export type SendLimit = {
  readonly timeoutMs: number;
  /**
   * Resets the connection after the timeout, so that the message cannot reach the host after its
   * repeat, or after it was proved not to exist.
   */
  readonly resets?: boolean;
};

export class Link {
  readonly #options: LinkOptions;
  readonly #waiting: PendingAnswers;
  /** An echo is answered over its own connection, because it proves no other connection. */
  readonly #network: PendingAnswers;
  #state: LinkState = "down";
  #connection: Connection | undefined;
  /** There is one timer at most, because each state of the link needs only one. */
  #callOffTimer: () => void = () => {};
  #receivedAtMs = 0;
  #onlineAtMs = 0;
  #failures = 0;
  /** After a failure, the link tries the next address. */
  #turn = 0;
  #address: Address;
  #traceNumber = 0;
  #closing: Promise<void> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#address = options.addresses[0];
    this.#waiting = new PendingAnswers(options.clock, options.conversation.waiting);
    this.#network = new PendingAnswers(options.clock);
  }

  get state(): LinkState {
    return this.#state;
  }

  isReady(): boolean {
    return this.#state === "online";
  }

  get inFlight(): number {
    return this.#waiting.count;
  }

  open(): void {
    const { wire, tls, signsOn, limits } = this.#options;
    const events = {
      onOpen: () => (signsOn ? void this.#signOn(connection) : this.#goOnline(connection)),
      onMessage: (message: IsoMessage) => this.#receive(message),
      onUnreadable: (fault: DecodeFault, bytes: number) => this.#readInVain(fault, bytes),
      onLost: (why: string) => this.#lose(why),
    };
    const { addresses } = this.#options;
    this.#address = addresses[this.#turn % addresses.length] ?? addresses[0];
    const connection: Connection = new Connection(this.#address, wire, events, tls);
    this.#connection = connection;
    this.#enter("connecting", `try ${this.#failures + 1}`);
    this.#setTimer(limits.connectTimeoutMs, () => connection.giveUp());
  }

  /** `not_sent` guarantees that nothing was sent. Any other ending leaves that open. */
  send(message: IsoMessage, limit: SendLimit): Promise<Ending | "not_sent"> {
    const connection = this.#connection;
    if (connection === undefined || !this.isReady()) return Promise.resolve("not_sent");
    const answer = ask(this.#waiting, connection, message, limit.timeoutMs);
    return limit.resets === true ? this.#resetUnanswered(connection, answer) : answer;
  }

  async #resetUnanswered(connection: Connection, answer: Promise<Ending>): Promise<Ending> {
    const ending = await answer;
    if (ending === "timeout") connection.drop("no answer to a payout");
    return ending;
  }

  /** Waits for answers within a time limit, signs off and closes. */
  close(): Promise<void> {
    this.#closing ??= this.#windUp(this.isReady());
    return this.#closing;
  }

  async #windUp(isSignedOn: boolean): Promise<void> {
    this.#enter("closed", "closed from here");
    if (isSignedOn) {
      await this.#drain();
      if (this.#connection !== undefined && this.#options.signsOn) {
        await this.#askNetwork(this.#connection, "signOff");
      }
    }
    const isIdle = this.#waiting.count === 0;
    this.#connection?.[isIdle ? "close" : "drop"]("closed from here");
  }

  async #drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#setTimer(this.#options.limits.drainMs, resolve);
    await Promise.race([promise, this.#waiting.whenEmpty()]);
    this.#callOffTimer();
  }

  #askNetwork(connection: Connection, code: keyof Dialect["network"]["codes"]): Promise<Ending> {
    const { clock, limits, wire } = this.#options;
    this.#traceNumber = (this.#traceNumber % 999_999) + 1;
    const traceNumber = String(this.#traceNumber).padStart(6, "0");
    const message = makeNetworkMessage(wire.network, wire.network.codes[code], traceNumber, {
      at: clock.now(),
      zone: this.#options.zone ?? "UTC",
    });
    return ask(this.#network, connection, message, limits.networkTimeoutMs);
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
    this.#goOnline(connection);
  }

  #goOnline(connection: Connection): void {
    this.#onlineAtMs = this.#options.clock.now();
    this.#enter("online", this.#options.signsOn ? "signed on" : "connected");
    this.#watch(connection, this.#options.limits.echoAfterMs);
  }

  /** One timer checks how long the link is quiet: a timer per message would cost too much. */
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
    const { conversation, events } = this.#options;
    if (takeAnswer(conversation, message)) return;
    if (message.mti === this.#options.wire.network.mti) {
      void this.#serve(message);
      return;
    }
    const key = keyOf(message.mti, message);
    if (!this.#network.answer(key, message)) {
      events.onUnmatched(message, conversation.answered.find(key));
    }
  }

  async #serve(request: IsoMessage): Promise<void> {
    const { events } = this.#options;
    const connection = this.#connection;
    const answer = await events.onRequest(request);
    if (answer === undefined) events.onUnmatched(request, undefined);
    else if (connection !== undefined && connection === this.#connection) connection.send(answer);
  }

  #readInVain(fault: DecodeFault, bytes: number): void {
    this.#receivedAtMs = this.#options.clock.now();
    this.#options.events.onUnreadable(fault, bytes);
  }

  #lose(why: string): void {
    const { clock, limits } = this.#options;
    this.#connection = undefined;
    if (this.#state !== "closed") {
      const isSteady = this.isReady() && clock.now() - this.#onlineAtMs >= limits.steadyAfterMs;
      if (isSteady) this.#failures = 0;
      this.#turn = isSteady ? 0 : this.#turn + 1;
      this.#enter("down", why);
      this.#setTimer(this.#nextBackOffMs(), () => this.open());
    }
    this.#network.loseAll();
    this.#waiting.loseAll();
  }

  /** Jitter shortens the gap by up to a half, so that nodes do not all reconnect at once. */
  #nextBackOffMs(): number {
    const { limits, random, isSpare } = this.#options;
    const maxMs = isSpare() ? limits.backOffSpareMaxMs : limits.backOffMaxMs;
    const backOffMs = Math.min(maxMs, limits.backOffMinMs * 2 ** this.#failures);
    this.#failures += 1;
    return backOffMs * (1 - random() / 2);
  }

  #enter(state: LinkState, why: string): void {
    this.#callOffTimer();
    this.#state = state;
    this.#options.events.onState(state, why, this.#address);
  }

  #setTimer(delayMs: number, task: () => void): void {
    this.#callOffTimer = this.#options.clock.after(delayMs, task);
  }
}

export function keyOf(responseType: string, { fields }: IsoMessage): string {
  return `${responseType} ${fields[11] ?? ""} ${fields[37] ?? ""}`;
}

/** Two simultaneous requests with the same message share its answer. */
function ask(
  waiting: PendingAnswers,
  connection: Connection,
  message: IsoMessage,
  timeoutMs: number,
): Promise<Ending> {
  const key = keyOf(responseMti(message.mti), message);
  const asked = waiting.find(key);
  if (asked !== undefined) return asked;
  connection.send(message);
  return waiting.add(key, timeoutMs);
}
