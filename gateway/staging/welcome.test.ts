/** The page at `/` tells strangers' words: none of them may become markup, nothing may run. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { serveRoutes } from "../http/testing.ts";
import { asOrderId } from "../values/ids.ts";
import { asInstant, minutes } from "../values/time.ts";
import type { OrderLine } from "../views/status.ts";
import { welcomeRoutes } from "./welcome.ts";
import { renderWelcome, type WelcomeFacts } from "./welcome-page.ts";

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
const now = asInstant(1_800_000_000_000);

const order: OrderLine = {
  orderId: asOrderId("590233820005787729"),
  clientOrderId: "try-1",
  acceptedAt: now,
  time: "2027-01-15 08:00:00 UTC",
  amount: "10.42 USD",
  cardMask: "400000****0018",
  status: "approved",
  stage: "sale_approved",
  error: "",
  reference: "631900000001",
};

const plain = {
  name: "plain",
  id: "1001",
  currency: "USD",
  settings: { threeDSecure: "off" },
} as const;
const facts: WelcomeFacts = {
  baseUrl: "http://localhost:8080",
  pathWord: "gw",
  merchant: { login: "demo", controlKey: "5f".repeat(20) },
  bank: { url: "http://localhost:8090", host: "127.0.0.1:8583" },
  database: "PostgreSQL, embedded, in the data folder",
  missing: {},
  endpoints: [plain],
  groups: [{ name: "all", id: "1007", endpoints: [{ name: "plain" }] }],
  cards: [{ name: "decline-funds", card: "4000004000000020", group: "Acquirer", what: "51" }],
  orders: [order],
};

test("hostile words of merchants and of the bank stay words", () => {
  const lines = { clientOrderId: hostile, error: hostile, cardMask: hostile, reference: hostile };
  const spoilt: WelcomeFacts = {
    ...facts,
    merchant: { login: hostile, controlKey: hostile },
    missing: { [hostile]: hostile },
    endpoints: [{ ...plain, name: hostile, id: hostile }],
    cards: [{ name: hostile, card: hostile, group: hostile, what: hostile }],
    orders: [{ ...order, ...lines, status: "processing" }],
  };

  const refused = { sentence: hostile, chosen: { card: "", amount: hostile, endpoint: "" } };
  const { text } = renderWelcome(spoilt, { now, newOrderId: hostile, wanted: hostile, refused });

  assert.doesNotMatch(text, /<script|<img/i);
  for (const tag of text.matchAll(/<[a-z][^>]*>/g)) {
    assert.doesNotMatch(tag[0].replace(/"[^"]*"/g, '""'), /\son\w+=|javascript:|'/i, tag[0]);
  }
});

test("nothing on the page runs or is loaded, and its style sheet is the one allowed", async (t) => {
  const server = serve(t, facts);

  const { headers, body, statusCode } = await server.inject("/?order=try-1");

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

test("an order still on its way is looked at again, but not for ever", () => {
  const waiting = { ...facts, orders: [{ ...order, status: "processing" as const }] };
  const visit = { now, newOrderId: "example-1", wanted: "try-1" };
  const refresh = /<meta http-equiv="refresh" content="2;url=\/\?order=try-1">/;

  assert.match(renderWelcome(waiting, visit).text, refresh);
  const later = { ...visit, now: asInstant(now + minutes(6)) };
  assert.doesNotMatch(renderWelcome(waiting, later).text, /http-equiv/);
  assert.doesNotMatch(renderWelcome(facts, visit).text, /http-equiv/);
});

test("the page leads to the portal, the documentation and the shop", () => {
  const { text } = renderWelcome(facts, { now, newOrderId: "example-1" });

  for (const address of ["/portal/", "/docs/", "http://127.0.0.1:8070/"]) {
    assert.ok(text.includes(`<a href="${address}">`), address);
  }
});

test("what is missing is told", () => {
  const missing = { "gate sandbox": "not signed on" };
  const broken = { ...facts, missing, cards: undefined, orders: [] };

  const { text } = renderWelcome(broken, { now, newOrderId: "example-1" });

  assert.match(text, /not ready/);
  assert.match(text, /gate sandbox<\/code>: not signed on/);
  assert.match(text, /The sandbox bank does not answer/);
  assert.match(text, /None yet/);
});

test("without a demonstration merchant the page says how to get one", async (t) => {
  const { body } = await serve(t, undefined).inject("/");

  assert.match(body, /npm start/);
});

// biome-ignore format: a table
const senders: readonly (readonly [who: string, headers: Record<string, string>, taken: boolean])[] = [
  ["our page",                       { "sec-fetch-site": "same-origin" },                                  true],
  ["our page, by an older browser",  { "host": "10.0.0.5:8080", "origin": "http://10.0.0.5:8080" },        true],
  ["another site",                   { "sec-fetch-site": "cross-site" },                                   false],
  ["another port of this machine",   { "sec-fetch-site": "same-site" },                                    false],
  ["another site, an older browser", { "host": "10.0.0.5:8080", "origin": "http://elsewhere.example" },    false],
  ["a page that hides its origin",   { "host": "10.0.0.5:8080", "origin": "null" },                        false],
  ["a program",                      {},                                                                   false],
];

test("only the page itself can send its form", async (t) => {
  const server = serve(t, facts);

  for (const [who, headers, taken] of senders) {
    const url = "/try";
    const { statusCode } = await server.inject({ method: "POST", url, headers, payload: "card=1" });

    assert.equal(statusCode, taken ? 422 : 403, who);
  }
});

test("a browser that comes back from 3-D Secure with a form is shown its order", async (t) => {
  const server = serve(t, facts);
  const back = async (order: string) => {
    const url = `/?order=${encodeURIComponent(order)}`;
    return server.inject({ method: "POST", url, payload: "status=approved&control=x" });
  };

  const [own, hidden] = [await back("try-1"), await back("//x.example/")];

  assert.equal(own.statusCode, 303);
  assert.equal(own.headers["location"], "/?order=try-1");
  assert.equal(hidden.headers["location"], "/?order=%2F%2Fx.example%2F");
});

function serve(t: { after(clean: () => unknown): void }, found: WelcomeFacts | undefined) {
  const clock = { now: () => now, after: () => () => undefined };
  return serveRoutes(t, { routes: welcomeRoutes(clock, async () => found) });
}
