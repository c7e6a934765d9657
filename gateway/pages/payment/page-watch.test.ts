/** The scripts of the gateway's pages: their inventory, and what differs from it in a browser. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as inline from "../cardholder/scripts.ts";
import { makeAssets } from "./assets.ts";
import { findPageFaults, type ReceivedPage } from "./page-watch.ts";
import { listScripts } from "./script-inventory.ts";
import { plainView, servePage } from "./testing.ts";

const assets = makeAssets();
const evil = "https://evil.example";

test("the inventory has every script of the pages, each with a reason", () => {
  const pages = join(import.meta.dirname, "..");
  const scripts = listScripts();

  const names = ["pay.js", "embed.js", ...Object.keys(inline)];
  assert.deepEqual(scripts.map(({ name }) => name).toSorted(), names.toSorted());
  for (const { name, digest, reason } of scripts) {
    assert.match(digest, /^sha(256|384)-[\w+/]{43,}=*$/, name);
    assert.ok(reason.length > 15, name);
  }
  const makers = globSync("**/*.ts", { cwd: pages }).filter((file) =>
    /\bmakeScript\(/.test(readFileSync(join(pages, file), "utf8").replace(/function .*/g, "")),
  );
  assert.deepEqual(makers, ["cardholder/scripts.ts"]);
});

test("a page as the gateway sends it has no fault, framed and with wallets, at both addresses", async (t) => {
  const framed = { ...plainView, framedBy: ["https://shop.example", "https://www.shop.example"] };
  const method = "https://wallet.example/pay";
  const wallet = { wallet: "walletb", type: "walletb_encrypted", method, data: {} } as const;
  const offering = await receive(t, "/pay/t0ken", { ...framed, wallets: [wallet] });

  assert.deepEqual(findPageFaults(await receive(t), assets), []);
  assert.deepEqual(findPageFaults(await receive(t, "/pay/t0ken/"), assets), []);
  assert.deepEqual(findPageFaults(await receive(t, "/pay/t0ken", framed), assets), []);
  assert.deepEqual(findPageFaults({ ...offering, walletMethods: [method] }, assets), []);
  assert.match(String(findPageFaults(offering, assets)), /^The directive connect-src/);
});

test("each change on the way to the browser is a fault", async (t) => {
  const page = await receive(t);
  const policy = String(page.headers.get("content-security-policy"));
  const withPolicy = (from: string, to: string) =>
    change(page, { "content-security-policy": policy.replace(from, to) });
  const withBody = (from: string, to: string) => ({ ...page, body: page.body.replace(from, to) });
  const script = /<script[^>]*><\/script>/.exec(page.body)?.[0] ?? "";

  // biome-ignore format: a table
  const changed: readonly (readonly [ReceivedPage, RegExp])[] = [
    [withPolicy("script-src 'self'", `script-src 'self' ${evil}`),   /^The directive script-src of the policy is 'self' https:\/\/evil/],
    [withPolicy("base-uri", "script-src-elem *; base-uri"),          /^The directive script-src-elem of the policy is \*/],
    [withPolicy("base-uri", `connect-src 'self' ${evil}; base-uri`), /^The directive connect-src/],
    [withPolicy("frame-ancestors 'none'", "frame-ancestors *"),      /^The directive frame-ancestors/],
    [withPolicy("report-uri reports", `report-uri ${evil}`),         /^The directive report-uri/],
    [change(page, { "content-security-policy": null }),              /^The directive default-src of the policy is missing/],
    [change(page, { "referrer-policy": "unsafe-url" }),              /^The header referrer-policy is unsafe-url/],
    [change(page, { "reporting-endpoints": null }),                  /^The header reporting-endpoints is missing/],
    [{ ...page, isSecure: true },                                    /^The header strict-transport-security is missing/],
    [withBody("</form>", `</form><script src="${evil}"></script>`),  /^The page has <script src="https:\/\/evil.*not in the inventory/],
    [withBody("</form>", "</form><SCRIPT>steal()</SCRIPT>"),         /^The page has <SCRIPT>steal/],
    [withBody("<main", '<main onclick="steal()"'),                   /^The page has <main onclick/],
    [withBody("</form>", `</form><iframe src="${evil}"></iframe>`),  /^The page has <iframe/],
    [withBody('integrity="sha384-', 'integrity="sha384-x'),          /^The page has <link rel="stylesheet"/],
    [withBody(script, ""),                                           /^The page does not load pay\./],
    [withBody('<form id="pay"', "<form"),                            /^The answer, of status 200, is no payment page/],
    [{ ...page, status: 303, body: "" },                             /^The answer, of status 303, is no payment page/],
  ];
  for (const [received, expected] of changed) {
    const [first = "none"] = findPageFaults(received, assets);
    assert.match(first, expected);
  }
});

test("browsers' reports of both kinds are read, without the page's address, and few of a request", async (t) => {
  const { server, reported } = servePage(t);
  const send = (payload: string) =>
    server.inject({ method: "POST", url: "/pay/reports", payload: payload });
  const modern = (blockedURL: string, type = "csp-violation") => ({
    ...{ type, url: "https://pay.example/pay/t0ken" },
    body: { effectiveDirective: "script-src-elem", blockedURL },
  });
  const old = { "effective-directive": "script-src", "blocked-uri": "inline" };

  const { statusCode } = await send(JSON.stringify([modern(`${evil}/a.js?t0ken`)]));
  await send(JSON.stringify({ "csp-report": old }));
  await send(JSON.stringify([modern(evil, "deprecation")]));
  await send(JSON.stringify([modern("\u001b[2J not a word")]));
  for (const useless of ["", "[", "null", "[null, 7]", '"text"', "x".repeat(70_000)]) {
    await send(useless);
  }

  assert.equal(statusCode, 204);
  assert.deepEqual(reported, [
    `script-src-elem ${evil}`,
    "script-src inline",
    "script-src-elem unknown",
  ]);
  await send(JSON.stringify(Array.from({ length: 50 }, () => modern(evil))));
  assert.equal(reported.length, 3 + 10);
});

async function receive(
  t: Parameters<typeof servePage>[0],
  url = "/pay/t0ken",
  view = plainView,
): Promise<ReceivedPage> {
  const { statusCode, headers, body } = await servePage(t, view).server.inject(url);
  const received = new Headers(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  return { status: statusCode, isSecure: false, headers: received, body, walletMethods: [] };
}

/** Without the headers that are null. */
function change(page: ReceivedPage, changes: Readonly<Record<string, string | null>>) {
  const get = (name: string) =>
    name in changes ? (changes[name] ?? null) : page.headers.get(name);
  return { ...page, headers: { get } };
}
