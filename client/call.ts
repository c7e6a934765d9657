/** The parts of a call to the gateway, its possible errors, and the clock of the client. */

/** The fields of a request, a reply or a callback, by their names on the interface. */
export type Fields = { readonly [name: string]: string | undefined };
export type CallOptions = { readonly signal?: AbortSignal };

/**
 * A value that the checksum covers. `{id}` is the number in the path. The merchant control key,
 * which is always the last value, is not listed.
 */
export type ControlTerm =
  | string
  | { readonly minorUnitsOf: string }
  /** Amount in minor units and currency, or nothing if no amount is sent. */
  | { readonly moneyIfSent: string };

/** Requests are signed by a checksum in v2, and by OAuth in v4. */
export type Version = "v2" | "v4";

export type OperationFacts = {
  /** The path after `/{word}/api`, in one of its versions. */
  readonly path: string;
  readonly versions: readonly Version[];
  readonly control: readonly ControlTerm[];
  readonly takesLogin: boolean;
  /** Whether the gateway answers an identical request as it answered the first one. */
  readonly repeatable: boolean;
  /** Whether the operation changes nothing. */
  readonly isQuery: boolean;
  /** Whether the gateway answers only when there is a result, or when its wait times out. */
  readonly waits: boolean;
};

export type Deliver = <Reply extends Fields>(
  operation: OperationFacts,
  isReply: (fields: Fields) => fields is Reply,
  request: Fields,
  options: CallOptions | undefined,
) => Promise<Reply>;

export type FinalStatus = "approved" | "declined" | "error" | "filtered";
const finalStatuses: readonly string[] = ["approved", "declined", "error", "filtered"];

export function isFinalStatus(status: string): status is FinalStatus {
  return finalStatuses.includes(status);
}

/** The clock and chance of the client, injected so that tests never wait. */
export type Timing = {
  /** Milliseconds from an arbitrary start; only differences have a meaning. */
  now(): number;
  /** Rejects with the signal's reason if the signal is aborted. */
  pause(durationMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** A number from 0 up to, but not including, 1. */
  random(): number;
};

export const realTiming: Timing = {
  now: () => performance.now(),
  random: () => Math.random(),
  pause(durationMs, signal) {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(over, durationMs);
    signal?.addEventListener("abort", over, { once: true });
    return promise;

    function over(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      if (signal?.aborted === true) reject(signal.reason);
      else resolve();
    }
  },
};

type Refusal = {
  readonly type: "validation-error" | "error";
  readonly code: number;
  readonly message: string;
  readonly serialNumber: string | undefined;
  readonly httpStatus: number;
};

// No error contains the request, the reply or the network's own error, so that no log shows a card.

/** The gateway read the request and refused it. `word` is the fixed part of its message. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly type: Refusal["type"];
  readonly code: number;
  readonly word: string;
  readonly serialNumber: string | undefined;
  readonly httpStatus: number;

  constructor({ type, code, message, serialNumber, httpStatus }: Refusal) {
    // The gateway never repeats a value, but a proxy might, so long numbers are hidden.
    super(`${message.replace(/\d(?:[ -]?\d){7,}/g, "****")} (${code})`);
    this.type = type;
    this.code = code;
    this.word = /^[A-Z0-9_]+/.exec(message)?.[0] ?? "";
    this.serialNumber = serialNumber;
    this.httpStatus = httpStatus;
  }
}

/**
 * The gateway rejected the OAuth signature, without a reason. Check the consumer key, the key that
 * the operator has, the configured address (it is signed, and must be the gateway's public one) and
 * this machine's clock. The request had no effect.
 */
export class AccessDenied extends Error {
  override readonly name = "AccessDenied";
  readonly httpStatus = 403;

  constructor() {
    super("the gateway denies access: consumer key, private key, address or clock is wrong");
  }
}

export type Unanswered = { readonly reason: string; readonly httpStatus: number | undefined };

/**
 * There was no readable answer, or the gateway failed internally. The outcome of the request is
 * unknown: send the identical request again, or ask for the status by the merchant's own order id.
 */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  readonly reason: string;
  readonly tries: number;
  readonly httpStatus: number | undefined;

  constructor({ reason, httpStatus }: Unanswered, tries: number) {
    super(`the gateway cannot be reached: ${reason} (${tries} ${tries === 1 ? "try" : "tries"})`);
    this.reason = reason;
    this.tries = tries;
    this.httpStatus = httpStatus;
  }
}

/** The wait timed out and the order is still in flight. It may yet be approved. */
export class StillProcessing extends Error {
  override readonly name = "StillProcessing";
  readonly orderId: string | undefined;
  readonly clientOrderId: string;
  readonly stage: string;

  constructor(order: { orderId: string | undefined; clientOrderId: string; stage: string }) {
    super(`the order is still in stage ${order.stage}`);
    this.orderId = order.orderId;
    this.clientOrderId = order.clientOrderId;
    this.stage = order.stage;
  }
}

export type GatewayError = Refused | AccessDenied | Unreachable | StillProcessing;

/**
 * Returns the reply, or an error of the gateway as a value. Errors that the gateway did not cause
 * are still thrown.
 */
export async function asValue<Reply>(call: Promise<Reply>): Promise<Reply | GatewayError> {
  try {
    return await call;
  } catch (error) {
    if (kinds.some((kind) => error instanceof kind)) return error as GatewayError;
    throw error;
  }
}

const kinds = [Refused, AccessDenied, Unreachable, StillProcessing];
