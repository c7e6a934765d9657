/** The pages of the ACS escape hostile texts, load nothing and are not cached. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { decodeMethodData, encodeFormValue } from "@tollgate/protocols/emv3ds";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { type BrowserPage, post } from "../testing/browser.ts";
import { answer, askForChallenge, formOf, openChallenge } from "../testing/challenge.ts";
import { startThreeDsServer } from "../testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const card = "4000002000000024";
const notification = "https://gateway.example/method?a=1&b=2";

function runMethod(threeDSMethodData: string): Promise<BrowserPage> {
  return post(`${bank.url}/acs/method`, { threeDSMethodData });
}

function packMethod(url: string, threeDSServerTransID = randomUUID()): string {
  return encodeFormValue({ threeDSServerTransID, threeDSMethodNotificationURL: url });
}

test("the method's page posts the transaction back to its opener", async () => {
  const threeDSServerTransID = randomUUID();
  const page = await runMethod(packMethod(notification, threeDSServerTransID));

  const form = formOf(page);
  assert.equal(form.action, notification);
  const back = decodeMethodData(form.fields["threeDSMethodData"] ?? "");
  assert.deepEqual(back, { threeDSServerTransID });
  assert.match(page.html, /<noscript>.*<button/);
  const heard = await bank.waitForThreeDsMessage({
    type: "threeDSMethodData",
    transactionId: threeDSServerTransID,
  });
  assert.equal(heard["threeDSMethodNotificationURL"], notification);
});

test("an invalid method request is answered with a sentence", async () => {
  for (const odd of ["", "AAAA", packMethod("javascript:alert(1)")]) {
    const page = await runMethod(odd);
    assert.deepEqual([page.status, page.forms.length], [400, 0], odd);
  }
  assert.equal((await runMethod("A".repeat(300_000))).status, 413);
});

test("the challenge shows who is paid, how much and by which card, masked", async () => {
  const page = await openChallenge(await askForChallenge(server, card));
  for (const shown of [
    /Sandbox Bank/,
    /<svg/,
    /Test merchant/,
    /10\.15 USD/,
    /400000\*\*\*\*0024/,
  ]) {
    assert.match(page.html, shown);
  }
  assert.match(page.html, /The test code is\s+<strong>1234<\/strong>/);
  assert.match(page.html, /<html lang="en">/);
  assert.match(page.html, /<label for="code">/);
  assert.ok(!page.html.includes(card));
});

test("amounts have the decimal places of their currency", async () => {
  // biome-ignore format: a table
  const amounts = [
    ["5",       "2", "978", "0.05 EUR"],
    ["1000",    "0", "392", "1000 JPY"],
    ["1234567", "3", "414", "1234.567 KWD"],
  ] as const;
  for (const [purchaseAmount, purchaseExponent, purchaseCurrency, shown] of amounts) {
    const more = { purchaseAmount, purchaseExponent, purchaseCurrency };
    const page = await openChallenge(await askForChallenge(server, card, "2.2.0", more));
    assert.ok(page.html.includes(`<dd>${shown}</dd>`), shown);
  }
});

test("a hostile merchant, session or address stays text", async () => {
  const hostile = `"><script>alert(1)</script><img src='x'>`;
  const merchantName = hostile.slice(0, 40);
  const url = "https://merchant.example/?a=%22%3E'&b=1";
  const more = { merchantName, notificationURL: url };
  const asked = await askForChallenge(server, card, "2.2.0", more);
  const page = await post(asked.acsUrl, { creq: asked.creq, threeDSSessionData: hostile });
  const forward = await answer(page);

  for (const { html } of [page, forward]) {
    assert.ok(!html.includes("<script>alert"));
    assert.ok(!html.includes("<img"));
  }
  assert.ok(page.html.includes("&#60;script&#62;alert(1)"));
  assert.equal(formOf(forward).fields["threeDSSessionData"], hostile);
  assert.equal(formOf(forward).action, new URL(url).href);
});

test("a page loads and runs only its own content and is not cached", async () => {
  const challenge = await openChallenge(await askForChallenge(server, card));
  const forward = await answer(challenge);
  const method = await runMethod(packMethod(notification));
  const refused = await post(`${bank.url}/acs/challenge`, {});

  const pages = [challenge, forward, method, refused];
  const nonces = pages.map(({ headers, html }) => {
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-frame-options"), null);
    const policy = headers.get("content-security-policy") ?? "";
    const [, nonce = ""] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
    assert.match(policy, /^default-src 'none'; /);
    assert.doesNotMatch(policy, /unsafe|frame-ancestors/);
    for (const [tag] of html.matchAll(/<(?:script|style)[^>]*>/g)) {
      assert.ok(tag.includes(`nonce="${nonce}"`), tag);
    }
    assert.doesNotMatch(html, /\s(?:src|href|on\w+|style)=/);
    return nonce;
  });

  assert.equal(new Set(nonces).size, pages.length);
  const targets = pages.map(
    ({ headers }) => /form-action ([^;]+)/.exec(headers.get("content-security-policy") ?? "")?.[1],
  );
  assert.deepEqual(targets, ["'self'", "http: https:", "http: https:", "'self'"]);
});
