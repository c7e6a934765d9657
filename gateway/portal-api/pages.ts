/**
 * Serves the built portal from `portal/dist`. Files in `assets/` have the hash of their content in
 * their names, so browsers cache them for ever. The page itself is requested each time and carries
 * a nonce for styles that are made at run time. Every path of the portal returns the same page.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeBuiltFiles, noSuchFile } from "../http/built-files.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";

/** The text in the page that the nonce replaces. */
const noncePlace = "__NONCE__";

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tollgate portal</title>
<p>The portal is not built on this machine. Its API is described at
<a href="/portal/api/openapi.json">/portal/api/openapi.json</a>.</p>
`;

/** Makes the routes. `folder` contains the built front end. */
export function portalPageRoutes(folder: string): readonly HttpRoute[] {
  const files = makeBuiltFiles(folder);
  const page = async ({ params: [screen] }: HttpRequest) =>
    screen === "api" ? noSuchFile : pageReply((await files.read("index.html"))?.toString());
  const asset = async (request: HttpRequest) => {
    const [name = ""] = request.params;
    // This rejects path traversal.
    if (!/^[\w-][\w.-]*$/.test(name)) return noSuchFile;
    return files.lasting(join("assets", name), request);
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
