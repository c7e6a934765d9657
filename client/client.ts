/**
 * The client of the merchant interface. It signs and sends requests, repeats those that are safe to
 * repeat, and reads replies; names and values are those of the interface. It uses v2 with a control
 * key, and v4 with an OAuth key. The key stays in a closure, so that no log of the client shows it.
 */
import { type GetBalance, makeGetBalance } from "./balance.ts";
import {
  type Deliver,
  type Fields,
  type OperationFacts,
  realTiming,
  type Timing,
  type Version,
} from "./call.ts";
import { makeAuthorizer, makeHmacAuthorizer, type OAuthCredentials } from "./oauth.ts";
import {
  type Calls,
  makeCalls,
  makeSyncCalls,
  type operationFacts,
  type SyncCalls,
  type syncOperationFacts,
  syncWaitMs,
} from "./operations.generated.ts";
import { makeWaitForResult, type WaitForResult } from "./poll.ts";
import { makeAsk, makeReadReport, type ReadReport } from "./report.ts";
import { type Fetch, send } from "./send.ts";
import { sign } from "./sign.ts";
import { writeForm } from "./web.ts";

export type { Balance, BalanceRequest } from "./balance.ts";
export type { CallOptions, Version } from "./call.ts";
export {
  AccessDenied,
  asValue,
  type GatewayError,
  Refused,
  StillProcessing,
  Unreachable,
} from "./call.ts";
export type * from "./operations.generated.ts";
export { errorCodes } from "./operations.generated.ts";
export { isFinal, isInDoubt, needsCardholder, type WaitOptions } from "./poll.ts";
export {
  makeReceiver,
  type Progress,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
  type Seen,
  type Verified,
} from "./receiver.ts";
export type { ReportRow } from "./report.ts";
export { toMinorUnits } from "./sign.ts";
export { renderStep, type StepOptions, type TakenStep, takeStep } from "./threeds.ts";
export type {
  CallbackRequest,
  CallbackResult,
  ControlledResult,
  StatusSource,
} from "./verify-callback.ts";
export type { Fetch, OAuthCredentials, Timing };

export type ClientOptions = ControlOptions | OAuthOptions;

export type ControlOptions = SharedOptions & {
  readonly login: string;
  readonly controlKey: string;
  readonly oauth?: undefined;
};

export type OAuthOptions = SharedOptions & { readonly oauth: OAuthCredentials };

type SharedOptions = {
  /** The gateway's public address, which OAuth signs. */
  readonly baseUrl: string;
  /** The operator's words in paths and in field names, if they differ from `gw`. */
  readonly pathWord?: string;
  readonly fieldWord?: string;
  readonly fetch?: Fetch;
  /** The time limit of each attempt. */
  readonly timeoutMs?: number;
  /**
   * The time limit of each attempt of a synchronous call. It must be longer than the gateway waits.
   */
  readonly syncTimeoutMs?: number;
  /** The maximum number of attempts of a request that is safe to repeat. */
  readonly tries?: number;
  readonly timing?: Timing;
};

/** The operations of a version at one endpoint or group. */
export type EntryPoint<In extends Version = "v2"> = Pick<Calls, NamesIn<In, OwnFacts>> & {
  readonly id: string;
  /**
   * The same requests, answered with the status when there is a result or when the wait times out.
   */
  readonly sync: Pick<SyncCalls, NamesIn<In, SyncFacts>>;
  readonly waitForResult: WaitForResult;
};

type OwnFacts = typeof operationFacts;
type SyncFacts = typeof syncOperationFacts;
type NamesIn<In extends Version, Facts extends Record<string, OperationFacts>> = {
  [Name in keyof Facts]: In extends Facts[Name]["versions"][number] ? Name : never;
}[keyof Facts];

export type Client<In extends Version = "v2"> = {
  readonly endpoint: (id: string) => EntryPoint<In>;
  readonly group: (id: string) => EntryPoint<In>;
  /** Reads the report of all the merchant's transactions, row by row. */
  readonly transactionReport: ReadReport;
  /** Reads what the operator owes the merchant, or what an endpoint contributes to that. */
  readonly getBalance: GetBalance;
};

type Whole = Calls & Pick<EntryPoint, "id" | "waitForResult"> & { readonly sync: SyncCalls };

export function makeClient(options: OAuthOptions): Client<"v4">;
export function makeClient(options: ControlOptions): Client;
export function makeClient(options: ClientOptions) {
  const { pathWord = "gw", timing = realTiming } = options;
  const { timeoutMs = 30_000, syncTimeoutMs = syncWaitMs + 10_000 } = options;
  const { fetch = globalThis.fetch, fieldWord = "gw", tries = 3 } = options;
  const transport = { fetch, timing, fieldWord, tries };
  const version = options.oauth === undefined ? "v2" : "v4";
  const authorizer = options.oauth === undefined ? undefined : makeAuthorizer(options.oauth);
  const site = `${options.baseUrl.replace(/(?<!\/)\/+$/, "")}/${pathWord}`;
  const api = `${site}/api`;
  const { login = "" } =
    options.oauth === undefined ? options : { login: options.oauth.consumerKey };
  const authorize = authorizer ?? hmacAuthorizerOf(options);
  const ask = makeAsk({ authorize, fetch, fieldWord, timeoutMs });
  return {
    transactionReport: makeReadReport(ask, `${site}-ui/services/transaction-report`, fieldWord),
    getBalance: makeGetBalance(ask, { url: `${api}/v2/get-balance`, login, fieldWord }),
    endpoint: (id: string) => entryPoint(id, encodeURIComponent(id)),
    group: (id: string) => entryPoint(id, `group/${encodeURIComponent(id)}`),
  };

  function entryPoint(id: string, place: string): Whole {
    const deliver: Deliver = async (operation, isReply, request, callOptions) => {
      if (!operation.versions.includes(version)) throw new TypeError(`${version} has no such call`);
      const path = operation.path.replace("{id}", place);
      // The uploads of 3-D Secure have another version in their path.
      const url = api + (authorizer ? path.replace(/^\/(?:v\d|3ds\/v1)\//, "/v4/") : path);
      const pairs = await pairsOf(operation, id, request);
      const message = {
        url,
        body: writeForm(pairs),
        authorize: authorizer?.(url, pairs),
        repeatable: operation.repeatable,
        isQuery: operation.isQuery,
        timeoutMs: operation.waits ? syncTimeoutMs : timeoutMs,
        isReply,
        signal: callOptions?.signal,
      };
      return send(message, transport);
    };
    const calls = makeCalls(deliver);
    const waitForResult = makeWaitForResult(calls.status, timing);
    return { ...calls, id, sync: makeSyncCalls(deliver), waitForResult };
  }

  /**
   * Returns the fields to send, trimmed as the gateway trims them. Missing and empty values are not
   * sent.
   */
  async function pairsOf(operation: OperationFacts, id: string, request: Fields) {
    const pairs = Object.entries(request).flatMap(([name, value = ""]) => {
      // Callers in JavaScript have no compiler to check it.
      if (typeof value !== "string") throw new TypeError(`${name} must be text`);
      const trimmed = value.trim();
      return trimmed === "" ? [] : [[name, trimmed] as const];
    });
    if (options.oauth !== undefined) return pairs;
    const { login, controlKey } = options;
    const control = await sign(operation.control, {
      id,
      login,
      controlKey,
      values: new Map(pairs),
    });
    const own = [["control", control] as const];
    return [...pairs, ...(operation.takesLogin ? [["login", login] as const] : []), ...own];
  }
}

function hmacAuthorizerOf(options: ClientOptions) {
  const { login = "", controlKey = "" } = options.oauth === undefined ? options : {};
  return makeHmacAuthorizer(login, controlKey);
}
