/** The values that a payload may have, field by field, and how it is read again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readPayload, WalletFault, writePayload } from "./index.ts";
import { networkToken, now, payload } from "./samples.ts";

test("a payload is read as it was written, under the names of either version", () => {
  const { gatewayMerchantId, assuranceDetails, ...plain } = payload;
  const { eciIndicator, ...withoutEci } = networkToken;
  for (const one of [payload, plain, networkToken, withoutEci]) {
    for (const version of ["ECv1", "ECv2"] as const) {
      assert.deepEqual(readPayload(writePayload(one, version), { now, version }), one);
    }
  }
});

test("the payload of the interface, decrypted by the merchant, is read", () => {
  const text =
    '{"messageExpiration":"1794733200000","messageId":"id","paymentMethod":"CARD",' +
    '"paymentMethodDetails":{"expirationYear":2030,"expirationMonth":1,' +
    '"pan":"4111111111111111","authMethod":"PAN_ONLY"}}';
  assert.deepEqual(readPayload(text, { now }), {
    messageId: "id",
    messageExpiration: 1_794_733_200_000,
    pan: "4111111111111111",
    expirationMonth: 1,
    expirationYear: 2030,
    authMethod: "PAN_ONLY",
  });
  assert.deepEqual(
    readPayload(text, { now: 1_794_733_200_000 }),
    new WalletFault("expired_message"),
  );
});

test("the older names become the newer ones", () => {
  const text = writePayload(networkToken, "ECv1");
  const fields = JSON.parse(text);
  const { dpan, "3dsCryptogram": cryptogram, authMethod } = fields.paymentMethodDetails;
  assert.equal(fields.paymentMethod, "TOKENIZED_CARD");
  assert.deepEqual(
    [dpan, cryptogram, authMethod],
    [networkToken.pan, networkToken.cryptogram, "3DS"],
  );
  assert.deepEqual(readPayload(text, { now }), networkToken);
});

test("a card of ECv1 may omit how it was authenticated, others may not", () => {
  const fields = JSON.parse(writePayload(payload));
  delete fields.paymentMethodDetails.authMethod;
  const text = JSON.stringify(fields);

  assert.deepEqual(readPayload(text, { now, version: "ECv1" }), payload);
  const refused = new WalletFault("bad_payload", "paymentMethodDetails.authMethod");
  assert.deepEqual(readPayload(text, { now }), refused);
});

test("an indicator of one digit gets a leading zero, and an absent one stays absent", () => {
  // biome-ignore format: a table
  const indicators = [["5", "05"], ["7", "07"], ["02", "02"], ["", undefined], [null, undefined], [undefined, undefined]];
  for (const [written, expected] of indicators) {
    const text = change(networkToken, "paymentMethodDetails.eciIndicator", written);
    const read = readPayload(text, { now });
    assert.ok(!(read instanceof WalletFault));
    assert.equal(read.eciIndicator, expected);
  }
});

test("unknown fields and null values are ignored", () => {
  const { gatewayMerchantId, assuranceDetails, ...expected } = payload;
  const fields = JSON.parse(writePayload(payload));
  const details = { ...fields.paymentMethodDetails, cryptogram: null, assuranceDetails: null };
  const text = JSON.stringify({
    ...fields,
    gatewayMerchantId: null,
    more: [{ deep: 1 }],
    paymentMethodDetails: { ...details, eciIndicator: "", cardNetwork: "VISA" },
  });
  assert.deepEqual(readPayload(text, { now }), expected);
});

// biome-ignore format: a table
const wrong: readonly (readonly [field: string, values: readonly unknown[]])[] = [
  ["messageId",                            [undefined, null, 7, "", " ", "a\u0000b", "a\nb", "x".repeat(257)]],
  ["messageExpiration",                    [undefined, null, now * 2, "", "soon", "1e15", "-1", " 1", "9".repeat(16)]],
  ["gatewayMerchantId",                    [7, "", {}, "a\nb"]],
  ["paymentMethod",                        [undefined, "card", "CASH", 1, "TOKENIZED"]],
  ["paymentMethodDetails",                 [undefined, null, "text", []]],
  ["paymentMethodDetails.pan",             [undefined, null, 4111111111111111, "4111 1111 1111 1111", "41111111111", "4".repeat(20)]],
  ["paymentMethodDetails.expirationMonth", [undefined, "12", 0, 13, 1.5, true]],
  ["paymentMethodDetails.expirationYear",  [undefined, "2030", 30, 1999, 2100, 2030.5]],
  ["paymentMethodDetails.authMethod",      [undefined, "3DS", "pan_only", 1]],
  ["paymentMethodDetails.eciIndicator",    [5, "005", "x", true]],
  ["paymentMethodDetails.cryptogram",      [undefined, null, 1, "", "AAA", "AA-_", "AB==", "AAB=", "A".repeat(132)]],
  ["paymentMethodDetails.assuranceDetails", [true, "yes", []]],
  ["paymentMethodDetails.assuranceDetails.accountVerified", ["true", 1]],
];

test("a field of another type or form is refused by its name", () => {
  for (const [field, values] of wrong) {
    for (const value of values) {
      const read = readPayload(change(networkToken, field, value), { now });
      const label = `${field} ${JSON.stringify(value)}`;
      assert.deepEqual(read, new WalletFault("bad_payload", field), label);
    }
  }
});

test("a card number alone must not look authenticated", () => {
  for (const [name, value] of [
    ["cryptogram", networkToken.cryptogram],
    ["eciIndicator", "05"],
  ]) {
    const field = `paymentMethodDetails.${name}`;
    const read = readPayload(change(payload, field, value), { now });
    assert.deepEqual(read, new WalletFault("bad_payload", field));
  }
});

test("text that is no payload at all is refused", () => {
  const read = (text: string) => readPayload(text, { now });
  assert.deepEqual(read(JSON.stringify(writePayload(payload))), new WalletFault("encoded_twice"));
  assert.deepEqual(read("plaintext"), new WalletFault("not_json"));
  assert.deepEqual(read("[]"), new WalletFault("wrong_fields"));
  assert.deepEqual(read(`{"pan":1,"pan":2}`), new WalletFault("wrong_fields"));
});

function change(one: typeof payload, path: string, value: unknown): string {
  const fields = JSON.parse(writePayload(one));
  const names = path.split(".");
  const last = names.pop() ?? "";
  const place = names.reduce((inside, name) => inside[name], fields);
  place[last] = value;
  return JSON.stringify(fields);
}
