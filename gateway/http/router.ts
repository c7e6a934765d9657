/**
 * Finds the route of a path, which is fixed except for parameters at its end, so that a few
 * look-ups in a table find it. A final slash is ignored. A path that a proxy may read as another
 * one has no route, so that the proxy's rules for paths hold.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { ReplyParts } from "./streamed-reply.ts";

export type HttpRequest = {
  readonly method: string;
  readonly url: string;
  /** The decoded parameters at the end of the path. */
  readonly params: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly body: Uint8Array;
};

export type HttpReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
  /** Takes the place of the body. */
  readonly parts?: ReplyParts;
};

export type HttpRoute = {
  /** `*` means all methods that have no route of their own. */
  readonly method: "GET" | "POST" | "*";
  /** Segments that begin with a colon are parameters; only the last two can be. */
  readonly path: string;
  /** Returns the reply if it does not depend on the body, which is then not read. */
  readonly answerEarly?: (request: HttpRequest) => Promise<HttpReply> | undefined;
  readonly answer: (request: HttpRequest) => Promise<HttpReply>;
};

/** Makes the browser request another page, in place of a form that it has posted. */
export function redirectTo(location: string, headers: HttpReply["headers"] = {}): HttpReply {
  return { status: 303, headers: { location, ...headers }, body: "" };
}

export type FoundRoute = { readonly route: HttpRoute; readonly params: readonly string[] };

/** A dot segment, a backslash or an encoded slash. */
const ambiguous = /\/(?:\.|%2e){1,2}(?:\/|$)|\\|%2f|%5c/i;

const parametersMax = 2;
const parameterCharactersMax = 200;

export function makeRouter(routes: readonly HttpRoute[]) {
  /** Routes by the number of parameters, then by the fixed part of the path. */
  const tables = Array.from({ length: parametersMax + 1 }, () => new Map<string, Methods>());
  for (const route of routes) {
    const [fixed = "", ...parameters] = route.path.split("/:");
    const methods: Methods = tables[parameters.length]?.get(fixed) ?? new Map();
    tables[parameters.length]?.set(fixed, methods.set(route.method, route));
  }

  /** 404: no route has the path. 400: the path cannot be decoded. */
  return (method: string, url: string): FoundRoute | 400 | 404 => {
    const path = pathOf(url);
    if (ambiguous.test(path)) return 404;
    const last = path.lastIndexOf("/");
    // Most paths have one parameter, the endpoint, so they are looked up before others.
    return (
      findIn(tables[1], { method, path, end: last }) ??
      findIn(tables[0], { method, path, end: path.length }) ??
      findIn(tables[2], { method, path, end: path.lastIndexOf("/", last - 1) }) ??
      404
    );
  };
}

type Methods = Map<string, HttpRoute>;
/** `end` is where the fixed part of the path ends. */
type Asked = { readonly method: string; readonly path: string; readonly end: number };

function findIn(table: ReadonlyMap<string, Methods> | undefined, { method, path, end }: Asked) {
  const methods = end < 0 ? undefined : table?.get(path.slice(0, end));
  // A request with HEAD is answered like one with GET, because Node does not send the body.
  const route = methods?.get(method === "HEAD" ? "GET" : method) ?? methods?.get("*");
  if (route === undefined) return undefined;
  const params = readParameters(path, end);
  return typeof params === "number" ? params : { route, params };
}

function pathOf(target: string): string {
  const url = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?]*/i, "");
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function readParameters(path: string, start: number): readonly string[] | 400 | 404 {
  if (start === path.length) return [];
  const rest = path.slice(start + 1);
  const slash = rest.indexOf("/");
  const sent = slash < 0 ? [rest] : [rest.slice(0, slash), rest.slice(slash + 1)];
  for (const { length } of sent) if (length === 0 || length > parameterCharactersMax) return 404;
  if (!path.includes("%")) return sent;
  try {
    return sent.map((each) => decodeURIComponent(each));
  } catch {
    return 400;
  }
}
