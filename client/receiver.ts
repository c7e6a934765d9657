/**
 * Receives callbacks: verifies that a callback comes from the gateway, reads it, and recognises
 * repeats. A field that is not proven is never part of a result: it is confirmed with the gateway,
 * or returned as a claim.
 */
import type { Fields } from "./call.ts";
import {
  type CallbackRequest,
  type CallbackResult,
  type ControlledResult,
  confirmCallback,
  isCovered,
  isResult,
  makeHasControl,
  makeIsSigned,
  NoResult,
  readFields,
  type StatusSource,
  serialNumberOf,
} from "./verify-callback.ts";

type SharedOptions = {
  readonly controlKey: string;
  /** The results received before; by default kept in the memory of this process. */
  readonly seen?: Seen;
  /** Returns milliseconds since 1970. */
  readonly now?: () => number;
};

/** Options of a receiver that accepts signed forms only. Every field is proven. */
export type SignedReceiverOptions = SharedOptions & {
  /** The `whsec_…` secret of an endpoint that sends forms. There are several during a rotation. */
  readonly webhookSecret: string | readonly string[];
  readonly confirm?: never;
};

/** Options of a receiver that confirms every result with the gateway. */
export type ConfirmingReceiverOptions = SharedOptions & {
  /** The client's endpoint or group to which the orders are sent. */
  readonly confirm: StatusSource;
  readonly webhookSecret?: never;
};

/** Options of a receiver that relies on `control`, and returns as a result only what it covers. */
export type ControlReceiverOptions = SharedOptions & {
  readonly webhookSecret?: never;
  readonly confirm?: never;
};

export type ReceiverOptions =
  | SignedReceiverOptions
  | ConfirmingReceiverOptions
  | ControlReceiverOptions;

/**
 * The progress of each result. An implementation in a database serves several processes. A result
 * is "in_progress" until it is kept, because one that is "done" too early could be lost. A process
 * may die before it is done, so a result that was begun a minute ago and is not done is new again.
 */
export type Seen = {
  /** Begins the result if it is new. Of concurrent callers only one gets "new". */
  begin(id: string): Progress | Promise<Progress>;
  /** The result is kept; from now on it is a repeat. */
  done(id: string): unknown;
  /** The result was not kept; when it comes again, it is new. */
  forget(id: string): unknown;
};

export type Progress = "new" | "in_progress" | "done";

/** A verified callback, and how to answer it. Any status but 2xx makes the gateway try again. */
export type Verified<Result = CallbackResult> =
  /**
   * The result is new. Keep it, call `done` and answer 200; if it cannot be kept, call `forget` and
   * answer 500.
   */
  | { readonly kind: "result"; readonly id: string; readonly result: Result }
  /** The result is already kept. Answer 200. */
  | { readonly kind: "repeat"; readonly id: string }
  /** The result is being kept, or the gateway cannot be asked. Answer 503. */
  | { readonly kind: "later"; readonly why: string }
  /** The callback does not come from the gateway. Answer 400. */
  | { readonly kind: "refused"; readonly why: string };

export type ReceiverAnswer = {
  readonly status: 200 | 400 | 500 | 503;
  readonly why: string;
  /** The error that `keep` or `seen` threw. */
  readonly error?: unknown;
};

/**
 * Waits for the result of the transaction with the serial number or, without one, for any result of
 * the order.
 */
export type WaitFor = (
  orderId: string,
  options?: { readonly serialNumber?: string | undefined; readonly signal?: AbortSignal },
) => Promise<void>;

export type Receiver<Result = CallbackResult> = {
  /** Does everything: calls `keep` with a new result, and returns what to answer. */
  receive(request: CallbackRequest, keep: (result: Result) => unknown): Promise<ReceiverAnswer>;
  /** Verifies a callback without keeping it; `done` and `forget` are then the caller's task. */
  verify(request: CallbackRequest): Promise<Verified<Result>>;
  done(id: string): Promise<void>;
  forget(id: string): Promise<void>;
  /**
   * Resolves when a result arrives or has just arrived. Ask for the status then, because a callback
   * is only a hint.
   */
  readonly waitFor: WaitFor;
};

export function makeReceiver(options: SignedReceiverOptions | ConfirmingReceiverOptions): Receiver;
export function makeReceiver(options: ControlReceiverOptions): Receiver<ControlledResult>;
export function makeReceiver(options: ReceiverOptions): Receiver | Receiver<ControlledResult> {
  const { webhookSecret, confirm, now = Date.now } = options;
  // A setting that is missing by mistake must not weaken the verification.
  for (const name of ["webhookSecret", "confirm"] as const) {
    if (name in options && options[name] === undefined) throw new TypeError(`${name} is undefined`);
  }
  const hasControl = makeHasControl(options.controlKey);
  if (webhookSecret !== undefined) {
    const isSigned = makeIsSigned(webhookSecret, now);
    return receiverOf(options, async (request) => {
      if (!(await isSigned(request))) return new NoResult("refused", "the signature is wrong");
      return proveResult(readFields(request), hasControl, (fields) => fields);
    });
  }
  if (confirm !== undefined) {
    return receiverOf(options, (request) =>
      proveResult(readFields(request), hasControl, (fields) => confirmCallback(fields, confirm)),
    );
  }
  return receiverOf(options, (request) => proveControl(readFields(request), hasControl));
}

type Arrived = { readonly orderId: string; readonly serialNumber: string | undefined };

/**
 * A callback that is proven: the id by which repeats are recognised, and how to find a new result.
 */
type Proven<Result> = {
  readonly id: string;
  readonly arrived: Arrived;
  readonly find: () => Result | Promise<Result | NoResult>;
};

async function proveResult(
  fields: Fields,
  hasControl: (fields: Fields) => Promise<boolean>,
  find: (fields: CallbackResult) => ReturnType<Proven<CallbackResult>["find"]>,
): Promise<Proven<CallbackResult> | NoResult> {
  if (!(await hasControl(fields))) return new NoResult("refused", "control is wrong");
  if (!isResult(fields)) return new NoResult("refused", "it is no result");
  const arrived = { orderId: fields.orderid, serialNumber: serialNumberOf(fields) };
  const id = `${arrived.orderId}/${arrived.serialNumber}`;
  return { id, arrived, find: () => find(fields) };
}

async function proveControl(
  fields: Fields,
  hasControl: (fields: Fields) => Promise<boolean>,
): Promise<Proven<ControlledResult> | NoResult> {
  if (!(await hasControl(fields))) return new NoResult("refused", "control is wrong");
  if (!isCovered(fields)) return new NoResult("refused", "it is no result");
  const { status, orderid, client_orderid, control: _, ...claimed } = fields;
  const arrived = { orderId: orderid, serialNumber: serialNumberOf(fields) };
  // The serial number is not part of the id, because it can be forged. `control` does not cover
  // where a field ends, but a copy with moved ends must not make the genuine callback a repeat.
  const id = `${status}/${orderid}/${client_orderid}`;
  return { id, arrived, find: () => ({ status, orderid, client_orderid, claimed }) };
}

function receiverOf<Result extends object>(
  { seen: given, now = Date.now }: ReceiverOptions,
  prove: (request: CallbackRequest) => Promise<Proven<Result> | NoResult>,
): Receiver<Result> {
  const seen = given ?? makeMemory(now);
  const { waitFor, tell } = makeWaiting();
  const done = async (id: string) => void (await seen.done(id));
  const forget = async (id: string) => void (await seen.forget(id));
  return { receive, verify, done, forget, waitFor };

  async function verify(request: CallbackRequest): Promise<Verified<Result>> {
    const proven = await prove(request);
    if (proven instanceof NoResult) return { ...proven };
    const { id, arrived, find } = proven;
    const progress = await seen.begin(id);
    const result = progress === "new" ? await find() : undefined;
    if (result instanceof NoResult) {
      await forget(id);
      return { ...result };
    }
    tell(arrived);
    if (result !== undefined) return { kind: "result", id, result };
    if (progress === "done") return { kind: "repeat", id };
    return { kind: "later", why: "another copy is being kept" };
  }

  async function receive(
    request: CallbackRequest,
    keep: (result: Result) => unknown,
  ): Promise<ReceiverAnswer> {
    try {
      const verified = await verify(request);
      if (verified.kind === "refused") return { status: 400, why: verified.why };
      if (verified.kind === "later") return { status: 503, why: verified.why };
      if (verified.kind === "result") {
        const { id, result } = verified;
        try {
          await keep(result);
        } catch (error) {
          await forget(id);
          return { status: 500, why: "the result could not be kept", error };
        }
        await done(id);
      }
      return { status: 200, why: "" };
    } catch (error) {
      return { status: 503, why: "the results received before could not be read", error };
    }
  }
}

/** Longer than the gateway waits for an answer, and shorter than its first gap between attempts. */
const beginningMs = 60_000;

function makeMemory(now: () => number): Seen {
  const begun = makeRecent<number | "done">();
  return {
    begin(id) {
      const before = begun.get(id);
      if (before === "done") return "done";
      if (before !== undefined && now() - before < beginningMs) return "in_progress";
      begun.put(id, now());
      return "new";
    },
    done: (id) => begun.put(id, "done"),
    forget: (id) => begun.delete(id),
  };
}

/**
 * Lets callers wait for results. A caller that begins to wait just after the result arrived
 * continues at once.
 */
function makeWaiting(): { readonly waitFor: WaitFor; tell(arrived: Arrived): void } {
  const before = makeRecent<true>();
  const waiting = new Map<string, Set<() => void>>();

  return {
    tell({ orderId, serialNumber }) {
      for (const key of [orderId, `${orderId}/${serialNumber}`]) {
        before.put(key, true);
        for (const release of waiting.get(key) ?? []) release();
        waiting.delete(key);
      }
    },
    waitFor(orderId, { serialNumber, signal } = {}) {
      const key = serialNumber === undefined ? orderId : `${orderId}/${serialNumber}`;
      if (before.get(key) === true) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiters = waiting.get(key) ?? new Set();
      waiting.set(key, waiters.add(resolve));
      const leave = () => {
        waiters.delete(resolve);
        if (waiters.size === 0 && waiting.get(key) === waiters) waiting.delete(key);
        reject(signal?.reason);
      };
      if (signal?.aborted === true) leave();
      else signal?.addEventListener("abort", leave, { once: true });
      return promise;
    },
  };
}

const rememberedMax = 10_000;

/** A map of limited size, which drops the oldest entries first. */
function makeRecent<Value>() {
  const values = new Map<string, Value>();
  return {
    get: (key: string) => values.get(key),
    put(key: string, value: Value): void {
      values.delete(key);
      values.set(key, value);
      if (values.size <= rememberedMax) return;
      const [oldest] = values.keys();
      if (oldest !== undefined) values.delete(oldest);
    },
    delete: (key: string) => values.delete(key),
  };
}
