/** Receipts over HTTP: their URLs, what they show, and that markup in their values is escaped. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { approved, asks, events, meet } from "../../orders/testing.ts";
import { Failure } from "../../values/failure.ts";
import { html } from "../../values/html.ts";
import { makeTheme } from "../design.ts";
import { serve } from "./testing.ts";

const address = "/gw/view-receipt/1001/814660";
const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;

test("a receipt is shown with and without a slash at the end, and can be printed", async (t) => {
  const { server } = serve(t, { order: approved() });

  for (const url of [address, `${address}/`]) {
    const { body, headers, statusCode } = await server.inject(url);

    assert.equal(statusCode, 200);
    assert.match(body, /You paid 10\.42 USD to Shop\./);
    assert.match(body, /<dt>Approval code<\/dt><dd class="mono">731904<\/dd>/);
    assert.match(body, /<button id="print" type="button"\s+hidden>Print<\/button>/);
    assert.match(body, /<html lang="en" dir="ltr">/);
    const [, script = ""] = /<script>(.*?)<\/script>/s.exec(body) ?? [];
    const [, style = ""] = /<style>(.*?)<\/style>/s.exec(body) ?? [];
    assert.equal(
      headers["content-security-policy"],
      `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; img-src data:; ` +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; " +
        `script-src 'sha256-${hash("sha256", script, "base64")}'`,
    );
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["content-language"], "en");
    assert.equal(headers.vary, "Accept-Language");
  }
});

test("a receipt says what was returned, in the reader's language", async (t) => {
  const order = meet(meet(approved(), asks("return", 342n)), events.returned);
  const { server } = serve(t, { order });

  const english = await server.inject(address);
  const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.8" };
  const german = await server.inject({ url: address, headers });

  assert.match(english.body, /10\.42 USD to Shop, 3\.42 USD was returned; 7\.00 USD remains/);
  assert.match(english.body, /<td>Returned<\/td><td class="number">3\.42 USD<\/td>/);
  assert.match(german.body, /<html lang="de" dir="ltr">/);
  assert.match(german.body, /wurden 3,42 USD erstattet; 7,00 USD bleiben abgebucht/);
  assert.equal(german.headers["content-language"], "de");
});

test("whatever is wrong with an address, the page is the same", async (t) => {
  const { server } = serve(t, { order: approved() });
  const wrong = ["1001/814661", "1002/814660", "x/y", "1001/%3Cscript%3E", "1001/814660x"];

  const pages = await Promise.all(wrong.map((path) => server.inject(`/gw/view-receipt/${path}/`)));

  assert.deepEqual([...new Set(pages.map(({ statusCode }) => statusCode))], [404]);
  assert.equal(new Set(pages.map(({ body }) => body)).size, 1);
  assert.match(pages[0]?.body ?? "", /No receipt here/);
});

test("a storage that is unreachable asks for another try at the same address", async (t) => {
  const { server } = serve(t, { order: new Failure("storage_unavailable") });

  const bare = await server.inject(address);
  const slashed = await server.inject(`${address}/?print`);

  assert.equal(bare.statusCode, 503);
  assert.match(bare.body, /<a id="on" class="button" href="814660\/"/);
  assert.match(slashed.body, /<a id="on" class="button" href="\.\.\/814660\/"/);
});

test("hostile names stay words", async (t) => {
  const order = { ...approved(), clientOrderId: hostile };
  const theme = makeTheme("#1e3a8a", html`<header class="banner"><span>${hostile}</span></header>`);

  const { body } = await serve(t, { order, merchantName: hostile, theme }).server.inject(address);

  assert.doesNotMatch(body, /<script>alert|<img/i);
  for (const tag of body.matchAll(/<[a-z][^>]*>/g)) {
    assert.doesNotMatch(tag[0].replace(/"[^"]*"/g, '""'), /\son\w+=|javascript:|'/i, tag[0]);
  }
});

test("the result of a shop without an address leads to the receipt", async (t) => {
  const { server } = serve(t, { order: approved() });

  const { body } = await server.inject("/gw/form/redirect/42000001/t0ken");

  const [, link = ""] = /<a class="button" href="([^"]+)">Show the receipt/.exec(body) ?? [];
  const { pathname } = new URL(link, "https://pay.example/gw/form/redirect/42000001/t0ken");
  assert.equal((await server.inject(pathname)).statusCode, 200);
});

test("a client that guesses too many receipts has to wait", async (t) => {
  const { server } = serve(t, { order: approved() });
  const get = async (url: string, client: string) => {
    return (await server.inject({ url, headers: { "x-forwarded-for": client } })).statusCode;
  };

  const statuses: number[] = [];
  for (let guess = 0; guess < 61; guess += 1) {
    statuses.push(await get(`/gw/view-receipt/1001/${guess}`, "203.0.113.7"));
    if (guess < 59) assert.equal(await get(address, "203.0.113.7"), 200);
  }

  assert.deepEqual(statuses.slice(58), [404, 404, 429]);
  assert.equal(await get(address, "203.0.113.8"), 200);
  assert.equal(await get(address, "198.51.100.1, 203.0.113.7, 127.0.0.1"), 429, "by its proxy");
});

test("a client that comes without a proxy cannot name itself to guess on", async (t) => {
  const { server } = serve(t, { order: approved(), proxy: "192.0.2.1/32" });
  const guess = async (count: number) => {
    const headers = { "x-forwarded-for": `203.0.113.${count}` };
    return (await server.inject({ url: `/gw/view-receipt/1001/${count}`, headers })).statusCode;
  };

  const statuses: number[] = [];
  for (let count = 0; count < 61; count += 1) statuses.push(await guess(count));

  assert.deepEqual(statuses.slice(58), [404, 404, 429]);
});
