/**
 * The documentation at `/docs/`, built by `docs-site/`; every page also exists as Markdown. A
 * page's commands begin with `export NAME=value`, where the gateway inserts its address and, in
 * staging, the demonstration merchant's credentials, so that readers can run them unchanged.
 */
import { join } from "node:path";
import { type BuiltFiles, makeBuiltFiles, noSuchFile } from "../http/built-files.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import { escapeHtml } from "../values/html.ts";

/** Values that the gateway inserts into pages, by the names of shell variables. */
export type DocumentValues = Readonly<Record<string, string>>;

const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

const pageHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

const notBuilt: HttpReply = {
  status: 200,
  headers: { ...pageHeaders, "content-type": "text/plain;charset=utf-8" },
  body: "The documentation is not built on this machine. It is in the folder docs/.\n",
};

/** `findValues` is called for each requested page that contains variables. */
export function documentationRoutes(
  folder: string,
  findValues: () => Promise<DocumentValues>,
): readonly HttpRoute[] {
  const files = makeBuiltFiles(folder);
  const page = (request: HttpRequest) =>
    request.params.join() === "demonstration.json"
      ? demonstration()
      : reply(files, request, findValues);
  const asset = async (request: HttpRequest) => {
    const [name = ""] = request.params;
    return isName(name) ? files.serveImmutable(join("assets", name), request) : noSuchFile;
  };
  /** Serves the API explorer's values, which exist only in staging, where there are credentials. */
  const demonstration = async (): Promise<HttpReply> => {
    const values = await findValues();
    if (values["CONTROL_KEY"] === undefined) return noSuchFile;
    const headers = { "content-type": "application/json", "cache-control": "no-store" };
    return { status: 200, headers, body: JSON.stringify(values) };
  };
  return [
    { method: "GET", path: "/docs", answer: page },
    { method: "GET", path: "/docs/:page", answer: page },
    { method: "GET", path: "/docs/:folder/:page", answer: page },
    { method: "GET", path: "/docs/assets/:file", answer: asset },
  ];
}

/** Whether the name is a plain file name, not a path to another folder. */
function isName(name: string): boolean {
  return /^[\w-][\w.-]*$/.test(name);
}

async function reply(
  files: BuiltFiles,
  request: HttpRequest,
  findValues: () => Promise<DocumentValues>,
): Promise<HttpReply> {
  const { params } = request;
  if (!params.every(isName)) return noSuchFile;
  const path = params.length === 0 ? "index" : params.join("/");
  const name = /\.(md|txt|json)$/.test(path) ? path : `${path}.html`;
  const content = await files.read(name);
  if (content === undefined) return params.length === 0 ? notBuilt : noSuchFile;
  const own = { request, headers: pageHeaders };
  if (!content.includes("export GATEWAY=")) return files.changing(name, own);
  const values = await findValues();
  const text = content.toString().replaceAll(/export ([A-Z_]+)=[^\s<]*/g, (line, variable) => {
    const value = values[variable];
    return value === undefined ? line : `export ${variable}=${escapeHtml(value)}`;
  });
  return files.changing(name, { ...own, text });
}
