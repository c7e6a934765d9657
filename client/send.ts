/**
 * Sends one request over HTTP, and repeats it with the identical body when that is safe: when the
 * gateway asks for it (503, 429), and when there was no answer or an internal failure and the
 * gateway recognises the request as a repeat. Any other refusal is final.
 */
import {
  AccessDenied,
  type Fields,
  Refused,
  type Timing,
  type Unanswered,
  Unreachable,
} from "./call.ts";
import { errorCodes, wordNames } from "./operations.generated.ts";
import { readForm } from "./web.ts";

/** The part of `fetch` that the client needs. */
export type Fetch = (
  url: string,
  request: {
    readonly method: "GET" | "POST";
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<{
  readonly status: number;
  readonly headers: Headers;
  arrayBuffer(): Promise<ArrayBuffer>;
  /** The transaction report is read while it arrives. */
  readonly body?: AsyncIterable<Uint8Array> | null;
}>;
type Headers = { get(name: string): string | null };

type Transport = {
  readonly fetch: Fetch;
  readonly timing: Timing;
  readonly fieldWord: string;
  readonly tries: number;
};

export type Message<Reply extends Fields> = {
  readonly url: string;
  readonly body: string;
  /** Makes the Authorization header of each attempt; undefined if the body is signed. */
  readonly authorize: (() => Promise<string>) | undefined;
  /** Whether the gateway answers the second of two identical requests as it answered the first. */
  readonly repeatable: boolean;
  /** Whether the request changes nothing, so that the answer to any attempt is valid. */
  readonly isQuery: boolean;
  /** The time limit of each attempt. */
  readonly timeoutMs: number;
  readonly isReply: (fields: Fields) => fields is Reply;
  readonly signal: AbortSignal | undefined;
};

type Failed = {
  readonly failure: Refused | AccessDenied | Unanswered;
  readonly again: "safe" | "if_repeatable" | "never";
  /** The time of the gateway's `Retry-After`. */
  readonly restMs: number;
};

const firstGapMs = 200;
const gapMaxMs = 5_000;
/** A call fails if the gateway asks for a longer rest than this, so that the caller can decide. */
const restMaxMs = 60_000;

export async function send<Reply extends Fields>(
  message: Message<Reply>,
  transport: Transport,
): Promise<Reply> {
  const { timing, tries } = transport;
  let unanswered: Unanswered | undefined;
  for (let count = 1; ; count += 1) {
    const attempt = await tryOnce(message, transport);
    if (!("failure" in attempt)) return attempt.reply;
    const { failure, again, restMs } = attempt;
    if (!(failure instanceof Error)) unanswered = failure;
    const isSafe = again === "safe" || (again === "if_repeatable" && message.repeatable);
    if (count >= tries || !isSafe || restMs > restMaxMs) {
      // A refusal concerns this attempt only. An earlier attempt without an answer may have been
      // carried out.
      if (unanswered !== undefined && !message.isQuery) throw new Unreachable(unanswered, count);
      throw failure;
    }
    // The gap doubles each time, and is a random time between half of that and all of it. It is
    // added to the rest, so that the client never returns before the time that the gateway asked
    // for.
    const gapMs = Math.min(gapMaxMs, firstGapMs * 2 ** (count - 1));
    await timing.pause(restMs + Math.round(gapMs * (0.5 + timing.random() / 2)), message.signal);
  }
}

async function tryOnce<Reply extends Fields>(
  { url, body, authorize, timeoutMs, isReply, signal }: Message<Reply>,
  { fetch, fieldWord }: Transport,
): Promise<{ readonly reply: Reply } | Failed> {
  signal?.throwIfAborted();
  const authorization = authorize === undefined ? {} : { authorization: await authorize() };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...authorization },
      body,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      // Following a redirect would send the card to an address that is not configured.
      redirect: "manual",
    });
    const { status: httpStatus } = response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (authorize !== undefined && httpStatus === 403) {
      return { failure: new AccessDenied(), again: "never", restMs: 0 };
    }
    const restMs = readRetryAfter(response.headers);
    const reply = readReply({ httpStatus, bytes }, fieldWord);
    if (reply instanceof Refused) {
      // The gateway may have stored the request before it failed, so the outcome is unknown.
      if (reply.code === errorCodes.INTERNAL_ERROR) {
        const failure = { reason: reply.message, httpStatus };
        return { failure, again: "if_repeatable", restMs };
      }
      const isAsked = httpStatus === 503 || httpStatus === 429;
      return { failure: reply, again: isAsked ? "safe" : "never", restMs };
    }
    if (reply !== undefined && isReply(reply)) return { reply };
    // The answer came from a proxy, or was damaged in transit.
    const reason = `an answer that is no reply of the gateway, HTTP status ${httpStatus}`;
    const isPassing = httpStatus < 300 || httpStatus >= 500 || [408, 429].includes(httpStatus);
    const again = isPassing ? "if_repeatable" : "never";
    return { failure: { reason, httpStatus }, again, restMs };
  } catch (error) {
    signal?.throwIfAborted();
    const failure = { reason: reasonOf(error), httpStatus: undefined };
    return { failure, again: "if_repeatable", restMs: 0 };
  }
}

export type RawReply = { readonly httpStatus: number; readonly bytes: Uint8Array };

/** Returns undefined if the bytes are not a reply of the gateway. */
export function readReply(
  { httpStatus, bytes }: RawReply,
  fieldWord: string,
): Fields | Refused | undefined {
  // Line feeds inside a value are escaped, so a bare one only ends a value.
  const pairs = readForm(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d));
  if (pairs === undefined) return undefined;
  // Two names contain the operator's own word, and are read as `gw-…`.
  const neutral = new Map(wordNames.map((name) => [name.replace("gw", fieldWord), name]));
  const fields: Fields = Object.fromEntries(
    pairs.map(([name, value]) => [neutral.get(name) ?? name, value]),
  );
  const { type, "error-code": code = "", "error-message": message = "" } = fields;
  if (type === undefined) return undefined;
  if (type !== "validation-error" && type !== "error") return fields;
  if (!/^\d{1,9}$/.test(code)) return undefined;
  const serialNumber = fields["serial-number"];
  return new Refused({ type, code: Number(code), message, serialNumber, httpStatus });
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). Returns 0 without the header. */
function readRetryAfter(headers: Headers): number {
  const text = (headers.get("retry-after") ?? "").trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

/** Returns a name or a code only, because an error message of the network may contain too much. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "network trouble";
  if (error.name === "TimeoutError") return "no answer in time";
  return codeOf(error.cause) ?? codeOf(error) ?? "network trouble";
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? code : undefined;
}
