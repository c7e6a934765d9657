/**
 * Sends one callback, within limits of its own: the address is checked inside the connection's own
 * look-up, nothing is followed, little is read, and the whole takes so long and no longer.
 */
import { writeRequest } from "@tollgate/protocols/http1";
import type { Clock } from "../values/time.ts";
import type { AddressRules } from "./addresses.ts";
import type { DeliveryAttempt } from "./callback.ts";
import type { Connection, Reading } from "./connection.ts";
import { makeConnections } from "./connections.ts";
import type { ProxyServer, Receiver } from "./dial.ts";
import { type Limit, startLimit, timeIsOver } from "./limit.ts";
import { makeLookup, type Resolve } from "./look-up.ts";
import { readRetryAfter } from "./retry.ts";

export type Message = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Send = {
  /** Never throws: whatever the network does is an attempt. */
  send(message: Message): Promise<DeliveryAttempt>;
  stop(): void;
};

type Dependencies = {
  readonly rules: AddressRules;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
  /** Through it goes everything, when there is one; it looks names up then. */
  readonly proxy?: string | undefined;
  /** Certificates to trust in place of the system's. */
  readonly authorities?: string[] | undefined;
};

type Outcome = Pick<DeliveryAttempt, "status" | "failure" | "answer" | "retryAfterMs">;
type Request = { readonly receiver: Receiver; readonly text: string };

type Asked = { readonly connection: Connection; readonly reading: Reading };

const failureCharactersMax = 300;

export function makeSend(dependencies: Dependencies): Send {
  const { rules, clock, timeoutMs, authorities } = dependencies;
  const proxy = dependencies.proxy === undefined ? undefined : proxyAt(new URL(dependencies.proxy));
  const lookup = proxy === undefined ? makeLookup(rules, dependencies.resolve) : undefined;
  const connections = makeConnections({ lookup, proxy, authorities });

  return {
    async send(message) {
      const { method, url, body } = message;
      const at = clock.now();
      const startedAt = performance.now();
      const parsed = URL.parse(url);
      const fault = rules.findUrlFault(url, parsed);
      const outcome =
        fault !== undefined || parsed === null ? failed(fault) : await exchange(message, parsed);
      const durationMs = Math.round(performance.now() - startedAt);
      return { at, method, url, body, durationMs, ...outcome };
    },
    stop: connections.stop,
  };

  async function exchange(message: Message, url: URL): Promise<Outcome> {
    const limit = startLimit(clock, timeoutMs);
    try {
      const request = requestOf(message, url, proxy);
      const { connection, reading } = await ask(request, limit);
      if (reading.reader.isReusable) connections.keep(request.receiver, connection);
      return outcomeOf(reading, limit);
    } catch (error) {
      return failed(sentenceOf(error));
    } finally {
      limit.callOff();
    }
  }

  async function ask({ receiver, text }: Request, limit: Limit): Promise<Asked> {
    const kept = connections.takeKept(receiver);
    if (kept !== undefined) {
      limit.onOver(kept.cut);
      const reading = await kept.ask(text);
      // Closed while we wrote: the receiver has not heard, and it says nothing of how he is.
      const isStale = !reading.reader.hasBegun && !limit.isOver;
      if (!isStale) return { connection: kept, reading };
    }
    const connection = await Promise.race([
      connections.open(receiver, (socket) => limit.onOver(() => socket.destroy())),
      limit.over(),
    ]);
    limit.onOver(connection.cut);
    return { connection, reading: await connection.ask(text) };
  }

  /** The status is the answer; its text is a courtesy, and may have been broken off. */
  function outcomeOf({ reader, trouble }: Reading, { isOver }: Limit): Outcome {
    const { answer, fault, start } = reader;
    if (answer === undefined) {
      return failed(fault ?? (isOver ? timeIsOver : endOf(trouble)));
    }
    return {
      status: answer.status,
      failure: undefined,
      answer: printable(start.toString("latin1")),
      retryAfterMs: readRetryAfter(answer.headers.get("retry-after"), clock.now()),
    };
  }
}

function requestOf(
  { method, headers, body }: Message,
  { protocol, hostname, host, port, pathname, search }: URL,
  proxy: ProxyServer | undefined,
): Request {
  const isSecure = protocol === "https:";
  const receiver = { isSecure, hostname: withoutBrackets(hostname), port: portOf(protocol, port) };
  const path = `${pathname}${search}`;
  const isRelayed = proxy !== undefined && !isSecure;
  const authorization = isRelayed ? proxy.authorization : undefined;
  const text = writeRequest({
    method,
    target: isRelayed ? `${protocol}//${host}${path}` : path,
    headers: {
      ...{ host, "user-agent": "Tollgate", accept: "*/*" },
      ...(authorization === undefined ? {} : { "proxy-authorization": authorization }),
      ...headers,
    },
    body,
  });
  return { receiver, text };
}

function proxyAt({ protocol, hostname, port, username, password }: URL): ProxyServer {
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return {
    isSecure: protocol === "https:",
    hostname: withoutBrackets(hostname),
    port: portOf(protocol, port),
    authorization:
      username === "" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/** A percent sign that escapes nothing is one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function portOf(protocol: string, port: string): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function failed(failure = "not an http(s) address"): Outcome {
  return { status: undefined, failure, answer: "", retryAfterMs: undefined };
}

/** Whether it closed or broke the connection is the same to everybody. */
function endOf(trouble: Error | undefined): string {
  const code = trouble !== undefined && "code" in trouble ? trouble.code : undefined;
  const isClosed = trouble === undefined || code === "ECONNRESET" || code === "EPIPE";
  return isClosed ? "it closed without an answer" : sentenceOf(trouble);
}

/** Several connections that failed together have no words of their own. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return "it broke";
  const code = "code" in error ? String(error.code) : error.name;
  return printable(error.message || code).slice(0, failureCharactersMax);
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ");
}
