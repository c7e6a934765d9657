/** The page at `/` contains texts of strangers. None of them becomes markup, and nothing runs. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { serveRoutes } from "../http/testing.ts";
import { makeWelcomeRoute } from "./welcome.ts";
import { renderWelcome, type WelcomeFacts } from "./welcome-page.ts";

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;

const plain = {
  name: "plain",
  id: "1001",
  currency: "USD",
  settings: { threeDSecure: "off" },
} as const;
const facts: WelcomeFacts = {
  baseUrl: "http://localhost:8080",
  merchant: { login: "demo", controlKey: "5f".repeat(20) },
  sandbox: { url: "http://localhost:8090", host: "127.0.0.1:8583" },
  database: "PostgreSQL, embedded, in the data folder",
  missing: {},
  endpoints: [plain],
  groups: [{ name: "all", id: "1007", endpoints: [{ name: "plain" }] }],
  cards: [{ name: "decline-funds", card: "4000004000000020", group: "Acquirer", what: "51" }],
};

test("hostile words of merchants and of the sandbox stay words", () => {
  const spoilt: WelcomeFacts = {
    ...facts,
    merchant: { login: hostile, controlKey: hostile },
    missing: { [hostile]: hostile },
    endpoints: [{ ...plain, name: hostile, id: hostile }],
    cards: [{ name: hostile, card: hostile, group: hostile, what: hostile }],
  };

  const { text } = renderWelcome(spoilt);

  assert.doesNotMatch(text, /<script|<img/i);
  for (const tag of text.matchAll(/<[a-z][^>]*>/g)) {
    assert.doesNotMatch(tag[0].replace(/"[^"]*"/g, '""'), /\son\w+=|javascript:|'/i, tag[0]);
  }
});

test("nothing on the page runs or is loaded, and its style sheet is the one allowed", async (t) => {
  const server = serve(t, facts);

  const { headers, body, statusCode } = await server.inject("/");

  const policy = String(headers["content-security-policy"]);
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(body) ?? [];
  assert.equal(statusCode, 200);
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; /);
  assert.match(policy, /form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/);
  assert.ok(policy.includes(`'sha256-${hash("sha256", style, "base64")}'`));
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["cache-control"], "no-store");
  assert.doesNotMatch(body, /<script|\sstyle=|\son\w+=|src=|@import|url\(/);
});

test("the page leads to the portal, its sandbox and orders, the documentation and the shop", () => {
  const { text } = renderWelcome(facts);

  const portal = ["/portal/", "/portal/sandbox", "/portal/orders"];
  for (const address of [...portal, "/docs/", "/docs/quick-start", "http://127.0.0.1:8070/"]) {
    assert.ok(text.includes(`<a href="${address}">`), address);
  }
  assert.match(text, /gw -- pay --endpoint 1001</);
  assert.doesNotMatch(renderWelcome({ ...facts, endpoints: [] }).text, /gw -- pay/);
});

test("what is missing is told", () => {
  const missing = { "gate sandbox": "not signed on" };
  const { text } = renderWelcome({ ...facts, missing, cards: undefined });

  assert.match(text, /not ready/);
  assert.match(text, /gate sandbox<\/code>: not signed on/);
  assert.match(text, /The sandbox does not answer/);
});

test("without a demonstration merchant the page says how to get one", async (t) => {
  const { body } = await serve(t, undefined).inject("/");

  assert.match(body, /npm start/);
});

function serve(t: { after(clean: () => unknown): void }, found: WelcomeFacts | undefined) {
  return serveRoutes(t, { routes: [makeWelcomeRoute(async () => found)] });
}
