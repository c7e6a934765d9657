/** The pages of 3-D Secure steps, and the uploads of what the browser posts back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { renderStep, type StatusReply, takeStep } from "./client.ts";
import { acknowledged, makeScene, say } from "./testing.ts";

const returnUrl = "https://shop.example/step?order=1&x=2";
const order = { orderid: "77000001", client_orderid: "invoice-1" };
const statusWith = (fields: Readonly<Record<string, string>>) => fields as unknown as StatusReply;
const challenge = {
  "tds-status": "CReqForm",
  "tds-creq-form-acs-url": "https://acs.example/c",
  "tds-creq-form-creq": "e30",
};

test("a status without a step has no page, and an unknown step has the gateway's page", () => {
  assert.equal(renderStep(statusWith({ status: "approved" }), { returnUrl }), undefined);
  const later = statusWith({ "tds-status": "Later", html: "<p>Later</p>" });
  assert.equal(renderStep(later, { returnUrl }), "<p>Later</p>");
});

test("1.0.2 posts back to the shop's address", () => {
  const acs = "https://acs.example/?a=1&b=2";
  const status = statusWith({
    "tds-status": "PaReqForm",
    "tds-pareq-form-acs-url": acs,
    "tds-pareq-form-pareq": "eJw",
    "tds-pareq-form-md": "m",
  });

  const html = renderStep(status, { returnUrl }) ?? "";

  assert.match(html, /action="https:\/\/acs\.example\/\?a=1&#38;b=2"/);
  assert.match(html, /name="TermUrl" value="https:\/\/shop\.example\/step\?order=1&#38;x=2"/);
  assert.match(html, /name="PaReq" value="eJw".*name="MD" value="m"/);
});

test("no value breaks out of its attribute, and no address is a script", () => {
  const hostile = { ...challenge, "tds-creq-form-creq": `"><script>alert('1')</script>` };

  const html = renderStep(statusWith(hostile), { returnUrl, nonce: '"x' }) ?? "";

  assert.equal(html.match(/<script/g)?.length, 1);
  assert.match(html, /<script nonce="&#34;x">/);
  for (const address of ["javascript:alert(1)", "", "//acs.example"]) {
    const status = statusWith({ ...challenge, "tds-creq-form-acs-url": address });
    assert.throws(() => renderStep(status, { returnUrl }), TypeError);
  }
});

// biome-ignore format: a table
const posts: readonly (readonly [posted: Record<string, string>, url: string, sent: RegExp])[] = [
  [{ threeDSCompInd: "N", threeDSServerTransID: "t", browserTZ: "60", orderid: "1", x: "2" },
   "/gw/api/3ds/v1/upload-method-url-result/1001", /^orderid=77000001&client-order-id=invoice-1&threeDSServerTransID=t&threeDSCompInd=N&notificationURL=https%3A%2F%2Fshop\.example[^&]*&browserTZ=60&/],
  [{ cres: "e30" },             "/gw/api/3ds/v1/upload-cres-result/1001",  /&cres=e30&/],
  [{ PaRes: "eJw", MD: "m" },   "/gw/api/3ds/v1/upload-pares-result/1001", /&paRes=eJw&md=m&/],
];

test("the form that the browser posts is uploaded for the shop's own order", async (t) => {
  for (const [posted, url, sent] of posts) {
    const { endpoint, received } = await makeScene(t, say(acknowledged));

    const taken = await takeStep(endpoint, order, posted, { returnUrl });

    assert.deepEqual(taken, { kind: "uploaded" });
    assert.equal(received[0]?.url, url);
    assert.match(received[0]?.body ?? "", sent);
  }
});

test("the issuer's notice in the frame and a reload upload nothing", async (t) => {
  const { endpoint, received } = await makeScene(t, say(acknowledged));

  const notice = await takeStep(endpoint, order, { threeDSMethodData: "e30" }, { returnUrl });
  const reload = await takeStep(endpoint, order, {}, { returnUrl });

  assert.deepEqual([notice.kind, reload.kind], ["notice", "nothing"]);
  assert.match(notice.html ?? "", /postMessage/);
  assert.equal(received.length, 0);
});
