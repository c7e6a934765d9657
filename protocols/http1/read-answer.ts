/**
 * Reads an answer of HTTP/1.1 (RFC 9112) piece by piece. Whoever answers may be hostile: head and
 * body have their limits, and a connection is only good for another request when there is no doubt
 * about where this answer ended.
 */
import { makeBodyReader, nothing } from "./read-body.ts";

export type Answer = {
  readonly status: number;
  /** By names in lower case; of several the last. */
  readonly headers: ReadonlyMap<string, string>;
};

export type AnswerReader = {
  /** Takes what came; `done` when nothing more is wanted. */
  take(chunk: Buffer): "more" | "done";
  /** Whether anything has come at all. */
  readonly hasBegun: boolean;
  /** As soon as the head is read. */
  readonly answer: Answer | undefined;
  /** What the head is that cannot be read. */
  readonly fault: string | undefined;
  /** The first bytes of the body. */
  readonly start: Buffer;
  /** All of it was read, and the connection may carry another request. */
  readonly isReusable: boolean;
};

export type Limits = {
  readonly headBytesMax: number;
  /** How much of the body is read at all. */
  readonly bodyBytesMax: number;
  /** How much of it is kept. */
  readonly startBytesMax: number;
};

export function makeAnswerReader(limits: Limits): AnswerReader {
  let head: Buffer = nothing;
  let headBytes = 0;
  let answer: Answer | undefined;
  let fault: string | undefined;
  let body: ReturnType<typeof makeBodyReader> | undefined;

  return {
    take(chunk) {
      if (fault !== undefined) return "done";
      if (body !== undefined) return body.take(chunk);
      headBytes += chunk.length;
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      return readHead();
    },
    get hasBegun() {
      return headBytes > 0;
    },
    get answer() {
      return answer;
    },
    get fault() {
      return fault;
    },
    get start() {
      return body?.start ?? nothing;
    },
    get isReusable() {
      return body?.isReusable ?? false;
    },
  };

  function readHead(): "more" | "done" {
    for (;;) {
      const end = head.indexOf("\r\n\r\n");
      if (end === -1 && head.includes("\n\n")) return refuse("its lines do not end as HTTP's do");
      if (end === -1 && headBytes <= limits.headBytesMax) return "more";
      if (end === -1 || headBytes - head.length + end > limits.headBytesMax) {
        return refuse("its headers have no end");
      }
      const [statusLine = "", ...lines] = head.toString("latin1", 0, end).split("\r\n");
      head = head.subarray(end + 4);
      const [, minor, digits] = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/.exec(statusLine) ?? [];
      if (digits === undefined) return refuse("it does not answer in HTTP");
      if (digits === "101") return refuse("it wants to speak something else than HTTP");
      // Only a word in between: the answer itself is still to come.
      if (digits.startsWith("1")) continue;

      const { headers, isDoubtful } = readHeaders(lines);
      answer = { status: Number(digits), headers };
      body = makeBodyReader(answer, { ...limits, isDoubtful: isDoubtful || minor === "0" });
      return body.take(head);
    }
  }

  function refuse(why: string): "done" {
    fault = why;
    return "done";
  }
}

/** Doubtful: two readers might see different ends of such an answer. */
function readHeaders(lines: readonly string[]) {
  const headers = new Map<string, string>();
  let isDoubtful = false;
  for (const line of lines) {
    // Not by one pattern for all of it: a hostile line could make that search for hours.
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const isFine = isToken.test(name) && !/[\r\n\0]/.test(line);
    if (!isFine || (isFraming(name) && headers.has(name))) isDoubtful = true;
    if (isFine) headers.set(name, line.slice(colon + 1).trim());
  }
  return { headers, isDoubtful };
}

const isToken = /^[!#$%&'*+.^`|~\w-]+$/;

function isFraming(name: string): boolean {
  return name === "content-length" || name === "transfer-encoding";
}
