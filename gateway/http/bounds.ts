/**
 * The limits of the HTTP server: on the connections of an address, and behind a proxy on the open
 * requests of a client; on the length of a body, and of all incomplete bodies together, of which
 * the largest are refused, because a payment is small and half bodies that fill the memory must
 * make room for it; and on the rate of a client's requests.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Clock } from "../values/time.ts";
import { clientNetworkOf, type IsTrusted, networkOf, type ProxyHeader } from "./client-network.ts";
import type { HttpRequest } from "./router.ts";

type ConnectionOptions = {
  /** Zero means no limit. */
  readonly connectionsPerAddressMax: number;
  readonly isTrusted: IsTrusted;
  readonly proxyHeader: ProxyHeader;
  readonly proxiesOnly: boolean;
};

export function makeConnectionBounds(options: ConnectionOptions) {
  const { connectionsPerAddressMax, isTrusted, proxyHeader, proxiesOnly } = options;
  const connections = makeCounts(connectionsPerAddressMax);
  const requests = makeCounts(connectionsPerAddressMax);
  const known = new WeakMap<Socket, boolean>();

  return {
    /** Returns why a new connection is refused, before its first byte and its handshake. */
    findRefusal(socket: Socket) {
      if (isProxied(socket)) return undefined;
      if (proxiesOnly) return "plain HTTP from an address that is no trusted proxy";
      const network = networkOf(socket.remoteAddress);
      if (network === undefined) return undefined;
      if (connections.take(network, (release) => socket.once("close", release))) return undefined;
      return "too many connections of one address";
    },

    /** Returns false if the client behind a proxy has too many requests open. */
    admitRequest({ socket, headers }: Asked, atEnd: AtEnd): boolean {
      if (!isProxied(socket)) return true;
      const network = clientNetworkOf(headers, isTrusted, proxyHeader);
      return network === undefined || requests.take(network, atEnd);
    },
  };

  /** TLS has another socket than its connection, so each socket is looked up once. */
  function isProxied(socket: Socket): boolean {
    let proxied = known.get(socket);
    if (proxied === undefined) {
      proxied = isTrusted(socket.remoteAddress ?? "");
      known.set(socket, proxied);
    }
    return proxied;
  }
}

type Asked = Pick<IncomingMessage, "socket" | "headers">;
/** `release` is called when the connection or the request ends. */
export type AtEnd = (release: () => void) => void;

function makeCounts(most: number) {
  const open = new Map<string, number>();
  return {
    take(network: string, atEnd: AtEnd): boolean {
      const count = open.get(network) ?? 0;
      if (most > 0 && count >= most) return false;
      open.set(network, count + 1);
      atEnd(() => release(network));
      return true;
    },
  };

  function release(network: string): void {
    const left = (open.get(network) ?? 1) - 1;
    if (left > 0) open.set(network, left);
    else open.delete(network);
  }
}

export type BodyBounds = {
  readonly bodyBytesMax: number;
  /** The limit on all incomplete bodies together. */
  readonly unfinishedBytesMax: number;
};

/** The reason why a body was not read, as the status of the answer. */
export class BodyRefused {
  readonly statusCode: 408 | 413 | 503;

  constructor(statusCode: 408 | 413 | 503) {
    this.statusCode = statusCode;
  }
}

type Done = (read: Uint8Array | BodyRefused) => void;
type End = (refused?: BodyRefused) => void;

export function makeReadBody({ bodyBytesMax, unfinishedBytesMax }: BodyBounds) {
  const unfinished = new Map<Body, End>();
  let unfinishedBytes = 0;

  return {
    get unfinishedBytes() {
      return unfinishedBytes;
    },

    take(payload: Readable): Uint8Array | BodyRefused {
      // Without a size, `read` would return only the first piece.
      const body: Buffer = payload.read(payload.readableLength) ?? empty;
      return body.length > bodyBytesMax ? new BodyRefused(413) : body;
    },

    /** `declared` is the length that the client announced, if it did. */
    read(payload: Readable, declared: number | undefined, done: Done): void {
      if ((declared ?? 0) > bodyBytesMax) {
        done(new BodyRefused(413));
        return;
      }
      const body = new Body(declared);
      const onClose = () => end(new BodyRefused(408));
      unfinished.set(body, end);
      payload.on("data", onData).on("end", end).on("error", onClose).on("close", onClose);

      /** A chunk that arrives after a refusal is dropped. */
      function onData(chunk: Buffer): void {
        if (!unfinished.has(body)) return;
        if (body.length + chunk.length > bodyBytesMax) {
          end(new BodyRefused(413));
          return;
        }
        unfinishedBytes += body.add(chunk, bodyBytesMax);
        if (unfinishedBytes > unfinishedBytesMax) makeRoom();
      }

      function end(refused?: BodyRefused): void {
        if (!unfinished.delete(body)) return;
        unfinishedBytes -= body.capacity;
        done(refused ?? body.bytes());
      }
    },
  };

  /** More is freed than needed, because the search for the largest bodies costs time. */
  function makeRoom(): void {
    const wantedBytes = unfinishedBytesMax * 0.9;
    const largestFirst = [...unfinished].sort(([left], [right]) => right.capacity - left.capacity);
    for (const [, end] of largestFirst) {
      if (unfinishedBytes <= wantedBytes) return;
      end(new BodyRefused(503));
    }
  }
}

const empty = Buffer.alloc(0);

/** Holds one chunk, or a buffer that doubles its size: a tiny chunk must not cost an object. */
class Body {
  readonly #declared: number | undefined;
  #buffer: Buffer = empty;
  length = 0;

  constructor(declared: number | undefined) {
    this.#declared = declared;
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  add(chunk: Buffer, most: number): number {
    const { capacity } = this;
    const needed = this.length + chunk.length;
    if (chunk.length === this.#declared) {
      this.#buffer = chunk;
      this.length = needed;
      return needed;
    }
    if (needed > capacity) {
      const wanted = needed === this.#declared ? needed : Math.max(needed, 2 * capacity);
      const grown = Buffer.allocUnsafeSlow(Math.min(wanted, most));
      this.#buffer.copy(grown, 0, 0, this.length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.length);
    this.length = needed;
    return this.capacity - capacity;
  }
}

export type RateLimitOptions = {
  /** Zero means no limit. */
  readonly perSecond: number;
  /** The number of requests at once; the number of one second if absent. */
  readonly burst?: number;
};

/** Above this number, the client that has been idle longest is forgotten. */
const clientsMax = 10_000;

/** Each client has a token bucket, and each node counts for itself. */
export function makeRateLimit<Client>(
  { perSecond, burst = perSecond }: RateLimitOptions,
  clock: Pick<Clock, "now">,
) {
  const buckets = new Map<Client, { readonly tokens: number; readonly at: number }>();
  if (perSecond === 0) return { take: () => 0, release: () => undefined };
  return {
    /** Takes a token and returns zero, or returns the seconds to wait for the next token. */
    take(client: Client): number {
      const tokens = tokensOf(client);
      put(client, tokens >= 1 ? tokens - 1 : tokens);
      return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
    },
    release: (client: Client) => put(client, Math.min(burst, tokensOf(client) + 1)),
  };

  function tokensOf(client: Client): number {
    const bucket = buckets.get(client);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((clock.now() - bucket.at) / 1000) * perSecond);
  }

  function put(client: Client, tokens: number): void {
    buckets.delete(client);
    buckets.set(client, { tokens, at: clock.now() });
    if (buckets.size <= clientsMax) return;
    for (const idle of buckets.keys().take(1)) buckets.delete(idle);
  }
}

export function makeNetworkLimit(
  options: RateLimitOptions,
  clock: Pick<Clock, "now">,
  addressOf: (request: HttpRequest) => string,
): (request: HttpRequest) => boolean {
  const { take } = makeRateLimit<string>(options, clock);
  return (request) => take(networkOf(addressOf(request)) ?? "") > 0;
}

/** Anyone can cause any number of refusals, which must not make the log grow. */
const summaryEveryMs = 60_000;

/** Reports the first refusal at once, and then at most one summary a minute. */
export function makeSummary(clock: Clock, report: (lastCause: string, count: number) => void) {
  let [lastCause, count] = ["", 0];
  let cancel: (() => void) | undefined;

  return {
    add(cause: string): void {
      [lastCause, count] = [cause, count + 1];
      if (cancel === undefined) reportNow();
    },
    end(): void {
      if (count > 0) reportNow();
      cancel?.();
    },
  };

  function reportNow(): void {
    cancel?.();
    cancel = clock.after(summaryEveryMs, () => {
      cancel = undefined;
      if (count > 0) reportNow();
    });
    report(lastCause, count);
    count = 0;
  }
}
