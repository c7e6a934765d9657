/**
 * A reply that is written in parts, as fast as the client reads it. If it breaks off, the
 * connection is reset before the last chunk, so that neither the client nor a proxy takes half of
 * it for the whole.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

export type ReplyParts = AsyncIterable<string>;

/**
 * Writes the parts. When the client leaves, reads nothing for `stallMs`, or makes the gateway wait
 * for `waitMs` in all, no further part is made.
 */
export async function writeParts(
  { incoming, response }: { incoming: IncomingMessage; response: ServerResponse },
  parts: ReplyParts,
  { stallMs, waitMs }: { readonly stallMs: number; readonly waitMs: number },
): Promise<void> {
  let leftMs = waitMs;
  try {
    for await (const part of parts) {
      if (response.destroyed) return;
      if (part === "" || response.write(part)) continue;
      const startedAt = performance.now();
      await untilDrained(response, Math.min(stallMs, leftMs));
      leftMs -= performance.now() - startedAt;
    }
    response.end();
  } catch {
    breakOff(incoming);
  }
}

/** TLS has no reset; its clients see that the chunks have no end. */
export function breakOff({ socket }: Pick<IncomingMessage, "socket">): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

async function untilDrained(response: ServerResponse, stallMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error("the client is too slow")), stallMs);
  response.once("drain", resolve).once("close", resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    response.off("drain", resolve).off("close", resolve);
  }
}
