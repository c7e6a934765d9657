/**
 * Everything that can be wrong with a request, how it is refused, and that nothing is stored for
 * it.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { saleFields } from "../support/merchant.ts";
import { joinWorld } from "../support/shared-world.ts";
import { formOf, post, sha1, signedSale, signedStatus } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

type Change = Readonly<Record<string, string | undefined>>;

// biome-ignore format: a table
const badSales: readonly (readonly [change: Change, code: number, message: RegExp])[] = [
  [{ order_desc: undefined },                4,  /^MISSING_PARAMETER: order_desc$/],
  [{ order_desc: "   " },                    4,  /^MISSING_PARAMETER: order_desc$/],
  [{ ipaddress: undefined },                 4,  /ipaddress/],
  [{ address1: undefined },                  4,  /address1/],
  [{ phone: undefined },                     4,  /phone/],
  [{ ipaddress: "300.1.1.1" },               5,  /^INVALID_PARAMETER: ipaddress: not an IP address$/],
  [{ ipaddress: "fe80::1%eth0" },            5,  /ipaddress/],
  [{ country: "XX" },                        5,  /country/],
  [{ country: "us" },                        5,  /country/],
  [{ state: undefined },                     4,  /^MISSING_PARAMETER: state$/],
  [{ state: "ZZ" },                          5,  /state/],
  [{ country: "CA", state: "IL" },           5,  /state/],
  [{ phone: "x".repeat(16) },                5,  /phone: longer than 15/],
  [{ phone: "a\u0007b" },                    5,  /phone: control characters/],
  [{ zip_code: "12345678901" },              5,  /zip_code: longer than 10/],
  [{ credit_card_number: undefined },        4,  /credit_card_number/],
  [{ credit_card_number: "4111111111111112" }, 5, /check digit/],
  [{ credit_card_number: "41111111111" },    5,  /credit_card_number/],
  [{ cardNumber: "5200000000000015" },       5,  /cardNumber: not the same/],
  [{ card_printed_name: undefined },         4,  /card_printed_name/],
  [{ expire_month: "13" },                   5,  /expire_month/],
  [{ expire_year: "203" },                   5,  /expire_year/],
  [{ expire_year: "20" },                    5,  /expired/],
  [{ expire_year: undefined },               4,  /expire_year/],
  [{ cvv2: undefined },                      4,  /cvv2/],
  [{ cvv2: "12" },                           5,  /cvv2/],
  [{ cvv2: "12a" },                          5,  /cvv2/],
  [{ client_orderid: "order 4111 1111-1111.1111" }, 5, /^INVALID_PARAMETER: client_orderid: contains the card number$/],
  [{ notify_url: "https://x.example/?c=%34111%2D1111+1111%201111" }, 5, /notify_url: contains the card number/],
  [{ server_callback_url: "ftp://x.example/" }, 5, /server_callback_url/],
  [{ server_callback_url: "//x.example/" },  5,  /server_callback_url/],
  [{ redirect_url: "javascript:alert(1)" },  5,  /redirect_url/],
  [{ site_url: "x".repeat(129) },            5,  /site_url/],
  [{ first_name: "a\u0000b" },               5,  /first_name: control characters/],
  [{ order_desc: "a\u0007b" },               5,  /order_desc/],
  [{ merchant_data: "x".repeat(65_537) },    5,  /merchant_data/],
  [{ customer_browser_info: "true" },        4,  /customer_browser_color_depth/],
  [{ customer_browser_info: "yes" },         5,  /customer_browser_info/],
  [{ transaction_channel: "PHONE" },         5,  /transaction_channel/],
  [{ three_ds_preference: "05" },            5,  /three_ds_preference/],
  [{ sca_exemption: "small" },               5,  /sca_exemption/],
  [{ sca_exemption: "tra", transaction_channel: "MOTO" }, 5, /^INVALID_PARAMETER: sca_exemption: not with MOTO$/],
  [{ sca_exemption: "tra", three_ds_preference: "challenge" }, 5, /sca_exemption: not with a wish for a challenge/],
];

test("a field that is missing or malformed is named, and nothing is stored", async (t) => {
  const world = await startWorld(t);
  for (const [change, code, message] of badSales) {
    const { type, "error-code": number, "error-message": text } = await trySale(world, change);

    assert.equal(type, "validation-error", JSON.stringify(change));
    assert.equal(number, String(code), `${JSON.stringify(change)} ${text}`);
    assert.match(text ?? "", message);
  }
  assert.equal((await world.installation.database.query("select id from orders")).length, 0);
});

// biome-ignore format: a table
const badSigned: readonly (readonly [change: Change, code: number, minorUnits?: string])[] = [
  [{ amount: undefined },               4],
  [{ amount: "1e3" },                   5],
  [{ amount: ".5" },                    5],
  [{ amount: "5." },                    5],
  [{ amount: "-5" },                    5],
  [{ amount: "+5" },                    5],
  [{ amount: "5,00" },                  5],
  [{ amount: "10.155" },                5],
  [{ amount: "12345678901" },           5],
  [{ amount: "0" },                     11, "0"],
  [{ amount: "0.00" },                  11, "0"],
  [{ currency: undefined },             4],
  [{ currency: "usd" },                 5],
  [{ currency: "XYZ" },                 5],
  [{ currency: "EUR" },                 10],
  [{ client_orderid: undefined },       4],
  [{ client_orderid: "x".repeat(129) }, 5],
  [{ email: undefined },                4],
  [{ email: "jane" },                   5],
  [{ email: `${"x".repeat(45)}@x.example` }, 5],
  [{ login: "somebody" },               2],
  [{ amount: "10.16" },                 2],
];

test("values that the checksum needs are checked before it, all others after", async (t) => {
  const world = await joinWorld(t);
  for (const [change, code, minorUnits] of badSigned) {
    const { "error-code": number } = await trySale(world, change, minorUnits);
    assert.equal(number, String(code), JSON.stringify(change));
  }
  // If both are wrong, the signed value is refused first, then the checksum, then all other fields.
  const both = await trySale(world, { amount: "x", order_desc: undefined });
  assert.match(both["error-message"] ?? "", /amount/);
  const unsigned = await trySale(world, { order_desc: undefined, amount: "10.16" });
  assert.equal(unsigned["error-code"], "2");
});

test("lengths count characters, not bytes or UTF-16 units", async (t) => {
  const world = await joinWorld(t);
  const fine = await trySale(world, { first_name: "😀".repeat(50) });
  const long = await trySale(world, { first_name: "😀".repeat(51) });

  assert.equal(fine["type"], "async-response");
  assert.equal(long["error-code"], "5");
});

test("a body that cannot be read is refused before anything else", async (t) => {
  const world = await joinWorld(t);
  const path = `/gw/api/v2/sale/${plain(world)}`;
  const good = signedSale(world, plain(world), saleFields());

  // biome-ignore format: a table
  const bodies: readonly (readonly [body: string | Uint8Array, headers: Record<string, string>])[] = [
    [`${good}&amount=10.15`,                       {}],
    [`${good}&unknown=1&unknown=2`,                {}],
    ["amount=%zz",                                 {}],
    ["amount=%",                                   {}],
    ["amount=%C0%AF",                              {}],
    [Buffer.from([0x61, 0x3d, 0xff, 0xfe]),        {}],
    [good,                                         { "content-type": "application/json" }],
    [good,                                         { "content-type": "multipart/form-data; boundary=x" }],
    [good,                                         { "content-type": "form" }],
    [good,                                         { "content-type": ";" }],
    [good,                                         { "content-type": "application/x-www-form-urlencoded, text/plain" }],
    [good,                                         { "content-type": "application/x-www-form-urlencodedx" }],
    [good,                                         { "content-type": "a".repeat(8_000) }],
  ];
  for (const [body, headers] of bodies) {
    const answer = await post(world, path, body, headers);
    const reply = read(answer);
    assert.equal(answer.status, 200);
    assert.equal(reply["error-code"], "1", String(body).slice(-40));
    assert.equal(reply["type"], "validation-error");
  }
});

// biome-ignore format: a table
const personal: readonly (readonly [change: Change, kept: string | undefined])[] = [
  [{ birthday: "900131" },                  "900131"],
  [{ birthday: "19900131" },                "19900131"],
  [{ birthday: "1990" },                    undefined],
  [{ birthday: "1990-01-31" },              undefined],
  [{ birthday: "31. January 1990" },        undefined],
  [{ birthday: "\u0007" },                  undefined],
  [{ ssn: "078-05-1120" },                  undefined],
  [{ ssn: "x".repeat(33) },                 undefined],
  [{ cell_phone: "+1 (555) 0100 ext. 42" }, undefined],
  [{ phone: "555/0100 *7 №" },              undefined],
];

test("optional personal data is stored if it is valid, and never refuses a sale", async (t) => {
  const world = await startWorld(t);
  for (const [change, kept] of personal) {
    const reply = await trySale(world, change);
    assert.equal(reply["type"], "async-response", JSON.stringify(change));
    const [row] = await world.installation.database.query<{ birthday: string | null }>(
      "select facts #>> '{purchase,customer,birthday}' as birthday from orders where id = $1",
      [reply["gw-order-id"]],
    );
    assert.equal(row?.birthday ?? undefined, kept, JSON.stringify(change));
  }
});

test("the reply is a form unless the Accept headers prefer JSON", async (t) => {
  const world = await joinWorld(t);
  const path = `/gw/api/v2/status/${plain(world)}`;
  const body = signedStatus(world, { client_orderid: "nothing" });
  // biome-ignore format: a table
  const wishes: readonly (readonly [accept: readonly string[], type: RegExp])[] = [
    [["application/json"],                        /^application\/json/],
    [["application/json, text/plain, */*"],       /^text\/html/],
    [["application/json", "*/*"],                 /^text\/html/],
    [["text/html;q=0.5", "application/json"],     /^application\/json/],
    [["application/vnd.pay+json", "text/html"],   /^application\/json/],
    [["application/json;q=0"],                    /^text\/html/],
  ];
  for (const [accept, type] of wishes) {
    const lines = accept.map((each) => `Accept: ${each}\r\n`).join("");
    const reply = await sendRaw(
      world,
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.match(reply, /^HTTP\/1.1 200 /);
    assert.match(/content-type: (.*)/i.exec(reply)?.[1] ?? "", type, accept.join(" and "));
  }
});

test("unknown fields are ignored and white space around values is dropped", async (t) => {
  const world = await joinWorld(t);
  const fields = saleFields({ client_orderid: "trim" });
  const control = sha1(`${plain(world)}trim1015${fields.email}${world.set.controlKey}`);
  const padded = { ...fields, client_orderid: "  trim ", amount: " 10.15\t", colour: "blue" };

  const body = formOf({ ...padded, control: ` ${control.toUpperCase()} ` });
  const reply = read(await post(world, `/gw/api/v2/sale/${plain(world)}`, body));

  assert.equal(reply["type"], "async-response");
  assert.equal(reply["merchant-order-id"], "trim");
});

test("paths, methods and sizes have HTTP answers of their own", async (t) => {
  const world = await joinWorld(t, { GW_BODY_BYTES_MAX: "5000" });
  const { url } = world.gateway;
  const path = `/gw/api/v2/sale/${plain(world)}`;

  for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"]) {
    const answer = await fetch(url + path, { method });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.get("allow"), "POST");
  }
  const unknown = await post(world, "/gw/api/v2/nothing/1", "a=1");
  const large = await post(world, path, `a=${"x".repeat(6000)}`);
  const endpoint = read(await post(world, "/gw/api/v2/sale/999999", "a=1"));
  const text = read(await post(world, "/gw/api/v2/sale/abc", "a=1"));
  const group = read(await post(world, `/gw/api/v2/sale/group/${plain(world)}`, "a=1"));

  assert.equal(unknown.status, 404);
  assert.match(unknown.text, /^type=validation-error&serial-number=/);
  assert.equal(large.status, 413);
  for (const reply of [endpoint, text, group]) assert.equal(reply["error-code"], "3");
});

test("a merchant over its rate limit has to wait, and others do not", async (t) => {
  const world = await joinWorld(t, { GW_RATE_STATUS_PER_S: "3" });
  const body = signedStatus(world, { client_orderid: "nothing" });
  const path = `/gw/api/v2/status/${plain(world)}`;

  const codes = [];
  for (let count = 0; count < 5; count += 1) codes.push((await post(world, path, body)).status);
  const wrong = await post(world, path, body.replace(/control=.*/, `control=${"0".repeat(40)}`));
  const limited = await post(world, path, body);
  world.clock.advance(1_000);
  const later = await post(world, path, body);

  assert.deepEqual(codes, [200, 200, 200, 429, 429]);
  assert.equal(read(wrong)["error-code"], "2");
  assert.equal(limited.headers.get("retry-after"), "1");
  assert.equal(read(limited)["error-code"], "12");
  assert.equal(later.status, 200);
});

test("a request that is not HTTP does not disturb the others", async (t) => {
  const world = await joinWorld(t);
  const socket = connect(world.gateway.port, "127.0.0.1");
  socket.end("\u0016\u0003\u0001 hello\r\n\r\n");
  await new Promise((done) => socket.on("close", done).on("error", done).resume());

  const reply = await trySale(world, {});
  assert.equal(reply["type"], "async-response");
});

/** Sends several headers of one name, which `fetch` would join. */
async function sendRaw(world: World, request: string): Promise<string> {
  const socket = connect(world.gateway.port, "127.0.0.1").setEncoding("utf8");
  socket.write(request);
  let reply = "";
  for await (const chunk of socket) reply += chunk;
  return reply;
}

function plain(world: World): string {
  return world.set.endpoints["plain"] ?? "";
}

async function trySale(world: World, change: Change, minorUnits = "1015") {
  const body = signedSale(world, plain(world), saleFields(change), minorUnits);
  const reply = await post(world, `/gw/api/v2/sale/${plain(world)}`, body);
  assert.equal(reply.status, 200);
  return read(reply);
}

function read({ text }: { readonly text: string }): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}
