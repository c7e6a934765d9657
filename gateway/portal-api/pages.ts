/**
 * The built portal, from `portal/dist`. Files in `assets/` have the hash of their content in their
 * names and are kept by browsers for ever; the page itself is asked for each time, and carries a
 * nonce for styles that are made at run time. Every path of the portal is the same page.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";

/** The page has this text where the nonce belongs. */
const noncePlace = "__NONCE__";

// biome-ignore format: a table
const contentTypes: Readonly<Record<string, string>> = {
  ".js":    "text/javascript;charset=utf-8",
  ".css":   "text/css;charset=utf-8",
  ".svg":   "image/svg+xml",
  ".png":   "image/png",
  ".ico":   "image/x-icon",
  ".woff2": "font/woff2",
  ".json":  "application/json",
  ".webmanifest": "application/manifest+json",
};

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tollgate portal</title>
<p>The portal is not built on this machine. Its API is described at
<a href="/portal/api/openapi.json">/portal/api/openapi.json</a>.</p>
`;

const noSuchFile: HttpReply = {
  status: 404,
  headers: { "content-type": "text/plain;charset=utf-8", "cache-control": "no-store" },
  body: "no such file\n",
};

/** `folder` is where the front end was built. */
export function portalPageRoutes(folder: string): readonly HttpRoute[] {
  const files = makeFiles(folder);
  const page = async ({ params: [screen] }: HttpRequest) =>
    screen === "api" ? noSuchFile : pageReply((await files.read("index.html"))?.toString());
  const asset = async ({ params: [name = ""], headers }: HttpRequest) => {
    // A name has neither a folder nor a way out of this one.
    if (!/^[\w-][\w.-]*$/.test(name)) return noSuchFile;
    return files.reply(join("assets", name), headers["accept-encoding"] ?? "");
  };
  return [
    { method: "GET", path: "/portal", answer: page },
    { method: "GET", path: "/portal/:screen", answer: page },
    { method: "GET", path: "/portal/:screen/:item", answer: page },
    { method: "GET", path: "/portal/assets/:file", answer: asset },
  ];
}

function pageReply(built: string | undefined): HttpReply {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    ...["default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`],
    ...["img-src 'self' data:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ];
  const headers = {
    "content-type": "text/html;charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  };
  if (built === undefined) return { status: 200, headers, body: notBuilt };
  return { status: 200, headers, body: built.replaceAll(noncePlace, nonce) };
}

/** Read and compressed once; a new build has new names, and the page is read each time. */
function makeFiles(folder: string) {
  const kept = new Map<string, Promise<HttpReply>>();
  return {
    read: (name: string) => readFile(join(folder, name)).catch(() => undefined),
    async reply(name: string, accepted: string): Promise<HttpReply> {
      const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : "";
      const key = `${name} ${encoding}`;
      const made = kept.get(key) ?? makeReply(name, encoding);
      const reply = await made;
      // A file that is missing may be built the next moment.
      if (reply.status === 200) kept.set(key, made);
      return reply;
    },
  };

  async function makeReply(name: string, encoding: string): Promise<HttpReply> {
    const read = (ending = "") => readFile(join(folder, name + ending)).catch(() => undefined);
    const content = await read();
    const contentType = contentTypes[extname(name)];
    if (content === undefined || contentType === undefined) return noSuchFile;
    // The build has compressed what takes long.
    const compress = encoding === "br" ? promisify(brotliCompress) : promisify(gzip);
    const isText = /text|json|svg/.test(contentType) && encoding !== "";
    const built = encoding === "br" ? await read(".br") : undefined;
    const headers = {
      "content-type": contentType,
      "cache-control": "public, max-age=31536000, immutable",
      "vary": "accept-encoding",
      ...(isText && { "content-encoding": encoding }),
    };
    return { status: 200, headers, body: isText ? (built ?? (await compress(content))) : content };
  }
}
