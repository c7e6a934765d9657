/**
 * Calls the gateway's portal API. The types come from the gateway's table of routes. A refusal is
 * thrown as a `CallError`. Its message is a sentence that the screen can show.
 */
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Api } from "@tollgate/gateway/portal-api";

type Route = keyof Api;
export type InputOf<Name extends Route> = Api[Name]["input"];
export type OutputOf<Name extends Route> = Api[Name]["output"];
export type Session = OutputOf<"GET /session">;
export type User = NonNullable<Session["user"]>;

/** A call that was refused or failed. The status is 0 if no answer came. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  /** The field of the form whose value was refused, if the refusal concerns a field. */
  readonly field: string | undefined;

  constructor(status: number, code: string, message: string, field?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

type Options = {
  readonly signal?: AbortSignal;
  /**
   * Whether the page makes this call without an action of the user. Such a call does not extend the
   * session.
   */
  readonly isPoll?: boolean;
};

export async function call<Name extends Route>(
  name: Name,
  input: InputOf<Name>,
  { signal, isPoll = false }: Options = {},
): Promise<OutputOf<Name>> {
  const { address, ...request } = requestFor(name, input);
  const answer = await fetch(address, {
    ...request,
    headers: { "x-portal": "1", ...(isPoll && { "x-portal-poll": "1" }) },
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw refusal(0, "unreachable", "The gateway cannot be reached.");
  });
  const body = await answer.json().catch(() => undefined);
  if (answer.ok) return body;
  const { code = "internal", message = "The gateway gave no usable answer." } = body?.error ?? {};
  throw refusal(answer.status, code, message, body?.error?.field);
}

type AnswerOptions<Name extends Route> = {
  /** How often the answer is read again. Reading it again does not extend the session. */
  readonly everyMs?: number | false | ((answer: OutputOf<Name> | undefined) => number | false);
  /** Whether the previous answer stays on the screen until the answer for a new input arrives. */
  readonly keepsBefore?: boolean;
  readonly staleMs?: number;
  readonly isWanted?: boolean;
};

/** Reads the answer of a route. Screens with the same input share one answer. */
export function useAnswer<Name extends Route>(
  name: Name,
  input: InputOf<Name>,
  { everyMs, keepsBefore = false, staleMs, isWanted = true }: AnswerOptions<Name> = {},
): UseQueryResult<OutputOf<Name>> {
  return useQuery<OutputOf<Name>>({
    queryKey: [name, input],
    queryFn({ signal, client, queryKey }) {
      const isPoll = everyMs !== undefined && client.getQueryData(queryKey) !== undefined;
      return call(name, input, { signal, isPoll });
    },
    enabled: isWanted,
    refetchInterval: ({ state }) =>
      typeof everyMs === "function" ? everyMs(state.data) : (everyMs ?? false),
    ...(keepsBefore && { placeholderData: keepPreviousData }),
    ...(staleMs !== undefined && { staleTime: staleMs }),
  });
}

/**
 * Returns the method, path, query and body of a call. Inputs that the route's path names are put
 * into the path. All other inputs are in the query of a GET or in the body of a POST.
 */
export function requestFor(name: Route, input: object) {
  const [method = "", template = ""] = name.split(" ");
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replace(/:(\w+)/g, (_, field: string) => {
    const value = String(rest.get(field));
    rest.delete(field);
    return encodeURIComponent(value);
  });
  const query =
    method === "GET" && rest.size > 0 ? `?${new URLSearchParams([...rest].map(asText))}` : "";
  return {
    address: `/portal/api${path}${query}`,
    method,
    ...(method === "POST" && { body: JSON.stringify(Object.fromEntries(rest)) }),
  };
}

/**
 * Whether a failed call is repeated. A call that the gateway refused is not repeated, because it
 * would be refused again. A call without an answer is, because the connection may come back.
 */
export function mayTryAgain(count: number, error: Error): boolean {
  return !(error instanceof CallError && error.status > 0) && count < 2;
}

export function isSessionEnd(error: Error): boolean {
  return error instanceof CallError && error.status === 401;
}

type Describe = (code: string, sentence: string) => string;
let describe: Describe = (_code, sentence) => sentence;

/** Sets the function that translates refusals into the user's language. */
export function describeRefusalsWith(given: Describe): void {
  describe = given;
}

function refusal(status: number, code: string, sentence: string, field?: string): CallError {
  return new CallError(status, code, describe(code, sentence), field);
}

/** Formats an input for the query. The elements of a list are separated by commas. */
function asText([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)];
}
