/**
 * The cardholder's pages over HTTP: what they show and accept, and which values they never contain.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import type { PendingStep } from "../../orders/authentication.ts";
import type { Order } from "../../orders/order.ts";
import { inStage } from "../../orders/testing.ts";
import { Failure } from "../../values/failure.ts";
import { plainTheme } from "../design.ts";
import { challenge, type Journey, linkOf, method, onward, pares, serve } from "./testing.ts";

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
const waiting = inStage("awaiting_challenge");
const shop = { ...waiting.purchase.urls, redirect: "http://shop.example/back?a=1&b=2" };

test("each step is a form that the browser posts to the issuer, and nowhere else", async (t) => {
  // biome-ignore format: a table
  const steps: readonly (readonly [step: PendingStep, form: RegExp, policy: RegExp])[] = [
    [method,    /action="http:\/\/acs\.example:8090\/m" target="issuer" hidden>\n<input type="hidden" name="threeDSMethodData" value="ZnJhbWVk">/, /form-action 'self' http: https:;.* frame-src 'self' http: https:$/],
    [challenge, /data-creq03="Y3JlcQ-03" data-creq04="Y3JlcQ-04">\n<input type="hidden" name="creq" value="Y3JlcQ-05">/, /form-action 'self' https:;.* frame-src 'self' https:; connect-src 'self'$/],
    [pares,     /name="PaReq" value="eJx\+\/=">\n<input type="hidden" name="TermUrl" value="https:\/\/pay\.example\/gw\/form\/pares\/42000001\/t0ken">\n<input type="hidden" name="MD" value="m-1">/, /form-action 'self' https:; frame-ancestors 'none'; base-uri 'none'; script-src '[^' ]+'$/],
  ];

  for (const [step, form, allowed] of steps) {
    const { server } = serve(t, { order: waiting, step });
    const { body, headers, statusCode } = await server.inject(linkOf("redirect"));

    const policy = String(headers["content-security-policy"]);
    const [, script = ""] = /<script>(.*?)<\/script>/s.exec(body) ?? [];
    assert.equal(statusCode, 200);
    assert.match(body, form);
    assert.match(body, /<button>/);
    assert.match(policy, allowed);
    assert.match(policy, /^default-src 'none';.*frame-ancestors 'none'/);
    assert.ok(policy.includes(`script-src 'sha256-${hash("sha256", script, "base64")}'`));
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
  }
});

test("an order on its way is waited for, with and without scripts", async (t) => {
  const { server } = serve(t, { order: inStage("authorizing") });

  const { body } = await server.inject(linkOf("redirect"));

  assert.match(body, /role="status"/);
  assert.match(body, new RegExp(`<noscript><meta http-equiv="refresh" content="1;url=${onward}">`));
  assert.match(body, /location\.reload/);
});

test("the end is a form to the shop with the signed result", async (t) => {
  const order = withUrls(inStage("approved"), shop);
  const { server } = serve(t, { order });

  const { body, headers } = await server.inject(linkOf("redirect"));

  assert.match(body, /method="post" action="http:\/\/shop\.example\/back\?a=1&amp;b=2">/);
  assert.match(body, /name="status" value="approved">/);
  assert.match(body, /name="control" value="signed:approved42000001invoice-1">/);
  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /form-action 'self' http: https:;/);
});

test("a shop without an address has its result told here, with no more than the mask", async (t) => {
  // biome-ignore format: a table
  const results = [
    ["approved", /payment of 10\.42 USD to Shop was approved/],
    ["declined", /was declined, and nothing was charged/],
    ["filtered", /cannot be accepted, and nothing was charged\.(?!.*[Bb]ank).*Try another card or ask the shop/s],
    ["error",    /could not be completed, and nothing was charged/],
  ] as const;

  for (const [stage, sentence] of results) {
    const { body } = await serve(t, { order: inStage(stage) }).server.inject(linkOf("redirect"));

    assert.match(body, sentence);
    assert.match(body, /400000\*{4}0018/);
    assert.doesNotMatch(body, /<form|<script/);
  }
});

test("hostile names and addresses stay words on every page", async (t) => {
  const final = inStage("approved");
  const order = { ...final, clientOrderId: hostile, card: { ...final.card, bin: hostile } };
  const spoilt = { ...pares, acsUrl: `https://acs.example/${hostile}`, md: hostile };
  const journeys: readonly Journey[] = [
    { order, merchantName: hostile },
    { order: withUrls(order, { ...shop, redirect: `https://shop.example/${hostile}` }) },
    { order: waiting, step: spoilt },
  ];

  for (const journey of journeys) {
    const { body } = await serve(t, journey).server.inject(linkOf("redirect"));

    assert.doesNotMatch(body, /<script>alert|<img/i);
    for (const tag of body.matchAll(/<[a-z][^>]*>/g)) {
      assert.doesNotMatch(tag[0].replace(/"[^"]*"/g, '""'), /\son\w+=|javascript:|'/i, tag[0]);
    }
  }
});

test("an unknown link is told so, and nothing of it is repeated", async (t) => {
  const { server } = serve(t, { order: waiting });

  for (const page of ["redirect/42000001/wr0ng", "redirect/41/t0ken"]) {
    const { body, statusCode } = await server.inject(`/gw/form/${page}`);

    assert.equal(statusCode, 404);
    assert.match(body, /belongs to no payment/);
    assert.doesNotMatch(body, /wr0ng|t0ken/);
  }
});

test("a storage that is unreachable asks for another try", async (t) => {
  const { server } = serve(t, { order: new Failure("storage_unavailable") });

  for (const [verb, page] of [
    ["GET", "redirect"],
    ["POST", "challenge"],
  ] as const) {
    const { headers, statusCode } = await server.inject({ method: verb, url: linkOf(page) });

    assert.equal(statusCode, 503);
    assert.equal(headers["retry-after"], "5");
  }
});

test("the report of our own page is taken with what the request itself tells", async (t) => {
  const { server, taken } = serve(t, { order: waiting, step: method });
  const payload =
    "threeDSServerTransID=a-b&threeDSCompInd=Y&browserTZ=-120&browserJavascriptEnabled=true" +
    "&browserIP=1.2.3.4";

  const headers = {
    "user-agent": "Browser/1",
    "accept": "text/html",
    "accept-language": "de-AT,en",
  };
  const url = linkOf("method-result");
  const answer = await server.inject({ method: "POST", url, payload, headers });

  assert.equal(answer.statusCode, 303);
  assert.equal(answer.headers.location, onward);
  assert.deepEqual(taken, [
    {
      transactionId: "a-b",
      browser: {
        completion: "Y",
        properties: {
          browserUserAgent: "Browser/1",
          browserAcceptHeader: "text/html",
          browserLanguage: "de-AT",
          browserJavascriptEnabled: "true",
          browserTZ: "-120",
        },
      },
    },
  ]);
});

test("what issuers send back is taken, and the browser led on", async (t) => {
  const { server, taken } = serve(t, { order: waiting });
  const post = (page: string, payload: string, headers = {}) =>
    server.inject({ method: "POST", url: linkOf(page), payload, headers });

  const returned = await post("challenge", "cres=eyJ4IjoxfQ");
  const answered = await post("pares", "PaRes=eJx%2B%2F&MD=m-1");
  const framed = await post("pares", "PaRes=eJx&MD=m-1", { "sec-fetch-dest": "iframe" });
  const inOurFrame = await post("method-frame", "threeDSMethodData=e30");

  assert.deepEqual(taken, [
    "eyJ4IjoxfQ",
    { paRes: "eJx+/", md: "m-1" },
    { paRes: "eJx", md: "m-1" },
  ]);
  assert.match(
    returned.body,
    new RegExp(`<a id="on" class="button" href="${onward}" target="_top">`),
  );
  assert.doesNotMatch(String(returned.headers["content-security-policy"]), /frame-ancestors/);
  assert.deepEqual([answered.statusCode, answered.headers.location], [303, onward]);
  assert.match(framed.body, /<a id="on"/);
  assert.match(returned.body, /http-equiv="refresh"/);
  assert.doesNotMatch(framed.body, /http-equiv="refresh"/);
  // The gateway's page around the issuer's frame may itself be in a frame of a shop.
  const policy = String(inOurFrame.headers["content-security-policy"]);
  assert.doesNotMatch(policy, /frame-ancestors/);
});

test("an embedded payment page tells the shop its result, and its journey stays in the frame", async (t) => {
  const page = { expiresAt: waiting.acceptedAt, triesMax: 3, refused: [] };
  const ended = { ...withUrls(inStage("approved"), shop), page };
  const policyOf = ({ headers }: { headers: object }) =>
    String(Object(headers)["content-security-policy"]);
  const last = await serve(t, { order: ended }).server.inject(linkOf("redirect"));
  const result = await serve(t, { order: { ...inStage("declined"), page } }).server.inject(
    linkOf("redirect"),
  );
  const step = await serve(t, { order: { ...waiting, page }, step: challenge }).server.inject(
    linkOf("redirect"),
  );
  const { server } = serve(t, { order: { ...waiting, page }, step: challenge });
  const returned = await server.inject({ method: "POST", url: linkOf("challenge") });
  const plain = await serve(t, { order: withUrls(inStage("approved"), shop) }).server.inject(
    linkOf("redirect"),
  );

  assert.match(
    last.body,
    /id="told" data-origins="https:\/\/shop\.example" data-status="approved"\n data-order-id="42000001" data-client-order-id="invoice-1"/,
  );
  assert.match(result.body, /data-status="declined"/);
  for (const each of [last, result])
    assert.match(each.body, /parent\.postMessage\(message, origin\)/);
  for (const each of [last, result, step]) {
    assert.match(policyOf(each), /frame-ancestors https:\/\/shop\.example;/);
  }
  assert.match(returned.body, /<a id="on" [^>]*target="_self"/);
  assert.match(policyOf(plain), /frame-ancestors 'none'/);
  assert.doesNotMatch(plain.body, /id="told"/);
});

test("an answer that cannot be used is told, a late one leads on", async (t) => {
  const refusal = new Failure("invalid_parameter", "cres");
  const { server } = serve(t, { order: waiting, refusal });
  const late = serve(t, { order: waiting, refusal: new Failure("not_allowed_now") }).server;

  const payload = `cres=${encodeURIComponent(hostile)}`;
  const refused = await server.inject({ method: "POST", url: linkOf("challenge"), payload });
  const passed = await late.inject({ method: "POST", url: linkOf("pares"), payload });

  assert.equal(refused.statusCode, 400);
  assert.match(refused.body, new RegExp(`could not be used.*href="${onward}"`, "s"));
  assert.doesNotMatch(refused.body, /alert\(/);
  assert.equal(passed.statusCode, 303);
});

test("what only our own window sends is answered in no frame, whatever comes of it", async (t) => {
  const payload = "threeDSCompInd=Y";
  const refusal = new Failure("storage_unavailable");
  const { server } = serve(t, { order: waiting, refusal });
  const own = await server.inject({ method: "POST", url: linkOf("method-result"), payload });
  const issuers = await server.inject({ method: "POST", url: linkOf("method"), payload });

  assert.match(String(own.headers["content-security-policy"]), /frame-ancestors 'none'/);
  assert.doesNotMatch(String(issuers.headers["content-security-policy"]), /frame-ancestors/);
});

test("a tab that shows the method of another try is led to the order's present step", async (t) => {
  const { server } = serve(t, { order: waiting, refusal: new Failure("invalid_parameter", "x") });
  const answer = await server.inject({ method: "POST", url: linkOf("method-result") });

  assert.deepEqual([answer.statusCode, answer.headers.location], [303, onward]);
});

test("in a shop's frame, the journey goes on when the gateway can again", async (t) => {
  const headers = { "sec-fetch-dest": "iframe" };
  const { server } = serve(t, { order: new Failure("storage_unavailable") });
  const { body, headers: sent } = await server.inject({ url: linkOf("redirect"), headers });

  assert.doesNotMatch(String(sent["content-security-policy"]), /frame-ancestors/);
  assert.match(body, /<a id="on"[^>]* target="_self"/);
});

test("a reload of what was posted leads back to the order's own page", async (t) => {
  const { server } = serve(t, { order: waiting });

  for (const page of ["method", "method-frame", "method-result", "challenge", "pares"]) {
    const { headers, statusCode } = await server.inject(linkOf(page));

    assert.deepEqual([statusCode, headers.location], [303, onward], page);
  }
});

test("every page speaks German to a German browser, and says where a payment is a rehearsal", async (t) => {
  const headers = { "accept-language": "de-AT" };
  // biome-ignore format: a table
  const pages: readonly (readonly [journey: Journey, page: string, words: RegExp])[] = [
    [{ order: waiting, step: method },                    "redirect", /Ihre Zahlung wird vorbereitet/],
    [{ order: waiting, step: challenge },                 "redirect", /Weiter zu Ihrer Bank/],
    [{ order: inStage("authorizing") },                   "redirect", /Bitte warten/],
    [{ order: withUrls(inStage("approved"), shop) },      "redirect", /Zurück zum Shop/],
    [{ order: inStage("declined") },                      "redirect", /von 10,42 USD an Shop wurde abgelehnt/],
    [{ order: new Failure("storage_unavailable") },       "redirect", /Einen Moment/],
    [{ order: waiting },                                  "unknown",  /Keine Zahlung gefunden/],
  ];

  for (const [journey, page, words] of pages) {
    const url = page === "unknown" ? "/gw/form/redirect/41/t0ken" : linkOf(page);
    const answer = await serve(t, journey).server.inject({ url, headers });
    const theme = { ...plainTheme, isRehearsal: true };
    const rehearsed = await serve(t, { ...journey, theme }).server.inject(url);

    assert.match(answer.body, words);
    assert.doesNotMatch(answer.body, /class="warning"/);
    assert.match(rehearsed.body, /<p class="warning" role="note">Rehearsal: no money moves\.<\/p>/);
    assert.match(answer.body, /<html lang="de" dir="ltr">/);
    assert.equal(answer.headers["content-language"], "de");
    assert.equal(answer.headers.vary, "Accept-Language");
  }
});

function withUrls(order: Order, urls: Order["purchase"]["urls"]): Order {
  return { ...order, purchase: { ...order.purchase, urls } };
}
