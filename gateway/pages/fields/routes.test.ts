/**
 * The script of hosted fields and the documents of the fields: what is published never changes, and
 * only the listed sites may show a field.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { serveRoutes } from "../../http/testing.ts";
import type { Endpoint, EntryPoint } from "../../orders/merchant.ts";
import { asEndpointId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { shop } from "../payment/testing.ts";
import { hostedFieldsRoutes } from "./routes.ts";

const origins = ["https://shop.example", "https://www.shop.example"];

function endpoint(id: string, hostedFields: boolean): EntryPoint {
  const settings = { threeDSecure: "off", hostedFields, embedOrigins: origins } as const;
  const rest = { name: "", currency: "USD", gates: [], enabled: true };
  const only: Endpoint = { id: asEndpointId(id), merchant: shop, ...rest, settings };
  return { id: only.id, merchant: shop, endpoints: [only] };
}

const known = new Map([
  ["1001", endpoint("1001", true)],
  ["1002", endpoint("1002", false)],
  ["1003", { ...endpoint("1003", true), disabled: "itself" as const }],
]);

function serve(t: TestContext) {
  return serveRoutes(t, {
    routes: hostedFieldsRoutes({
      pathWord: "gw",
      findEntryPoint: (id) => known.get(id),
      hostedFields: {
        isTicket: async () => true,
        discard: async () => undefined,
        tokenize: async () => "token",
      },
      tries: { check: async () => ({}) },
      addressOf: () => "192.0.2.7",
      isTooFast: ({ headers }) => headers["user-agent"] === "Flood/1",
      clock: { now: () => asInstant(Date.UTC(2026, 10, 16)) },
    }),
  });
}

const v1 = "/sdk/hosted-fields/v1/index.js";

test("the script's first version has the published digest, and is small", async (t) => {
  const server = serve(t);
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/hosted-fields.md"), "utf8");

  const first = await server.inject(v1);
  const latest = await server.inject("/assets/libs/hosted-fields/latest/index.js?segment=gw");

  const digest = `sha384-${hash("sha384", first.body, "base64")}`;
  assert.ok(guide.includes(`integrity="${digest}"`), `docs/hosted-fields.md lacks ${digest}`);
  assert.ok(gzipSync(first.body).length <= 8 * 1024);
  assert.match(String(first.headers["cache-control"]), /immutable/);
  assert.doesNotMatch(String(latest.headers["cache-control"]), /immutable/);
  assert.equal(latest.body, first.body);
  for (const { headers } of [first, latest]) {
    assert.equal(headers["access-control-allow-origin"], "*");
    assert.equal(headers["cross-origin-resource-policy"], "cross-origin");
  }
});

test("there is no script of another gateway's path word, and no other version", async (t) => {
  const server = serve(t);
  for (const path of [`${v1}?segment=paynet`, `${v1}?segment=`, "/sdk/hosted-fields/v2/index.js"]) {
    assert.equal((await server.inject(path)).statusCode, 404, path);
  }
});

test("a field is shown by the endpoint's sites alone, and loads its two files alone", async (t) => {
  const server = serve(t);
  for (const [type, word, label] of [
    ["pan", "cc-number", "Card number"],
    ["exp", "cc-exp", "Expiry date"],
    ["cvv", "cc-csc", "Security code"],
  ]) {
    const { body, headers } = await server.inject(`/sdk/hosted-fields/field/1001/${type}`);
    const policy = String(headers["content-security-policy"]);

    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe|\*|data:/);
    assert.ok(policy.includes(`frame-ancestors ${origins.join(" ")}`), policy);
    assert.match(body, new RegExp(`<title>${label}</title>`));
    assert.match(body, new RegExp(`<input id="value" name="${word}" autocomplete="${word}"`));
    assert.match(body, /inputmode="numeric"/);
    const files = [...body.matchAll(/(?:src|href)="\.\.\/\.\.\/([^"]+)" integrity="([^"]+)"/g)];
    assert.equal(files.length, 2);
    for (const [, name, integrity] of files) {
      const file = await server.inject(`/sdk/hosted-fields/${name}`);
      assert.equal(`sha384-${hash("sha384", file.body, "base64")}`, integrity);
    }
  }
  const german = await server.inject("/sdk/hosted-fields/field/1001/exp?lang=de-AT");
  assert.match(german.body, /<html lang="de">.*<title>Gültig bis<\/title>|lang="de"/s);
  assert.equal((await server.inject("/sdk/hosted-fields/field/1001/pin")).statusCode, 404);
});

test("the fields of an endpoint without hosted fields only say so", async (t) => {
  const server = serve(t);
  for (const id of ["1002", "1003", "9", "x"]) {
    const { body, headers } = await server.inject(`/sdk/hosted-fields/field/${id}/pan`);
    assert.match(body, /data-code="1006"/);
    assert.doesNotMatch(String(headers["content-security-policy"]), /frame-ancestors/);
  }
});

test("too many posts of an address are told to wait, before anything is read", async (t) => {
  const server = serve(t);
  const headers = { "sec-fetch-site": "same-origin", "user-agent": "Flood/1" };

  const url = "/gw/api/v4/tokenize/hosted-fields";
  const reply = await server.inject({ method: "POST", url, headers, payload: "x" });

  assert.deepEqual([reply.statusCode, JSON.parse(reply.body).code], [429, 5003]);
  assert.equal(reply.headers["retry-after"], "5");
});
