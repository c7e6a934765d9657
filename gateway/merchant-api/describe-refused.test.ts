/** A stored refused request contains no secret, wherever the merchant wrote it. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { writeForm } from "@tollgate/protocols/form";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import { describeRefused } from "./describe-refused.ts";
import type { CalledParts } from "./operation.ts";
import { sale } from "./operations/payments.ts";
import { updateRecurringPayment } from "./operations/profiles.ts";
import { entryPoint } from "./testing.ts";

const card = "4111111111111111";
const token = `{"data":"${"x7Fq".repeat(40)}","signature":"abc"}`;
const key = "top-secret-key";
// The rules between fields need nothing else.
const services = { findAddressFault: () => undefined } as unknown as CalledParts;

type Pairs = readonly (readonly [string, string])[];

function describe(
  pairs: Pairs,
  authorization?: string,
  target = "/gw/api/v4/sale/1001",
  operation = sale,
) {
  const version = authorization === undefined ? "v2" : "v4";
  return describeRefused(
    {
      operation,
      version,
      services,
      at: asInstant(1),
      from: "203.0.113.7",
      call: {
        id: "1001",
        contentType: undefined,
        body: Buffer.from(writeForm(pairs)),
        method: "POST",
        target,
        port: 80,
        authorization,
        serialNumber: asSerialNumber("0195933a-7c48-7000-8000-000000000001"),
      },
      outcome: { answer: new Failure("control_mismatch"), entryPoint, authenticated: false },
    },
    { idsOf: () => [], otherKeys: () => [], baseUrlOf: () => "https://pay.example" },
  );
}

test("a card number, a token and the key are kept in no field, whatever its name", () => {
  const names = [...Object.keys(sale.request), "unknown", "cvv", card, `x${token}`, key];

  for (const secret of [card, token, key, Buffer.from(token).toString("base64")]) {
    const kept = JSON.stringify(describe(names.map((name) => [name, secret])));
    for (const each of [card, token.slice(0, 40), token.slice(100, 140), key]) {
      assert.ok(!kept.includes(each) && !kept.includes(JSON.stringify(each).slice(1, -1)), each);
    }
    const encoded = Buffer.from(token).toString("base64");
    assert.ok(!kept.includes(encoded.slice(0, 40)));
  }
  const signed = hash("sha1", `1001${card}${key}`, "hex");
  const money = [
    ["amount", card],
    ["currency", "USD"],
    ["control", signed],
  ] as const;
  assert.ok(!JSON.stringify(describe(money)).includes(card));
});

test("verification values, names and addresses are a length", () => {
  const { fields } = describe([
    ...([
      ["cvv2", "123"],
      ["first_name", "Ann"],
      ["address1", "1 Road"],
    ] as const),
    ...([
      ["card_printed_name", "ANN"],
      ["merchant_data", "m"],
      ["birthday", "19700101"],
    ] as const),
  ]);

  assert.deepEqual(
    fields.map(({ value }) => value),
    fields.map(() => undefined),
  );
  assert.deepEqual(fields[0], { name: "cvv2", length: 3, isDigits: true });
});

test("signed values, words and addresses without their query are shown", () => {
  const { fields } = describe([
    ...([
      ["client_orderid", "cup 7"],
      ["amount", "10,4"],
      ["currency", "USD"],
    ] as const),
    ...([
      ["country", "Atlantis"],
      ["redirect_url", "https://a:b@shop.example/x?token=1"],
    ] as const),
  ]);

  assert.deepEqual(
    fields.map(({ value }) => value),
    ["cup 7", "10,4", "USD", undefined, "https://shop.example/…"],
  );
});

test("the spelling of a name with hyphens shows and hides the same values", () => {
  const pairs = [
    ["client-orderid", "cup 7"],
    ["credit-card-number", card],
    ["card-printed-name", "ANN"],
    ["amount", "4.99"],
  ] as const;
  const { fields } = describe(pairs, "OAuth", undefined, updateRecurringPayment);
  const { fields: ofSale } = describe([["client-orderid", "cup 7"]]);

  assert.deepEqual(
    fields.map(({ name }) => name),
    pairs.map(([name]) => name),
  );
  assert.deepEqual(
    [...fields, ...ofSale].map(({ value }) => value),
    ["cup 7", undefined, undefined, "4.99", undefined],
  );
});

test("every fault is told once, also those behind the wrong checksum", () => {
  const { faults } = describe([
    ["amount", "10,4"],
    ["currency", "USD"],
    ["email", "nowhere"],
  ]);

  assert.equal(faults[0], "INVALID_CONTROL_CODE");
  assert.equal(new Set(faults).size, faults.length);
  for (const name of ["client_orderid", "amount", "email", "ipaddress", "city"]) {
    assert.ok(
      faults.some((fault) => fault.includes(name)),
      name,
    );
  }
});

test("a request is kept within 8 KB, whatever it has", () => {
  const many = Array.from({ length: 5_000 }, (_, n) => [`field_${n}`, "y".repeat(90)] as const);
  const long = Object.keys(sale.request).map((name) => [name, "z".repeat(64)] as const);

  assert.ok(JSON.stringify(describe(many)).length < 8_192);
  assert.ok(JSON.stringify(describe(long)).length < 8_192);
});

function oauthHeader(given: Readonly<Record<string, string>> = {}): string {
  const values = {
    oauth_consumer_key: "acme",
    oauth_nonce: "n-1",
    oauth_signature: "c2lnbmVk",
    oauth_signature_method: "RSA-SHA256",
    oauth_timestamp: "1794700800",
    oauth_version: "1.0",
    ...given,
  };
  const parts = Object.entries(values).map(
    ([name, value]) => `${encodeURIComponent(name)}="${encodeURIComponent(value)}"`,
  );
  return `OAuth ${parts.join(", ")}`;
}

test("of a request with OAuth, the text that its signature covers is kept without secrets", () => {
  const sent = [
    ["client_orderid", "invoice-1"],
    ["credit_card_number", card],
  ] as const;

  assert.equal(
    describe(sent, oauthHeader()).base,
    "POST&https%3A%2F%2Fpay.example%2Fgw%2Fapi%2Fv4%2Fsale%2F1001&client_orderid%3Dinvoice-1" +
      "%26credit_card_number%3DMASKED%26oauth_consumer_key%3Dacme%26oauth_nonce%3Dn-1" +
      "%26oauth_signature_method%3DRSA-SHA256%26oauth_timestamp%3D1794700800%26oauth_version%3D1.0",
  );
  assert.equal(describe(sent, "Bearer x").base, undefined);
  for (const secret of [card, key, token]) {
    const places = [{ oauth_nonce: secret }, { oauth_consumer_key: secret }, { [secret]: "x" }];
    for (const place of places) {
      const target = `/gw/${secret}?${secret}=${secret}`;
      const { base = "" } = describe([[secret, secret]], oauthHeader({ ...place }), target);
      assert.ok(!decodeURIComponent(decodeURIComponent(base)).includes(secret), base);
    }
  }
});
