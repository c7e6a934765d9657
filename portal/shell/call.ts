/**
 * Calls the gateway's portal API, with types from the gateway's table of routes. A refusal is
 * thrown as a `CallError`, whose message is a sentence that the screen can show.
 */
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Api } from "@tollgate/gateway/portal-api";

type Route = keyof Api;
export type InputOf<Name extends Route> = Api[Name]["input"];
export type OutputOf<Name extends Route> = Api[Name]["output"];
export type Session = OutputOf<"GET /session">;
export type User = NonNullable<Session["user"]>;

/** The status is 0 if no answer came. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;
  /** The form's field whose value was refused, if the refusal concerns a field. */
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
  /** A call that the page makes without an action of the user does not extend the session. */
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
  /** How often the answer is read again, which does not extend the session. */
  readonly everyMs?: number | false | ((answer: OutputOf<Name> | undefined) => number | false);
  /** Whether the previous answer stays on the screen until the answer for a new input arrives. */
  readonly keepsBefore?: boolean;
  readonly staleMs?: number;
  readonly isWanted?: boolean;
};

/** Screens with the same input share one answer. */
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

/** Inputs that the route does not name go into the query of a GET or the body of a POST. */
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

/** Only a call without an answer is repeated. A refused call would be refused again. */
export function mayTryAgain(count: number, error: Error): boolean {
  return !(error instanceof CallError && error.status > 0) && count < 2;
}

export function isSessionEnd(error: Error): boolean {
  return error instanceof CallError && error.status === 401;
}

type Describe = (code: string, sentence: string) => string;
let describe: Describe = (_code, sentence) => sentence;

export function describeRefusalsWith(given: Describe): void {
  describe = given;
}

function refusal(status: number, code: string, sentence: string, field?: string): CallError {
  return new CallError(status, code, describe(code, sentence), field);
}

/** Commas separate the elements of a list. */
function asText([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)];
}
