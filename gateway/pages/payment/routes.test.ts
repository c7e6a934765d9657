/**
 * The payment page over HTTP: what it shows, loads and accepts, and which values it never repeats.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Failure, type FailureCode, failures } from "../../values/failure.ts";
import type { PaymentView } from "./payment-page.ts";
import { filled, plainView, servePage } from "./testing.ts";

const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`;
const german = { "accept-language": "de-AT" };

test("the page shows shop, amount and what is bought, in the reader's language", async (t) => {
  const { server } = servePage(t);

  const english = await server.inject("/pay/t0ken");
  const other = await server.inject({ url: "/pay/t0ken", headers: german });

  assert.match(english.body, /<html lang="en" dir="ltr">.*Harbour Coffee.*48\.90 EUR.*Two bags/s);
  assert.match(english.body, /<span>Pay 48\.90 EUR<\/span>/);
  assert.match(other.body, /<html lang="de".*48,90 EUR bezahlen/s);
  for (const word of ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc", "cc-name"]) {
    assert.match(english.body, new RegExp(`id="${word}" name="${word}" autocomplete="${word}"`));
  }
});

test("the browser runs no inline code, loads from this origin alone, and checks it", async (t) => {
  const { server } = servePage(t);
  const { body, headers } = await server.inject("/pay/t0ken");

  const policy = String(headers["content-security-policy"]);
  assert.match(policy, /^default-src 'none';/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(body, /<style|<script>|\sstyle=|\son\w+=|https?:\/\/(?!www\.w3\.org)/);
  const preloads = String(headers["link"]);
  const files = [
    ...body.matchAll(/(?:src|href)="([^"]+\.(?:js|css))" integrity="sha384-([^"]+)"/g),
  ];
  assert.equal(files.length, 2);
  for (const [, name, integrity] of files) {
    const file = await server.inject(`/pay/${name}`);
    assert.equal(file.statusCode, 200);
    assert.equal(createHash("sha384").update(file.body).digest("base64"), integrity);
    assert.match(String(file.headers["cache-control"]), /immutable/);
    assert.ok(
      preloads.includes(`${name}>; rel=preload;`) && preloads.includes(`sha384-${integrity}"`),
    );
  }
  assert.equal((await server.inject("/pay/pay.0000000000000000.js")).statusCode, 404);
});

test("the first view weighs less than 60 kB, also with an address to be filled in", async (t) => {
  const address = ["email", "phone", "address", "zipCode", "city", "country", "state"] as const;
  const { server } = servePage(t, { ...plainView, wanted: address });
  const { body } = await server.inject("/pay/t0ken");
  const names = [...body.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, name]) => name);

  const files = await Promise.all(names.map((name) => server.inject(`/pay/${name}`)));
  const sizes = [body, ...files.map((file) => file.body)].map((text) => gzipSync(text).length);

  t.diagnostic(`page ${sizes.join(" + ")} bytes compressed; ${body.length} as sent`);
  assert.ok(body.length + (sizes[1] ?? 0) + (sizes[2] ?? 0) < 60_000);
});

test("page and files are sent compressed to browsers that ask for it", async (t) => {
  const { server } = servePage(t);
  const { body } = await server.inject("/pay/t0ken");
  const [, name] = /src="([^"]+\.js)"/.exec(body) ?? [];

  for (const [asked, coding] of [
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["", undefined],
  ] as const) {
    const { headers } = await server.inject({
      url: `/pay/${name}`,
      headers: { "accept-encoding": asked },
    });
    assert.equal(headers["content-encoding"], coding);
    assert.equal(headers["vary"], "Accept-Encoding");
    const page = await server.inject({
      url: "/pay/t0ken",
      headers: { "accept-encoding": asked },
    });
    assert.equal(page.headers["content-encoding"], coding);
    assert.equal(page.headers["vary"], "Accept-Language, Accept-Encoding");
    assert.equal(coding === undefined, page.body.includes("cc-number"));
  }
});

test("a shop's colour is the button's, and as dark as text needs it, and another colour is no file", async (t) => {
  const yellow: PaymentView = { ...plainView, shop: { name: "Sun", colour: "#ffd400" } };
  const { server } = servePage(t, yellow);
  const { body } = await server.inject("/pay/t0ken");
  const [, name = ""] = /href="(style-[^"]+\.css)"/.exec(body) ?? [];

  const style = await server.inject(`/pay/${name}`);

  assert.match(style.body, /--accent: #806a00; --button: #ffd400; --on-button: #000/);
  assert.equal((await server.inject(`/pay/${name.replace("-", "-0")}`)).statusCode, 404);
  assert.equal((await server.inject("/pay/style-zzzzzz.0000000000000000.css")).statusCode, 404);
});

test("a whole card is paid with once, and the browser goes on by a GET", async (t) => {
  const { post, paid } = servePage(t);

  const answer = await post({ ...filled, browser_screen_width: "390", browser_time_zone: "-330" });

  assert.deepEqual([answer.statusCode, answer.headers.location], [303, "t0ken"]);
  const [entered] = paid;
  assert.equal(paid.length, 1);
  assert.ok(entered?.paid.kind === "card");
  assert.equal(entered.paid.number.reveal(), "4111111111111111");
  assert.equal(entered?.ipAddress, "192.0.2.7");
  assert.deepEqual(entered?.browser, {
    customer_browser_screen_width: "390",
    customer_browser_time_zone: "-330",
    customer_browser_user_agent: "Test/1",
  });
});

test("a wallet's token is taken where the page offers the wallet, and only encrypted", async (t) => {
  const offer = { wallet: "walletb", type: "walletb_encrypted", method: "m", data: {} } as const;
  const { post, paid } = servePage(t, { ...plainView, wallets: [offer] });
  const sent = { payment_data: '{"signature":"s"}', payment_data_type: "walletb_encrypted" };

  assert.equal((await post(sent)).statusCode, 303);
  for (const type of ["walletb_decrypted", "walleta_encrypted", "", "toString"]) {
    assert.equal((await post({ ...sent, payment_data_type: type })).statusCode, 400, type);
  }
  assert.equal((await servePage(t).post(sent)).statusCode, 400, "it offers none");

  const [entered] = paid;
  assert.equal(paid.length, 1);
  assert.ok(entered?.paid.kind === "wallet");
  assert.equal(entered.paid.text.reveal(), '{"signature":"s"}');
});

test("the policy lets the browser ask the site of a wallet that the page offers, and no other", async (t) => {
  const method = "https://wallet.example/pay";
  const offer = { wallet: "walletb", type: "walletb_encrypted", method, data: {} } as const;
  const policyOf = async (view: PaymentView) => {
    const { headers } = await servePage(t, view).server.inject("/pay/t0ken");
    return String(headers["content-security-policy"]);
  };

  assert.match(
    await policyOf({ ...plainView, wallets: [offer] }),
    /; connect-src 'self' https:\/\/wallet\.example https:\/\/\*\.wallet\.example;/,
  );
  assert.doesNotMatch(await policyOf(plainView), /connect-src/);
  const unusable = { ...plainView, wallets: [{ ...offer, method: "not a URL; script-src *" }] };
  assert.match(await policyOf(unusable), /; connect-src 'self' ?;/);
  assert.doesNotMatch(await policyOf(unusable), /\*/);
});

test("a form of another site begins no try; the visitor sees the page itself", async (t) => {
  const { post, paid } = servePage(t);

  for (const site of ["cross-site", "same-site"]) {
    const answer = await post(filled, "/pay/t0ken", { "sec-fetch-site": site });
    assert.deepEqual([answer.statusCode, answer.headers.location], [303, "t0ken"], site);
    assert.equal(paid.length, 0);
  }
  await post(filled, "/pay/t0ken", { "sec-fetch-site": "same-origin" });
  assert.equal(paid.length, 1);
});

test("in a shop's frame, the page goes on when the gateway can again", async (t) => {
  const headers = { "sec-fetch-dest": "iframe" };
  const away = await servePage(t).server.inject({ url: "/pay/away", headers });
  const failing = servePage(t, plainView, new Failure("storage_unavailable"));
  const posted = await failing.post(filled, "/pay/t0ken", headers);

  for (const { statusCode, body, headers: sent } of [away, posted]) {
    assert.equal(statusCode, 503);
    assert.doesNotMatch(String(sent["content-security-policy"]), /frame-ancestors/);
    assert.match(body, /<a id="on"[^>]* target="_self"/);
  }
});

test("a fault is told at its field; card number and CVV are never repeated", async (t) => {
  const { post, paid } = servePage(t);

  const { statusCode, body } = await post({ ...filled, "cc-number": "4111 1111 1111 1112" });

  assert.equal(statusCode, 400);
  assert.equal(paid.length, 0);
  assert.match(body, /id="cc-number-fault" aria-live="polite">This card number is not valid/);
  assert.match(body, /id="cc-number"[^>]*aria-invalid="true"/);
  assert.match(body, /value="Anna Example"/);
  assert.doesNotMatch(body, /4111|1112|value="123"/);
});

test("what the gateway cannot do now is told, and nothing of the card with it", async (t) => {
  // biome-ignore format: a table
  const failures = [
    [new Failure("not_allowed_now"),     303, /^$/],
    [new Failure("storage_unavailable"), 503, /One moment/],
    [new Failure("too_many_requests"),   429, /Too many tries/],
  ] as const;

  for (const [failure, status, words] of failures) {
    const { statusCode, body } = await servePage(t, plainView, failure).post(filled);
    assert.equal(statusCode, status);
    assert.match(body, words);
    assert.doesNotMatch(body, /4111|value="123"/);
    if (status === 429) assert.match(body, /id="cc-name"[^>]* value="Anna Example"/);
  }
});

test("the next try says why the last one was refused, and how many are left", async (t) => {
  // biome-ignore format: a table
  const refusals = [
    ["insufficient_funds",    2, /limit or balance is not sufficient.* Nothing was charged\. You can try 2 more times/],
    ["cvv_mismatch",          1, /security code was not right.* You can try once more/],
    ["authentication_failed", 1, /could not confirm that it was you/],
    ["stolen_card",           1, /Your bank declined the payment\. Try another card/],
    ["partial_approval_refused", 1, /limit or balance is not sufficient/],
    ["reversed_after_doubt",  1, /could not be reached/],
    ["wallet_replayed",       1, /wallet’s payment could not be used/],
  ] as const;

  for (const [refusal, triesLeft, sentence] of refusals) {
    const { server } = servePage(t, { ...plainView, refusal, triesLeft });
    const { body } = await server.inject("/pay/t0ken");
    assert.match(body, sentence, refusal);
    assert.match(body, /<p class="notice" role="alert" tabindex="-1" autofocus><strong>/);
  }
});

test("every refusal by the gateway's own rules has the same text, which does not name the issuer", async (t) => {
  const codes = Object.keys(failures) as FailureCode[];
  const filtered = codes.filter((code) => failures[code].type === "filtered");
  const others = ["authentication_missing", "no_gate", "value_not_supported"] as const;
  // biome-ignore format: a table
  const readers = [
    [{},     "This payment cannot be accepted. Try another card or ask the shop. Nothing was charged."],
    [german, "Diese Zahlung kann nicht angenommen werden. Verwenden Sie eine andere Karte, oder fragen Sie den Shop. Es wurde nichts abgebucht."],
  ] as const;

  assert.ok(filtered.length >= 9);
  for (const refusal of [...filtered, ...others]) {
    const { server } = servePage(t, { ...plainView, refusal });
    for (const [headers, notice] of readers) {
      const { body } = await server.inject({ url: "/pay/t0ken", headers });
      assert.equal(/autofocus>(.*?)<\/p>/s.exec(body)?.[1], notice, refusal);
    }
  }
});

test("a payment that is elsewhere, unknown or out of reach is not shown", async (t) => {
  const { server, post, paid } = servePage(t);

  for (const ask of [server.inject, ({ url }: { url: string }) => post(filled, url)]) {
    const gone = await ask({ url: "/pay/gone" });
    assert.deepEqual([gone.statusCode, gone.headers.location], [303, "../gw/form/redirect/1/2"]);
    const none = await ask({ url: "/pay/n0ne" });
    assert.equal(none.statusCode, 404);
    assert.doesNotMatch(none.body, /n0ne/);
    assert.equal((await ask({ url: "/pay/away" })).statusCode, 503);
  }
  assert.equal(paid.length, 0);
});

test("hostile words of a merchant or a cardholder stay words", async (t) => {
  const spoilt = { ...plainView, shop: { name: hostile, logo: hostile, colour: hostile } };
  const { server, post } = servePage(t, { ...spoilt, description: hostile, wanted: ["email"] });

  const pages = [
    await server.inject("/pay/t0ken"),
    await post({ "cc-name": hostile, email: hostile }),
  ];

  for (const { body } of pages) {
    assert.doesNotMatch(body, /<script>alert|<img src=x/i);
    for (const tag of body.matchAll(/<[a-z][^>]*>/g)) {
      assert.doesNotMatch(tag[0].replace(/"[^"]*"/g, '""'), /\son\w+=|javascript:|'/i, tag[0]);
    }
  }
});

test("a page that needs a proof of work has its challenge, and tells browsers without scripts", async (t) => {
  const challenge = `17.abc.${"n".repeat(16)}${"s".repeat(24)}`;
  const { server } = servePage(t, { ...plainView, challenge });
  const { body } = await server.inject("/pay/t0ken");
  assert.match(
    body,
    new RegExp(`<input type="hidden" name="proof" data-challenge="${challenge}">`),
  );
  assert.match(body, /<noscript><p class="notice" role="alert">.*allow scripts.*<\/noscript>/);

  const needed = servePage(t, plainView, { challenge });
  const answer = await needed.post({ ...filled, proof: "old", email: "a@b.example" });
  assert.equal(answer.statusCode, 429);
  assert.match(answer.body, new RegExp(`data-challenge="${challenge}"`));
  assert.match(answer.body, /enter your card again/);
  assert.doesNotMatch(answer.body, /4111/);
  assert.equal(needed.paid[0]?.proof, "old");
});

test("links have QR codes", async (t) => {
  const { server } = servePage(t);

  const code = await server.inject("/pay/l1nk/qr.svg");
  assert.deepEqual([code.statusCode, code.body], [200, "<svg/>"]);
  assert.equal(code.headers["content-type"], "image/svg+xml");
  assert.match(String(code.headers["content-security-policy"]), /sandbox/);
  assert.equal((await server.inject("/pay/t0ken/qr.svg")).statusCode, 404);
  assert.equal((await server.inject("/pay/l1nk/qr.png")).statusCode, 404);
  assert.equal((await server.inject("/pay/away/qr.svg")).statusCode, 503);
});

test("only listed origins may show the page, and other sites may load the script for it", async (t) => {
  const framedBy = ["https://shop.example", "https://www.shop.example:8443"];
  const { server } = servePage(t, { ...plainView, framedBy });
  const { body, headers } = await server.inject("/pay/t0ken");
  const policy = String(headers["content-security-policy"]);
  assert.match(
    policy,
    /frame-ancestors https:\/\/shop\.example https:\/\/www\.shop\.example:8443;/,
  );
  assert.match(body, /<form [^>]*data-embed="https:\/\/shop\.example https:\/\/www\.shop/);

  const script = await server.inject("/pay/embed.js");
  assert.equal(script.statusCode, 200);
  assert.equal(script.headers["cross-origin-resource-policy"], "cross-origin");
  assert.equal(script.headers["cache-control"], "public, max-age=300");
  const plain = await servePage(t).server.inject("/pay/t0ken");
  assert.match(String(plain.headers["content-security-policy"]), /frame-ancestors 'none'/);
  assert.doesNotMatch(plain.body, /data-embed/);
});
