/** Where the body of an answer ends (RFC 9112, section 6), and its first bytes. */
import type { Answer, Limits } from "./read-answer.ts";

type BodyLimits = Omit<Limits, "headBytesMax"> & { readonly isDoubtful: boolean };

/** Answers what is left over behind the body; nothing while the body goes on. */
type Framing = (chunk: Buffer, keep: (part: Buffer) => void) => Buffer | undefined;

class Malformed extends Error {}

export const nothing = Buffer.alloc(0);

export function makeBodyReader(answer: Answer, limits: BodyLimits) {
  const framing = framingOf(answer);
  const closes = /\bclose\b/i.test(answer.headers.get("connection") ?? "");
  let start: Buffer = nothing;
  let bytes = 0;
  let isReusable = false;

  return {
    take(chunk: Buffer): "more" | "done" {
      bytes += chunk.length;
      try {
        const rest = framing(chunk, keep);
        if (rest === undefined) return bytes > limits.bodyBytesMax ? "done" : "more";
        isReusable = rest.length === 0 && !closes && !limits.isDoubtful;
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
      }
      return "done";
    },
    get start() {
      return start;
    },
    get isReusable() {
      return isReusable;
    },
  };

  function keep(part: Buffer): void {
    if (start.length >= limits.startBytesMax) return;
    const longer = start === nothing ? part : Buffer.concat([start, part]);
    start = longer.subarray(0, limits.startBytesMax);
  }
}

function framingOf({ status, headers }: Answer): Framing {
  if (status === 204 || status === 304) return (chunk) => chunk;
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== undefined) {
    // With both, somebody between us and them may have believed the other one.
    return coding.toLowerCase() === "chunked" && length === undefined ? chunked() : untilClosed;
  }
  return length !== undefined && /^\d{1,15}$/.test(length) ? counted(Number(length)) : untilClosed;
}

const untilClosed: Framing = (chunk, keep) => {
  keep(chunk);
  return undefined;
};

function counted(length: number): Framing {
  let left = length;
  return (chunk, keep) => {
    keep(chunk.subarray(0, left));
    const rest = chunk.subarray(left);
    left -= chunk.length - rest.length;
    return left === 0 ? rest : undefined;
  };
}

const chunkLineMax = 1_024;

function chunked(): Framing {
  let waiting: Buffer = nothing;
  let left = 0;
  let part: "size" | "data" | "data's end" | "trailers" = "size";

  return (chunk, keep) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    for (;;) {
      if (part === "data") {
        const data = waiting.subarray(0, left);
        keep(data);
        waiting = waiting.subarray(data.length);
        left -= data.length;
        if (left > 0) return undefined;
        part = "data's end";
      }
      const line = takeLine();
      if (line === undefined) return undefined;
      if (part === "trailers" && line === "") return waiting;
      if (part === "data's end" && line !== "") throw new Malformed();
      if (part === "size") {
        const [, size] = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
        if (size === undefined) throw new Malformed();
        left = Number.parseInt(size, 16);
        part = left === 0 ? "trailers" : "data";
      } else if (part === "data's end") part = "size";
    }
  };

  function takeLine(): string | undefined {
    const end = waiting.indexOf("\r\n");
    if (end > chunkLineMax || (end === -1 && waiting.length > chunkLineMax)) throw new Malformed();
    if (end === -1) return undefined;
    const line = waiting.toString("latin1", 0, end);
    waiting = waiting.subarray(end + 2);
    return line;
  }
}
