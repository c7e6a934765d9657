/**
 * The other end of callbacks: says whether one comes from the gateway, reads it, and tells repeats.
 * What is believed depends on what proves it. The signature of a form proves every field. `control`
 * proves three, and not even where one ends and the next begins: the rest is asked of the gateway,
 * or handed out as what somebody claims.
 */
import { makeHasControl, makeIsSigned } from "./callback-proof.ts";
import {
  type CallbackRequest,
  type CallbackResult,
  type ControlledResult,
  isCovered,
  isResult,
  NoResult,
  readFields,
  serialNumberOf,
} from "./callback-result.ts";
import { confirmCallback, type StatusSource } from "./confirm-callback.ts";
import { type Heard, makeMemory, makeWaiting, type Seen, type WaitFor } from "./receiver-memory.ts";

export type { CallbackRequest, CallbackResult, ControlledResult } from "./callback-result.ts";
export type { StatusSource } from "./confirm-callback.ts";
export type { Progress, Seen, WaitFor } from "./receiver-memory.ts";

type SharedOptions = {
  readonly controlKey: string;
  /** What was heard before; in this process' memory when not given. */
  readonly seen?: Seen;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Believes signed forms alone, and of these every field. */
export type SignedReceiverOptions = SharedOptions & {
  /** `whsec_…`, of an endpoint that sends forms; several while it changes. */
  readonly webhookSecret: string | readonly string[];
  readonly confirm?: never;
};

/** Believes what the gateway says when it is asked. */
export type ConfirmingReceiverOptions = SharedOptions & {
  /** The client's endpoint, or group, that the orders go through. */
  readonly confirm: StatusSource;
  readonly webhookSecret?: never;
};

/** Believes `control`, and hands out as a result no more than it covers. */
export type ControlReceiverOptions = SharedOptions & {
  readonly webhookSecret?: never;
  readonly confirm?: never;
};

export type ReceiverOptions =
  | SignedReceiverOptions
  | ConfirmingReceiverOptions
  | ControlReceiverOptions;

/** What is to be answered: anything but 2xx has the gateway try again. */
export type Verified<Result = CallbackResult> =
  /** New: keep it, say `done`, answer 200. When it cannot be kept, say `forget` and answer 500. */
  | { readonly kind: "result"; readonly id: string; readonly result: Result }
  /** It is kept already: 200. */
  | { readonly kind: "repeat"; readonly id: string }
  /** It is being kept, or the gateway cannot be asked: 503. */
  | { readonly kind: "later"; readonly why: string }
  /** Not the gateway's: 400. */
  | { readonly kind: "refused"; readonly why: string };

export type ReceiverAnswer = {
  readonly status: 200 | 400 | 500 | 503;
  readonly why: string;
  /** Of whoever was to keep the result, or to remember it. */
  readonly error?: unknown;
};

export type Receiver<Result = CallbackResult> = {
  /** All that there is to do: `keep` is called with what is new, and the answer is the answer. */
  receive(request: CallbackRequest, keep: (result: Result) => unknown): Promise<ReceiverAnswer>;
  /** The same by hand. */
  verify(request: CallbackRequest): Promise<Verified<Result>>;
  done(id: string): Promise<void>;
  forget(id: string): Promise<void>;
  /** Resolves when an order's result is heard, or was just heard. It is a hint: ask then. */
  readonly waitFor: WaitFor;
};

export function makeReceiver(options: SignedReceiverOptions | ConfirmingReceiverOptions): Receiver;
export function makeReceiver(options: ControlReceiverOptions): Receiver<ControlledResult>;
export function makeReceiver(options: ReceiverOptions): Receiver | Receiver<ControlledResult> {
  const { webhookSecret, confirm, now = Date.now } = options;
  // A setting that is missing must not turn into believing less strictly.
  for (const name of ["webhookSecret", "confirm"] as const) {
    if (name in options && options[name] === undefined) throw new TypeError(`${name} is undefined`);
  }
  const hasControl = makeHasControl(options.controlKey);
  if (webhookSecret !== undefined) {
    return receiverOf(options, proveSigned(hasControl, makeIsSigned(webhookSecret, now)));
  }
  if (confirm !== undefined) return receiverOf(options, proveByAsking(hasControl, confirm));
  return receiverOf(options, proveControl(hasControl));
}

/** By which id repeats are told, and how the result is come by when it is none. */
type Proven<Result> = {
  readonly id: string;
  readonly heard: Heard;
  readonly find: () => Result | Promise<Result | NoResult>;
};
type Prove<Result> = (request: CallbackRequest) => Proven<Result> | NoResult;
type HasControl = ReturnType<typeof makeHasControl>;

function proveSigned(
  hasControl: HasControl,
  isSigned: ReturnType<typeof makeIsSigned>,
): Prove<CallbackResult> {
  return (request) => {
    if (!isSigned(request)) return refused("the signature is wrong");
    const fields = readFields(request);
    if (!hasControl(fields)) return refused("control is wrong");
    if (!isResult(fields)) return refused("it is no result");
    const heard = { orderId: fields.orderid, serialNumber: serialNumberOf(fields) };
    return { id: `${heard.orderId}/${heard.serialNumber}`, heard, find: () => fields };
  };
}

function proveByAsking(hasControl: HasControl, source: StatusSource): Prove<CallbackResult> {
  return (request) => {
    const fields = readFields(request);
    if (!hasControl(fields)) return refused("control is wrong");
    if (!isResult(fields)) return refused("it is no result");
    const heard = { orderId: fields.orderid, serialNumber: serialNumberOf(fields) };
    const id = `${heard.orderId}/${heard.serialNumber}`;
    return { id, heard, find: () => confirmCallback(fields, source) };
  };
}

function proveControl(hasControl: HasControl): Prove<ControlledResult> {
  return (request) => {
    const fields = readFields(request);
    if (!hasControl(fields)) return refused("control is wrong");
    if (!isCovered(fields)) return refused("it is no result");
    const { status, orderid, client_orderid, control: _, ...claimed } = fields;
    const heard = { orderId: orderid, serialNumber: serialNumberOf(fields) };
    // Nothing else: another serial number may be invented. Where one of them ends is not covered,
    // but a copy with the ends moved must not make the true one a repeat.
    const id = `${status}/${orderid}/${client_orderid}`;
    return { id, heard, find: () => ({ status, orderid, client_orderid, claimed }) };
  };
}

function receiverOf<Result extends object>(
  { seen: given, now = Date.now }: ReceiverOptions,
  prove: Prove<Result>,
): Receiver<Result> {
  const seen = given ?? makeMemory(now);
  const { waitFor, tell } = makeWaiting();
  const done = async (id: string) => void (await seen.done(id));
  const forget = async (id: string) => void (await seen.forget(id));
  return { receive, verify, done, forget, waitFor };

  async function verify(request: CallbackRequest): Promise<Verified<Result>> {
    const proven = prove(request);
    if (proven instanceof NoResult) return { ...proven };
    const { id, heard, find } = proven;
    const progress = await seen.begin(id);
    if (progress === "new") {
      const result = await find();
      if (result instanceof NoResult) {
        await forget(id);
        return { ...result };
      }
      tell(heard);
      return { kind: "result", id, result };
    }
    tell(heard);
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
      return verified.kind === "repeat" ? taken : await keepResult(verified, keep);
    } catch (error) {
      return { status: 503, why: "what was heard before cannot be looked up", error };
    }
  }

  async function keepResult(
    { id, result }: { readonly id: string; readonly result: Result },
    keep: (result: Result) => unknown,
  ): Promise<ReceiverAnswer> {
    try {
      await keep(result);
    } catch (error) {
      await forget(id);
      return { status: 500, why: "the result could not be kept", error };
    }
    await done(id);
    return taken;
  }
}

const taken: ReceiverAnswer = { status: 200, why: "" };

function refused(why: string): NoResult {
  return new NoResult("refused", why);
}
