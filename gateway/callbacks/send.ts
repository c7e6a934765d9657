/**
 * Sends one callback, within limits of its own: the address is checked inside the connection's own
 * look-up, nothing is followed, little is read, and the whole takes so long and no longer.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "../values/time.ts";
import type { AddressRules } from "./addresses.ts";
import type { Attempt } from "./callback.ts";
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
  send(message: Message): Promise<Attempt>;
  stop(): void;
};

type Needs = {
  readonly rules: AddressRules;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly resolve: Resolve;
  /** Through it goes everything, when there is one; it looks names up then. */
  readonly proxy?: string | undefined;
  /** Certificates to trust in place of the system's. */
  readonly authorities?: string[] | undefined;
};

type Outcome = Pick<Attempt, "status" | "failure" | "answer" | "retryAfterMs">;

const answerCharactersMax = 512;
const answerBytesMax = 65_536;
const failureCharactersMax = 300;
const idleMs = 30_000;

export function makeSend(needs: Needs): Send {
  const { rules, clock, timeoutMs } = needs;
  const agents = makeAgents(needs);
  // The proxy itself is the operator's and may be anywhere.
  const lookup = needs.proxy === undefined ? makeLookup(rules, needs.resolve) : undefined;

  return {
    async send(message) {
      const { method, url, body } = message;
      const at = clock.now();
      const startedAt = performance.now();
      const fault = rules.findUrlFault(url);
      const outcome = fault === undefined ? await exchange(message) : failed(fault);
      const durationMs = Math.round(performance.now() - startedAt);
      return { at, method, url, body, durationMs, ...outcome };
    },
    stop() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };

  async function exchange({ method, url, headers, body }: Message): Promise<Outcome> {
    const stop = new AbortController();
    const callOff = clock.after(timeoutMs, () => stop.abort());
    try {
      const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
      const isSecure = /^https:/i.test(url);
      const length = method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {};
      const sent = (isSecure ? httpsRequest : httpRequest)(
        url,
        {
          ...{ method, signal: stop.signal, agent: agents[isSecure ? "https:" : "http:"] },
          headers: { "user-agent": "Tollgate", accept: "*/*", ...headers, ...length },
          ...(lookup === undefined ? {} : { lookup }),
        },
        answered,
      );
      sent.on("error", reject);
      sent.end(body);
      const answer = await promise;
      return {
        status: answer.statusCode,
        failure: undefined,
        answer: await readStart(answer),
        retryAfterMs: readRetryAfter(answer.headers["retry-after"], clock.now()),
      };
    } catch (error) {
      return failed(stop.signal.aborted ? "no answer in time" : sentenceOf(error));
    } finally {
      callOff();
    }
  }
}

/** How many connections a receiver has is decided by who sends; they live no longer than needed. */
function makeAgents({ proxy, authorities }: Needs) {
  const proxyEnv =
    proxy === undefined ? {} : { proxyEnv: { http_proxy: proxy, https_proxy: proxy } };
  const shared = { keepAlive: true, maxFreeSockets: 32, timeout: idleMs, ...proxyEnv };
  const trusted = authorities === undefined ? {} : { ca: authorities };
  return { "http:": new HttpAgent(shared), "https:": new HttpsAgent({ ...shared, ...trusted }) };
}

function failed(failure: string): Outcome {
  return { status: undefined, failure, answer: "", retryAfterMs: undefined };
}

/** Several connections that failed together have no words of their own. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return "it broke";
  const code = "code" in error ? String(error.code) : error.name;
  return printable(error.message || code).slice(0, failureCharactersMax);
}

/**
 * The status is the answer; its text is a courtesy. The rest is not read: whoever sends more than
 * that, or takes too long over it, loses the connection.
 */
async function readStart(answer: IncomingMessage): Promise<string> {
  let bytes = 0;
  let text = "";
  try {
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (text.length < answerCharactersMax) {
        text += chunk.subarray(0, answerCharactersMax).toString("latin1");
      }
      if (bytes > answerBytesMax) break;
    }
  } catch {
    // It broke off: what has come is kept.
  }
  return printable(text).slice(0, answerCharactersMax);
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ");
}
