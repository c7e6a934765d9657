/**
 * How a call can fail. None of these holds the request, the reply or the error of the network
 * beneath: whatever is logged of them, no card goes with it.
 */

export type RefusalType = "validation-error" | "error";

type Refusal = {
  readonly type: RefusalType;
  readonly code: number;
  readonly message: string;
  readonly serialNumber: string | undefined;
  readonly httpStatus: number;
};

/** The gateway understood the request and said no. `word` is the fixed part of its message. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly type: RefusalType;
  readonly code: number;
  readonly word: string;
  readonly serialNumber: string | undefined;
  readonly httpStatus: number;

  constructor({ type, code, message, serialNumber, httpStatus }: Refusal) {
    super(`${hideDigits(message)} (${code})`);
    this.type = type;
    this.code = code;
    this.word = /^[A-Z0-9_]+/.exec(message)?.[0] ?? "";
    this.serialNumber = serialNumber;
    this.httpStatus = httpStatus;
  }
}

/**
 * The gateway does not believe the OAuth signature, and does not say why. Look at the consumer key,
 * at the key that the operator has, at the address that the client was given (it is signed, and
 * must be the gateway's public one) and at this machine's clock. Nothing has happened.
 */
export class AccessDenied extends Error {
  override readonly name = "AccessDenied";
  readonly httpStatus = 403;

  constructor() {
    super("the gateway denies access: consumer key, private key, address or clock is wrong");
  }
}

/**
 * No answer that can be understood. What became of the request is unknown: send the very same
 * request again, or ask for the status by the merchant's own order id.
 */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  readonly reason: string;
  readonly tries: number;
  readonly httpStatus: number | undefined;

  constructor(trouble: Trouble, tries: number) {
    const { reason, httpStatus } = trouble;
    super(`the gateway cannot be reached: ${reason} (${tries} ${tries === 1 ? "try" : "tries"})`);
    this.reason = reason;
    this.tries = tries;
    this.httpStatus = httpStatus;
  }
}

export type Trouble = { readonly reason: string; readonly httpStatus: number | undefined };

/** The time for waiting is over and the order is still on its way. It may yet be approved. */
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

/** The gateway never repeats a value; should anything between us and it do so, it is not shown. */
function hideDigits(message: string): string {
  return message.replace(/\d(?:[ -]?\d){7,}/g, "****");
}
