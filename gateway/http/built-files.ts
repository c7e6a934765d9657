/**
 * Serves files of a build: the portal and the documentation. A file with the hash of its content in
 * its name is cached by browsers for ever. They request all others each time, and get 304 if a file
 * has not changed.
 */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { HttpReply, HttpRequest } from "./router.ts";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html;charset=utf-8",
  ".js": "text/javascript;charset=utf-8",
  ".css": "text/css;charset=utf-8",
  ".md": "text/markdown;charset=utf-8",
  ".txt": "text/plain;charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

const encodings = [
  ["br", ".br", /\bbr\b/],
  ["gzip", ".gz", /\bgzip\b/],
] as const;

export const noSuchFile: HttpReply = {
  status: 404,
  headers: { "content-type": "text/plain;charset=utf-8", "cache-control": "no-store" },
  body: "no such file\n",
};

type Headers = Readonly<Record<string, string>>;

export type BuiltFiles = ReturnType<typeof makeBuiltFiles>;

export function makeBuiltFiles(folder: string) {
  const read = (name: string) => readFile(join(folder, name)).catch(() => undefined);
  return {
    read,

    /** The file's name contains the hash of its content. */
    async serveImmutable(name: string, request: HttpRequest): Promise<HttpReply> {
      const headers = { "cache-control": "public, max-age=31536000, immutable" };
      const content = await read(name);
      return content === undefined ? noSuchFile : encoded(name, content, { request, headers });
    },

    /** The next build changes the file. `text` is sent in place of its content. */
    async changing(
      name: string,
      { request, headers, text }: { request: HttpRequest; headers: Headers; text?: string },
    ): Promise<HttpReply> {
      const content = await read(name);
      if (content === undefined) return noSuchFile;
      const tag = `"${hash("sha256", text ?? content, "base64url").slice(0, 22)}"`;
      const own = { ...headers, "cache-control": "no-cache", etag: tag };
      const known = request.headers["if-none-match"]?.replaceAll("W/", "").split(",");
      if (known?.some((each) => each.trim() === tag))
        return { status: 304, headers: own, body: "" };
      if (text === undefined) return encoded(name, content, { request, headers: own });
      return { status: 200, headers: { ...own, "content-type": typeOf(name) }, body: text };
    },
  };

  async function encoded(
    name: string,
    content: Uint8Array,
    { request, headers }: { readonly request: HttpRequest; readonly headers: Headers },
  ): Promise<HttpReply> {
    const own = { ...headers, "content-type": typeOf(name), vary: "accept-encoding" };
    const accepted = String(request.headers["accept-encoding"] ?? "");
    for (const [encoding, ending, pattern] of encodings) {
      const body = pattern.test(accepted) ? await read(name + ending) : undefined;
      if (body !== undefined) {
        return { status: 200, headers: { ...own, "content-encoding": encoding }, body };
      }
    }
    return { status: 200, headers: own, body: content };
  }
}

function typeOf(name: string): string {
  return contentTypes[extname(name)] ?? "application/octet-stream";
}
