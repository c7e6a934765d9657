/** A callback's text: the places of its fields, and the signed values. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import type { Endpoint, EndpointSettings } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { approved } from "../orders/testing.ts";
import { asEndpointId, asMerchantId, asOrderId, asSerialNumber } from "../values/ids.ts";
import { asInstant, hours, type Instant, later, systemClock } from "../values/time.ts";
import {
  makeBuildMessage,
  oldSecretUntil,
  renewSecret,
  retireOldSecret,
  secretNames,
  writeMessage,
} from "./message.ts";

const now = asInstant(1_794_708_246_000);
const callback = {
  merchantId: asMerchantId("7"),
  orderId: asOrderId("42000001"),
  sequence: 2,
  serialNumber: asSerialNumber("0195933a-7c48-7000-8000-000000000001"),
  url: "https://shop.example/told",
  tries: 0,
};
const secret = Buffer.from("0123456789abcdef0123456789abcdef");
const fields = [
  ["status", "approved"],
  ["email", "a+b@c.example"],
] as const;
const asGet = { fields, method: "GET", secrets: () => [secret], timestamp: 1_794_708_246 } as const;
const text = "status=approved&email=a%2Bb%40c.example";

test("an address keeps its own query, and loses its fragment", () => {
  // biome-ignore format: a table
  const urls: readonly (readonly [given: string, sent: string])[] = [
    ["https://shop.example/told",       `https://shop.example/told?${text}`],
    ["https://shop.example/told?",      `https://shop.example/told?${text}`],
    ["https://shop.example/told?a=b",   `https://shop.example/told?a=b&${text}`],
    ["https://shop.example/told?a=b&",  `https://shop.example/told?a=b&${text}`],
    ["https://shop.example/told#here",  `https://shop.example/told?${text}`],
    ["https://shop.example",            `https://shop.example?${text}`],
  ];
  for (const [url, sent] of urls) {
    const message = writeMessage({ ...callback, url }, asGet);
    assert.equal(message.url, sent);
    assert.equal(message.method, "GET");
    assert.equal(message.body, "");
    assert.equal(message.headers["webhook-id"], "42000001-2");
  }
});

test("a form is signed with its id, its time and its text", () => {
  const message = writeMessage(callback, { ...asGet, method: "POST" });

  const signed = createHmac("sha256", secret).update(`42000001-2.1794708246.${text}`);
  assert.equal(message.url, callback.url);
  assert.equal(message.body, text);
  assert.deepEqual(message.headers, {
    "content-type": "application/x-www-form-urlencoded",
    "webhook-id": "42000001-2",
    "webhook-timestamp": "1794708246",
    "webhook-signature": `v1,${signed.digest("base64")}`,
  });
});

test("JSON is an object of strings, signed as it is sent", () => {
  const message = writeMessage(callback, { ...asGet, method: "JSON" });

  const body = '{"status":"approved","email":"a+b@c.example"}';
  const signed = createHmac("sha256", secret).update(`42000001-2.1794708246.${body}`);
  assert.equal(message.method, "POST");
  assert.equal(message.url, callback.url);
  assert.equal(message.body, body);
  assert.equal(message.headers["content-type"], "application/json");
  assert.equal(message.headers["webhook-signature"], `v1,${signed.digest("base64")}`);
});

// biome-ignore format: a table
const shadows: readonly (readonly [query: string, kept: string])[] = [
  ["?status=approved",                    ""],
  ["?shop=7&status=approved",             "?shop=7"],
  ["?status=approved&shop=7",             "?shop=7"],
  ["?a=1&status&orderid=9&b=2",           "?a=1&b=2"],
  ["?st%61tus=approved",                  ""],
  // Deployed shops find their order by this field.
  ["?orderId=42&orderid=9",               "?orderId=42"],
  ["?status[]=approved&status%5Bx%5D=1",  ""],
  ["?client.orderid=1&error+code=2",      ""],
  ["?+status=approved&status%00x=1",      ""],
  ["?a=1;control=2;b=3",                  "?a=1;b=3"],
  // A field of the gateway that this result does not have.
  ["?error_code=0&processor-rrn=1",       ""],
  ["?mystatus=1&statuses=2&a=status",     "?mystatus=1&statuses=2&a=status"],
  ["?a=%E0%A4&%zz=1",                     "?a=%E0%A4&%zz=1"],
  ["?a=b?status=1",                       "?a=b?status=1"],
];

test("a name in the address's own query never shadows a field of the result", () => {
  for (const [query, kept] of shadows) {
    const url = `${callback.url}${query}`;
    const get = writeMessage({ ...callback, url }, asGet);
    const form = writeMessage({ ...callback, url: `${url}#x` }, { ...asGet, method: "POST" });

    const joined = kept === "" ? `?${text}` : `${kept}&${text}`;
    assert.equal(get.url, `${callback.url}${joined}`, query);
    assert.equal(form.url.replace("#x", ""), `${callback.url}${kept}`, query);
  }
});

test("an address of 8,000 characters is sent as it is, and a longer one as a form", () => {
  const room = 8_000 - `${callback.url}?status=`.length;
  const long = (length: number) => [["status", "x".repeat(length)]] as const;

  const fits = writeMessage(callback, { ...asGet, fields: long(room) });
  const tooLong = writeMessage(callback, { ...asGet, fields: long(room + 1) });

  assert.equal(fits.url.length, 8_000);
  assert.equal(fits.method, "GET");
  assert.equal(tooLong.method, "POST");
});

test("an address is measured as it goes out, with everything escaped", () => {
  const url = `https://shop.example/${"€".repeat(900)}`;

  assert.equal(writeMessage({ ...callback, url }, asGet).method, "POST");
  assert.equal(writeMessage({ ...callback, url: url.slice(0, 500) }, asGet).method, "GET");
});

test("a message reports the order's transaction of its serial number, or there is none", () => {
  const order = { transaction: { serialNumber: callback.serialNumber }, earlier: [] };
  const build = makeBuildMessage({
    clock: systemClock,
    getEndpoint: () => assert.fail("no endpoint is needed"),
    secretFor: () => secret,
    sign: () => "",
  });
  const other = asSerialNumber("0195933a-7c48-7000-8000-000000000002");
  const owed = { ...callback, receiver: "", begunAt: now, leaseUntil: now };

  assert.equal(build({ ...owed, serialNumber: other }, order as unknown as Order), undefined);
});

test("a message may go inside where its endpoint may have callbacks in private networks", () => {
  const build = (own: Partial<EndpointSettings>) =>
    makeBuildMessage({
      clock: systemClock,
      secretFor: () => secret,
      sign: () => "",
      getEndpoint: () => ({ settings: { threeDSecure: "off", ...own } }) as Endpoint,
    });
  const order = approved();
  const told = { ...callback, serialNumber: order.transaction.serialNumber };

  assert.equal(build({ privateCallbacks: true })(told, order)?.isPrivate, true);
  assert.equal(build({})(told, order)?.isPrivate, undefined);
});

test("a renewed secret signs beside the old one for a day, or until that is retired", () => {
  const endpoint = { id: asEndpointId("1001"), settings: { threeDSecure: "off" } } as const;
  const renewed = renewSecret(renewSecret(endpoint.settings, now), now);
  const names = (settings: EndpointSettings, at: Instant) =>
    secretNames({ ...endpoint, settings }, at);

  assert.deepEqual(names(endpoint.settings, now), ["webhook/1001"]);
  assert.deepEqual(names(renewSecret(endpoint.settings, now), now), [
    "webhook/1001/1",
    "webhook/1001",
  ]);
  assert.deepEqual(names(renewed, now), ["webhook/1001/2", "webhook/1001/1"]);
  assert.deepEqual(names(renewed, later(now, hours(24))), ["webhook/1001/2"]);
  assert.deepEqual(names(retireOldSecret(renewed), now), ["webhook/1001/2"]);
  assert.equal(oldSecretUntil(renewed), now + hours(24));
  assert.equal(oldSecretUntil(retireOldSecret(renewed)), undefined);
});

test("a URL with macros gets what it names alone, by GET; an order's own URL has none", () => {
  const url = `https://shop.example/told?status=\${status}&mail=\${email}&tel=\${phone}#x`;
  const filled = "https://shop.example/told?status=approved&mail=a%2Bb%40c.example&tel=";
  const ofEndpoint = { ...callback, url, sequence: 10_002 };

  for (const method of ["GET", "POST", "JSON"] as const) {
    const message = writeMessage(ofEndpoint, { ...asGet, method });
    assert.deepEqual([message.method, message.url, message.body], ["GET", filled, ""]);
    assert.deepEqual(message.headers, { "webhook-id": "42000001-10002" });
  }
  assert.ok(writeMessage({ ...ofEndpoint, sequence: 2 }, asGet).url.endsWith(text));
});

test("a URL with macros that becomes too long sends its query as a signed form", () => {
  const url = `https://shop.example/told?data=\${merchantdata}`;
  const fields = [["merchantdata", "é".repeat(9_000)]] as const;

  const message = writeMessage({ ...callback, url, sequence: 10_001 }, { ...asGet, fields });

  assert.deepEqual([message.method, message.url], ["POST", "https://shop.example/told"]);
  assert.equal(new URLSearchParams(message.body).get("data"), fields[0][1]);
  assert.ok(message.headers["webhook-signature"]);
});
