/**
 * Links between the cardholder's pages. They are relative, for a gateway that is reached under a
 * folder of another address; and every page is served with and without a slash at its end, which
 * the browser counts as one folder more.
 */
import type { FastifyRequest } from "fastify";

type Asked = Pick<FastifyRequest, "url">;

/** `path` begins so many folders above the page that was asked for. */
export function linkFrom({ url }: Asked, foldersUp: number, path: string): string {
  const hasSlash = /^[^?]*\/(\?|$)/.test(url);
  return "../".repeat(foldersUp + (hasSlash ? 1 : 0)) + path;
}
