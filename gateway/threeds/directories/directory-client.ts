/**
 * The way to one directory server: HTTPS with certificates on both sides, connections kept open.
 * Whatever goes wrong on it is an answer that did not come.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { Clock } from "../../values/time.ts";
import type { Certificates } from "./certificates.ts";

export type Asked = {
  readonly contentType: string;
  readonly body: string;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
  /**
   * Whether it does no harm when it arrives twice. An AReq does: the issuer may have begun a
   * challenge for the first.
   */
  readonly mayRepeat?: boolean;
};

export type DirectoryClient = {
  /** The answer's text; nothing when none came in time, or it was no answer at all. */
  ask(url: string, asked: Asked): Promise<string | undefined>;
  /** Idle connections end at once, the others with their answers; resolves when none is left. */
  drain(): Promise<void>;
  /** Lets go of everything, also of answers that are still to come. */
  close(): void;
};

type Dependencies = {
  readonly clock: Clock;
  /** Why an answer did not come. */
  readonly onLost: (cause: string) => void;
};

const connectionsMax = 128;
/** Servers close idle connections after five seconds or later: we do so before they can. */
const idleMs = 4_000;

export function makeDirectoryClient(
  { cert, key, ca }: Certificates,
  { clock, onLost }: Dependencies,
): DirectoryClient {
  const agent = new Agent({
    ...{ cert, key, ca, keepAlive: true },
    ...{ maxSockets: connectionsMax, timeout: idleMs },
  });
  const drained = Promise.withResolvers<void>();
  let asking = 0;
  let isDraining = false;

  return {
    async ask(url, asked) {
      const stop = new AbortController();
      const callOff = clock.after(asked.timeoutMs, () =>
        stop.abort(new Error("no answer in time")),
      );
      asking += 1;
      try {
        const answer = await post(url, asked, { agent, signal: stop.signal });
        const text = await readText(answer, asked.answerBytesMax);
        if (answer.statusCode === 200 && text !== undefined) return text;
        onLost(text === undefined ? "the answer is too long" : `HTTP ${answer.statusCode}`);
      } catch (error) {
        onLost(causeOf(error));
      } finally {
        callOff();
        asking -= 1;
        endWhenDrained();
      }
      return undefined;
    },
    drain() {
      isDraining = true;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
      endWhenDrained();
      return drained.promise;
    },
    close: () => agent.destroy(),
  };

  function endWhenDrained(): void {
    if (!isDraining || asking > 0) return;
    agent.destroy();
    drained.resolve();
  }
}

/** Called off, a request says no more than that; why is what the operator wants to know. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "AbortError" && error.cause instanceof Error
    ? error.cause.message
    : error.message;
}

function post(
  url: string,
  { contentType, body, mayRepeat = false }: Asked,
  options: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = Buffer.byteLength(body);
  const headers = { "content-type": contentType, "content-length": length };
  send();
  return promise;

  function send(): void {
    const sent = request(url, { ...options, method: "POST", headers }, resolve);
    sent.on("error", (error) => {
      // The other side has closed a connection that was kept open, most likely before it read this.
      const isStale = sent.reusedSocket && "code" in error && error.code === "ECONNRESET";
      if (isStale && mayRepeat) send();
      else reject(error);
    });
    sent.end(body);
  }
}

async function readText(answer: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    // Leaving the loop ends the connection as well.
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
