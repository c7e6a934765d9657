/**
 * Sends one callback over HTTP/1.1, direct or through the operator's proxy. Receivers are not
 * trusted: redirects are not followed, little of a response is read, and a cancelled exchange
 * closes every socket that it opened.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from "undici";
import {
  type AddressOptions,
  type AddressRules,
  closedOptions,
  makeAddressRules,
  makeLookup,
  makeResolve,
  type Resolve,
  resolveBySystem,
} from "./addresses.ts";
import type { CallbackRequest, DeliveryAttempt } from "./callback.ts";

export type SendOutcome = Pick<DeliveryAttempt, "status" | "failure" | "answer" | "durationMs"> & {
  readonly retryAfter: string | undefined;
};

/** A request. A body that is a function is read from its beginning for each connection. */
export type SentRequest = Pick<CallbackRequest, "method" | "url" | "headers"> & {
  readonly body: string | (() => AsyncIterable<Uint8Array>);
};

/** Calls `done` exactly once. The returned function cancels the exchange. */
export type Send = (message: SentRequest, done: Done) => (() => void) | undefined;

type Done = (outcome: SendOutcome) => void;

type Dependencies = {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
  readonly proxy?: string | undefined;
  /** Certificates to trust in place of the system's. */
  readonly authorities?: string[] | undefined;
  /** Returns milliseconds since any fixed moment. */
  readonly now?: () => number;
};

export type SendingOptions = {
  readonly addresses: AddressOptions;
  readonly resolvesBySystem: boolean;
  readonly proxy: string | undefined;
};
export type Senders = Readonly<Record<"opened" | "closed", Send>>;

/** Connections to addresses that one endpoint may use are not shared with the others. */
export function makeSenders({ addresses, resolvesBySystem, proxy }: SendingOptions): Senders {
  const makeSender = (options: AddressOptions) => {
    const rules = makeAddressRules(options);
    const resolve = resolvesBySystem ? resolveBySystem : makeResolve(rules.isNamed);
    return makeSend({ rules, resolve, proxy });
  };
  return { opened: makeSender(addresses), closed: makeSender(closedOptions(addresses)) };
}

const headBytesMax = 16_384;
/** The limit on all bytes of a response, even interim ones, which undici does not count. */
const responseBytesMax = headBytesMax + 65_536;
const answerBytesMax = 512;
const failureCharactersMax = 300;
const idleMs = 30_000;
/** An older connection is closed, so that the host is resolved and checked again. */
export const connectionAgeMaxMs = 300_000;
/** If more connections are open, each is closed after its response. */
const keptConnectionsMax = 1_024;

const clientOptions = {
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: headBytesMax,
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
};

export function makeSend(dependencies: Dependencies): Send {
  const { rules, resolve, proxy, authorities, now = () => performance.now() } = dependencies;
  const relay = proxy === undefined ? undefined : readProxy(new URL(proxy));
  const trust = authorities === undefined ? {} : { ca: authorities };
  const connect =
    relay === undefined
      ? makeConnect({ lookup: makeLookup(rules, resolve), ...trust })
      : makeConnectThrough(relay, trust);
  let pools = openPools();
  let connectionCount = 0;
  /** undici connects within `dispatch`, so the connection is opened for this exchange. */
  let dispatching: Exchange | undefined;

  return (message, done) => {
    const url = URL.parse(message.url);
    const fault = rules.findUrlFault(message.url, url);
    if (fault !== undefined || url === null) {
      done({ status: undefined, failure: fault, answer: "", durationMs: 0, retryAfter: undefined });
      return undefined;
    }
    const dispatch = (each: Exchange) => {
      const { dispatcher, request } = requestOf(message, url);
      dispatching = each;
      dispatcher.dispatch({ ...request, reset: connectionCount >= keptConnectionsMax }, each);
      dispatching = undefined;
    };
    const exchange = new Exchange(dispatch, done);
    dispatch(exchange);
    return () => exchange.cancel();
  };

  function openPools() {
    const direct = new Agent({ ...clientOptions, connect: hook(connect) });
    const relayed =
      relay && new Pool(relay.origin, { ...clientOptions, connect: hook(connectToProxy) });
    return { direct, relayed, openedAt: now() };
  }

  /** An old pool closes each of its connections once the response to it has arrived. */
  function currentPools(): typeof pools {
    if (now() - pools.openedAt < connectionAgeMaxMs) return pools;
    void pools.direct.close();
    void pools.relayed?.close();
    pools = openPools();
    return pools;
  }

  function hook(connectTo: Connect): NonNullable<Agent.Options["connect"]> {
    return (to, connected) => {
      const exchange = dispatching;
      const own = (socket: Socket) => {
        connectionCount += 1;
        socket.once("close", () => {
          connectionCount -= 1;
        });
        exchange?.own(socket);
      };
      const limited: typeof connected = (...[error, socket]) => {
        if (error !== null) return connected(error, null);
        limitResponses(socket);
        connected(null, socket);
      };
      connectTo(to, limited, own);
    };
  }

  /** Without TLS, a proxy gets the request with its whole URL; with TLS, it makes a tunnel. */
  function requestOf({ method, headers: own, body: given }: SentRequest, url: URL) {
    const body = typeof given === "string" ? given : Readable.from(given());
    const path = `${url.pathname}${url.search}`;
    const headers = { "user-agent": "Tollgate", accept: "*/*", ...own };
    const request = { origin: url.origin, path, method, headers, body };
    const { direct, relayed } = currentPools();
    if (relay === undefined || relayed === undefined || url.protocol === "https:") {
      return { dispatcher: direct, request };
    }
    const forProxy = { origin: relay.origin, path: `${url.origin}${path}` };
    const withHost = { ...headers, ...relay.headers, host: url.host };
    return { dispatcher: relayed, request: { ...request, ...forProxy, headers: withHost } };
  }
}

/** A request and its response, as undici reports them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now();
  readonly #dispatch: (exchange: Exchange) => void;
  readonly #done: Done;
  #sockets: Socket[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #hasBegun = false;
  #isDone = false;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #answer = nothing;

  constructor(dispatch: (exchange: Exchange) => void, done: Done) {
    this.#dispatch = dispatch;
    this.#done = done;
  }

  /** Called with each new connection that is opened for this exchange. */
  own(socket: Socket): void {
    this.#sockets.push(socket);
    if (this.#isDone) socket.destroy(new Error(timedOut));
  }

  cancel(): void {
    if (this.#isDone) return;
    this.#finish(timedOut);
    const reason = new Error(timedOut);
    this.#controller?.abort(reason);
    for (const socket of this.#sockets) socket.destroy(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isDone) controller.abort(new Error(timedOut));
  }

  onResponseStarted(): void {
    this.#hasBegun = true;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // With an interim response (1xx), the final one is still to come.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers["retry-after"]?.toString();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#answer.length >= answerBytesMax) return;
    this.#answer = Buffer.concat([this.#answer, chunk.subarray(0, answerBytesMax)]);
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  /**
   * A kept connection may close or be reset while the request is written, which says nothing about
   * the receiver, so the request is sent again. A repeat is permitted and has the same id.
   */
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isKept = this.#sockets.length === 0 && (this.#controller !== undefined || isReset(error));
    this.#controller = undefined;
    if (isKept && !this.#hasBegun && !this.#isDone) this.#dispatch(this);
    else this.#finish(describe(error));
  }

  /** The status counts as the response, even if its body was cut off. */
  #finish(failure: string | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#done({
      status: this.#status,
      failure: this.#status === undefined ? failure : undefined,
      answer: printable(this.#answer.toString("latin1", 0, answerBytesMax)),
      durationMs: Math.round(performance.now() - this.#startedAt),
      retryAfter: this.#retryAfter,
    });
  }
}

const nothing = Buffer.alloc(0);
const timedOut = "timed out waiting for the response";

function readProxy({ origin, username, password }: URL): ProxyServer {
  if (username === "") return { origin, headers: {} };
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
  return { origin, headers: { "proxy-authorization": `Basic ${credentials}` } };
}

/** A percent sign that is not part of an escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function describe(error: Error): string {
  const code = "code" in error ? String(error.code) : error.name;
  if (code === "UND_ERR_HEADERS_OVERFLOW") return `response headers exceed ${headBytesMax} bytes`;
  if (error.message === "bad upgrade") return "unexpected HTTP 101: protocol upgrade";
  if (error.message === "bad response") return "unexpected HTTP 100";
  if (code === "UND_ERR_SOCKET" || isReset(error)) return "connection closed without a response";
  // An aggregate of failed connections has no message of its own.
  return printable(error.message || code).slice(0, failureCharactersMax);
}

function isReset({ message }: Error): boolean {
  return /^(read|write) (ECONNRESET|EPIPE)$/.test(message);
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ");
}

/** `own` gets every socket, so that the caller can destroy it when it gives up. */
export type Connect = (
  to: Target,
  connected: buildConnector.Callback,
  own: (socket: Socket) => void,
) => void;

type Target = Pick<buildConnector.Options, "protocol" | "hostname" | "port">;

/** A connection's look-up, socket to the proxy, or trusted authorities. */
type Route = {
  readonly lookup?: LookupFunction;
  readonly socket?: Socket;
  readonly ca?: string[];
};

export type ProxyServer = {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** The limit for a connection or tunnel that undici opens again by itself, without an exchange. */
const connectWithinMs = 60_000;

/** Checks a host's addresses in the look-up, and returns a TLS connection after verification. */
export function makeConnect(route: Route): Connect {
  return (to, connected, own) => own(openSocket(to, route, connected));
}

/** The proxy's address is not checked, because the operator has chosen it. */
export const connectToProxy = makeConnect({});

/** The proxy resolves host names. Certificates are verified through the tunnel. */
export function makeConnectThrough(
  { origin, headers }: ProxyServer,
  route: Route,
  withinMs = connectWithinMs,
): Connect {
  return (to, connected, own) => {
    const fail = (cause: string) => connected(new Error(`proxy CONNECT failed: ${cause}`), null);
    const hostname = isIP(to.hostname) === 6 ? `[${to.hostname}]` : to.hostname;
    const host = `${hostname}:${to.port || 443}`;
    const client = new Client(origin, {
      allowH2: false,
      headersTimeout: withinMs,
      maxHeaderSize: headBytesMax,
      connect: (proxy, reached) => connectToProxy(proxy, reached, own),
    });
    client.connect({ path: host, headers: { ...headers, host } }, (error, response) => {
      if (error !== null) return fail(error.message);
      // undici passes the socket that `connectToProxy` opened.
      const socket = response.socket as Socket;
      if (response.statusCode >= 200 && response.statusCode < 300) {
        return own(openSocket(to, { ...route, socket }, connected));
      }
      socket.destroy();
      fail(`HTTP ${response.statusCode}`);
    });
  };
}

function openSocket(to: Target, route: Route, connected: buildConnector.Callback): Socket {
  const isSecure = to.protocol === "https:";
  const port = Number(to.port) || (isSecure ? 443 : 80);
  const target = { ...route, host: to.hostname, port, noDelay: true };
  const servername = isIP(to.hostname) === 0 ? { servername: to.hostname } : {};
  const socket = isSecure
    ? connectTls({ ...target, ...servername, ALPNProtocols: ["http/1.1"] })
    : connectTcp(target);
  let isSettled = false;
  socket.setTimeout(connectWithinMs, () => socket.destroy(new Error("connect timed out")));
  socket.once(isSecure ? "secureConnect" : "connect", () => {
    socket.setTimeout(0);
    settle(() => connected(null, socket));
  });
  // The listener stays, because without one a late error would end the process.
  socket.on("error", (error) => settle(() => connected(error, null)));
  socket.once("close", () => settle(() => connected(new Error("connection closed"), null)));
  return socket;

  function settle(how: () => void): void {
    if (isSettled) return;
    isSettled = true;
    how();
  }
}

/** Ends an endless response. A response starts with the first bytes that are written. */
export function limitResponses(socket: Socket): void {
  let [written, readBefore, read] = [0, 0, 0];
  socket.on("readable", () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) [written, readBefore] = [bytesWritten, read];
    read = bytesRead;
    if (read - readBefore > responseBytesMax) {
      socket.destroy(new Error(`response exceeds ${responseBytesMax} bytes`));
    }
  });
}
