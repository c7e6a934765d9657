/**
 * One request over HTTP, again when that is safe: always with the identical body, when the gateway
 * says that nothing happened (503, 429), and when no answer came to a request that the gateway
 * recognises when it comes twice. Any other refusal is final.
 */
import type { ReplyFields } from "./call.ts";
import { AccessDenied, Refused, type Trouble, Unreachable } from "./errors.ts";
import { readReply } from "./read-reply.ts";
import type { Timing } from "./timing.ts";

/** As much of `fetch` as is needed. */
export type Fetch = (
  url: string,
  request: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}>;

export type SendNeeds = {
  readonly fetch: Fetch;
  readonly timing: Timing;
  readonly fieldWord: string;
  readonly tries: number;
};

export type Message<Reply extends ReplyFields> = {
  readonly url: string;
  readonly body: string;
  /** The Authorization header, another one for each try; nothing when the body is signed. */
  readonly authorize: (() => string) | undefined;
  /** The gateway answers the second of two identical requests as it did the first. */
  readonly repeatable: boolean;
  /** For each try. */
  readonly timeoutMs: number;
  readonly isReply: (fields: ReplyFields) => fields is Reply;
  readonly signal: AbortSignal | undefined;
};

export type Send = <Reply extends ReplyFields>(message: Message<Reply>) => Promise<Reply>;

type Failed = {
  readonly failure: Refused | AccessDenied | Trouble;
  readonly again: "safe" | "if_repeatable" | "never";
  /** What the gateway asked for, before any gap of our own. */
  readonly restMs: number;
};

type Headers = { get(name: string): string | null };

const firstGapMs = 200;
const gapMaxMs = 5_000;
/** A gateway that asks for a longer rest than this is asked no more; the caller decides. */
const restMaxMs = 60_000;

export function makeSend(needs: SendNeeds): Send {
  return async (message) => {
    for (let count = 1; ; count += 1) {
      const attempt = await tryOnce(message, needs);
      if (!("failure" in attempt)) return attempt.reply;
      const { failure } = attempt;
      if (count >= needs.tries || !mayRepeat(attempt, message)) {
        throw failure instanceof Error ? failure : new Unreachable(failure, count);
      }
      // The jitter is added to the rest, never taken off: nobody comes back before the time.
      const waitMs = attempt.restMs + gapAfter(count, needs.timing);
      await needs.timing.pause(waitMs, message.signal);
    }
  };
}

function mayRepeat({ again, restMs }: Failed, { repeatable }: { repeatable: boolean }): boolean {
  if (restMs > restMaxMs) return false;
  return again === "safe" || (again === "if_repeatable" && repeatable);
}

/** Twice as long each time, and at random between half of that and all of it. */
function gapAfter(count: number, { random }: Timing): number {
  const gapMs = Math.min(gapMaxMs, firstGapMs * 2 ** (count - 1));
  return Math.round(gapMs * (0.5 + random() / 2));
}

async function tryOnce<Reply extends ReplyFields>(
  message: Message<Reply>,
  needs: SendNeeds,
): Promise<{ readonly reply: Reply } | Failed> {
  const { signal, authorize } = message;
  signal?.throwIfAborted();
  const authorization = authorize === undefined ? {} : { authorization: authorize() };
  const timeout = AbortSignal.timeout(message.timeoutMs);
  try {
    const response = await needs.fetch(message.url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...authorization },
      body: message.body,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      // A redirect would carry the card to an address that nobody configured.
      redirect: "manual",
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (authorize !== undefined && response.status === 403) return denial();
    const read = readReply({ httpStatus: response.status, bytes }, needs.fieldWord);
    if (read instanceof Refused) return refusal(read, response.headers);
    if (read !== undefined && message.isReply(read)) return { reply: read };
    return misunderstanding(response.status, response.headers);
  } catch (error) {
    signal?.throwIfAborted();
    const failure = { reason: reasonOf(error), httpStatus: undefined };
    return { failure, again: "if_repeatable", restMs: 0 };
  }
}

function denial(): Failed {
  return { failure: new AccessDenied(), again: "never", restMs: 0 };
}

function refusal(refused: Refused, headers: Headers): Failed {
  const nothingHappened = refused.httpStatus === 503 || refused.httpStatus === 429;
  const again = nothingHappened ? "safe" : "never";
  return { failure: refused, again, restMs: readRetryAfter(headers) };
}

/** Whoever answered was not the gateway, or the answer was damaged on the way. */
function misunderstanding(httpStatus: number, headers: Headers): Failed {
  const reason = `an answer that is no reply of the gateway, HTTP status ${httpStatus}`;
  const passing = httpStatus < 300 || httpStatus >= 500 || httpStatus === 429;
  const again = passing ? "if_repeatable" : "never";
  return { failure: { reason, httpStatus }, again, restMs: readRetryAfter(headers) };
}

/** Seconds or a date (RFC 9110, section 10.2.3); zero when it says nothing. */
function readRetryAfter(headers: Headers): number {
  const text = (headers.get("retry-after") ?? "").trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

/** A name or a code only: messages of the network may hold more than they should. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "network trouble";
  if (error.name === "TimeoutError") return "no answer in time";
  return codeOf(error.cause) ?? codeOf(error) ?? "network trouble";
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? code : undefined;
}
