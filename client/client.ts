/**
 * The client of the merchant interface. It signs, sends, repeats what may be repeated, and reads
 * replies; names and values are those of the wire. The key stays in a closure, so that no log of
 * the client shows it.
 */
import { writeForm } from "@tollgate/protocols/form";
import type { Deliver, OperationFacts, RequestFields } from "./call.ts";
import {
  type Calls,
  makeCalls,
  makeSyncCalls,
  type SyncCalls,
  syncWaitMs,
} from "./operations.generated.ts";
import { makeWaitForResult, type WaitForResult } from "./poll.ts";
import { type Fetch, makeSend } from "./send.ts";
import { sign } from "./sign.ts";
import { realTiming, type Timing } from "./timing.ts";

export type { CallOptions } from "./call.ts";
export { Refused, StillProcessing, Unreachable } from "./errors.ts";
export type * from "./operations.generated.ts";
export { errorCodes } from "./operations.generated.ts";
export { isFinal, needsCardholder, type WaitOptions } from "./poll.ts";
export { toMinorUnits } from "./sign.ts";
export type { Fetch, Timing };

export type ClientOptions = {
  readonly baseUrl: string;
  readonly login: string;
  readonly controlKey: string;
  /** The operator's word in paths and in field names, when it is not `gw`. */
  readonly pathWord?: string;
  readonly fieldWord?: string;
  readonly fetch?: Fetch;
  /** For each try. */
  readonly timeoutMs?: number;
  /** For each try of a synchronous call; it must be longer than the gateway waits. */
  readonly syncTimeoutMs?: number;
  /** How often a request is sent at most, when it may be sent again. */
  readonly tries?: number;
  readonly timing?: Timing;
};

/** The operations at one endpoint or group. */
export type EntryPoint = Calls & {
  readonly id: string;
  /** The same requests, answered with the status when there is a result or the wait is over. */
  readonly sync: SyncCalls;
  readonly waitForResult: WaitForResult;
};

export type Client = {
  readonly endpoint: (id: string) => EntryPoint;
  readonly group: (id: string) => EntryPoint;
};

export function makeClient(options: ClientOptions): Client {
  const { pathWord = "gw", timing = realTiming } = options;
  const { timeoutMs = 30_000, syncTimeoutMs = syncWaitMs + 10_000 } = options;
  const send = makeSend({
    fetch: options.fetch ?? fetch,
    timing,
    fieldWord: options.fieldWord ?? "gw",
    tries: options.tries ?? 3,
  });
  const api = `${options.baseUrl.replace(/\/+$/, "")}/${pathWord}/api`;
  return {
    endpoint: (id) => entryPoint(id, encodeURIComponent(id)),
    group: (id) => entryPoint(id, `group/${encodeURIComponent(id)}`),
  };

  function entryPoint(id: string, place: string): EntryPoint {
    const deliver: Deliver = async (operation, isReply, request, callOptions) => {
      return send({
        url: api + operation.path.replace("{id}", place),
        body: writeForm(signedPairs(operation, id, request)),
        repeatable: operation.repeatable,
        timeoutMs: operation.waits ? syncTimeoutMs : timeoutMs,
        isReply,
        signal: callOptions?.signal,
      });
    };
    const calls = makeCalls(deliver);
    const waitForResult = makeWaitForResult(calls.status, timing);
    return { ...calls, id, sync: makeSyncCalls(deliver), waitForResult };
  }

  /** Trimmed as the gateway trims; what is absent or empty is not sent. */
  function signedPairs(operation: OperationFacts, id: string, request: RequestFields) {
    const pairs = Object.entries(request).flatMap(([name, value = ""]) => {
      // Whoever calls from JavaScript has no compiler to say so.
      if (typeof value !== "string") throw new TypeError(`${name} must be text`);
      const trimmed = value.trim();
      return trimmed === "" ? [] : [[name, trimmed] as const];
    });
    const { login, controlKey } = options;
    const control = sign(operation.control, { id, login, controlKey, values: new Map(pairs) });
    const own = [["control", control] as const];
    return [...pairs, ...(operation.takesLogin ? [["login", login] as const] : []), ...own];
  }
}
