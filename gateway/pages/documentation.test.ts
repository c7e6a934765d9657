/**
 * The documentation over HTTP: pages, Markdown, this gateway's values, and requests that find
 * nothing.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { serveRoutes } from "../http/testing.ts";
import { type DocumentValues, documentationRoutes } from "./documentation.ts";

const values = { GATEWAY: "https://pay.example", CONTROL_KEY: "a<b" };

// biome-ignore format: a table
const files: Readonly<Record<string, string>> = {
  "index.html":             "<h1>Welcome</h1>",
  "quick-start.html":       "<code>export GATEWAY=x\nexport CONTROL_KEY=y\nexport ENDPOINT=1001</code>",
  "quick-start.md":         "export GATEWAY=x\n",
  "merchant-api.html":      "<h1>Operations</h1>",
  "merchant-api/sale.html": "<h1>Sale</h1>",
  "merchant-api/sale.md":   "# Sale\n",
  "llms.txt":               "# Tollgate\n",
  "assets/site.1.js":       "go()",
};

test("a page, its Markdown and its assets are served", async (t) => {
  const get = await serve(t, files);

  for (const [path, type, content] of [
    ["/docs", /^text\/html/, files["index.html"]],
    ["/docs/", /^text\/html/, files["index.html"]],
    ["/docs/merchant-api", /^text\/html/, files["merchant-api.html"]],
    ["/docs/merchant-api/sale", /^text\/html/, files["merchant-api/sale.html"]],
    ["/docs/merchant-api/sale.md", /^text\/markdown/, files["merchant-api/sale.md"]],
    ["/docs/llms.txt", /^text\/plain/, files["llms.txt"]],
    ["/docs/assets/site.1.js", /^text\/javascript/, "go()"],
  ] as const) {
    const { status, header, text } = await get(path);
    assert.deepEqual([status, text], [200, content], path);
    assert.match(String(header("content-type")), type);
  }
  const { header } = await get("/docs/merchant-api/sale");
  const policy = String(header("content-security-policy"));
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|http/);
});

test("nothing outside of the build is served", async (t) => {
  const get = await serve(t, { ...files, "../secret.md": "secret", "sources.txt": "hash" });

  for (const path of [
    ...["/docs/..%2Fsecret.md", "/docs/..", "/docs/%2e%2e%2fsecret", "/docs/assets/..%2F..%2Fx"],
    ...["/docs/.hidden", "/docs/merchant-api/..%2F..%2Fsecret.md", "/docs/nothing", "/docs/a/b"],
  ]) {
    const { status, text } = await get(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(text, /secret/);
  }
});

test("commands have the values of this gateway, escaped", async (t) => {
  const get = await serve(t, files);

  const page = await get("/docs/quick-start");
  const markdown = await get("/docs/quick-start.md");

  assert.equal(
    page.text,
    "<code>export GATEWAY=https://pay.example\nexport CONTROL_KEY=a&lt;b\nexport ENDPOINT=1001</code>",
  );
  assert.equal(markdown.text, "export GATEWAY=https://pay.example\n");
});

test("the demonstration merchant's values are given to the explorer, where there are any", async (t) => {
  const staging = await serve(t, files);
  const production = await serve(t, files, { GATEWAY: "https://pay.example" });

  assert.deepEqual(JSON.parse((await staging("/docs/demonstration.json")).text), values);
  assert.equal((await production("/docs/demonstration.json")).status, 404);
});

test("a page that has not changed is not sent again, and goes compressed where it can", async (t) => {
  const get = await serve(t, { ...files, "merchant-api.html.gz": gzipSync("<h1>Gz</h1>") });
  const first = await get("/docs/merchant-api");
  const etag = String(first.header("etag"));

  const again = await get("/docs/merchant-api", { "if-none-match": `"other", ${etag}` });
  const other = await get("/docs/merchant-api", {
    "if-none-match": '"other"',
    "accept-encoding": "gzip",
  });

  assert.deepEqual([again.status, again.text], [304, ""]);
  assert.equal(first.header("content-encoding"), undefined);
  assert.deepEqual([other.status, other.header("content-encoding")], [200, "gzip"]);
});

test("a gateway without a build says so", async (t) => {
  const get = await serve(t, {});

  assert.match((await get("/docs/")).text, /not built/);
});

type Files = Readonly<Record<string, string | Uint8Array>>;

async function serve(t: TestContext, content: Files, own: DocumentValues = values) {
  const parent = await mkdtemp(join(tmpdir(), "tollgate-docs-"));
  t.after(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, "dist");
  for (const name of ["merchant-api", "assets"]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  for (const [name, text] of Object.entries(content)) await writeFile(join(folder, name), text);
  const routes = documentationRoutes(folder, async () => own);
  const { inject } = serveRoutes(t, { routes });
  return async (url: string, headers: Record<string, string> = {}) => {
    const answer = await inject({ url, headers });
    const sent: Readonly<Record<string, unknown>> = answer.headers;
    return { status: answer.statusCode, header: (name: string) => sent[name], text: answer.body };
  };
}
