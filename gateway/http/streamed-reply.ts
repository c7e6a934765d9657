/**
 * A reply that is written in parts, as fast as the client reads it. If it breaks off, the
 * connection is reset before the last chunk, so that neither the client nor a proxy takes half of
 * it for the whole.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

export type ReplyParts = AsyncIterable<string>;

/**
 * Writes the parts. When the client leaves, or reads nothing for `stallMs`, no further part is
 * made.
 */
export async function writeParts(
  { incoming, response }: { incoming: IncomingMessage; response: ServerResponse },
  parts: ReplyParts,
  stallMs: number,
): Promise<void> {
  try {
    for await (const part of parts) {
      if (response.destroyed) return;
      if (part !== "" && !response.write(part)) await untilDrained(response, stallMs);
    }
    response.end();
  } catch {
    breakOff(incoming);
  }
}

/** Resets the connection. TLS has no reset; its clients see that the chunks have no end. */
export function breakOff({ socket }: Pick<IncomingMessage, "socket">): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

async function untilDrained(response: ServerResponse, stallMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error("the client does not read")), stallMs);
  response.once("drain", resolve).once("close", resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    response.off("drain", resolve).off("close", resolve);
  }
}
