/** One request and its answer, as all of the bank's HTTP servers read and write them. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type Query = URLSearchParams;
export type Reply = (request: IncomingMessage, response: ServerResponse, query: Query) => unknown;

/** Of what people and scripts post to the bank; messages of payments have limits of their own. */
export const bodyBytesMax = 65_536;

/** Nothing when it is longer; it is read to its end all the same, so that an answer arrives. */
export async function readBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks).toString() : undefined;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function sendHtml(response: ServerResponse, page: string): void {
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
}

/** What is no JSON is nothing that anybody asked for either, and refused as such. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
