/** The values that a payload may have, field by field, and how it is read again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { expiryOf, type Payload, readPayload, WalletFault, writePayload } from "./index.ts";
import { payload } from "./samples.ts";

test("a payload is read as it was written, of either type", () => {
  const { cardholderName, deviceManufacturerIdentifier, ...plain } = payload;
  const { applicationExpirationDate, applicationPrimaryAccountNumber } = payload;
  const emv: Payload = {
    applicationPrimaryAccountNumber,
    applicationExpirationDate,
    currencyCode: "156",
    transactionAmount: 0,
    paymentDataType: "EMV",
    emvData: "nyYI",
    encryptedPINData: "0aFF",
  };
  for (const one of [payload, { ...plain }, { ...plain, transactionAmount: 0 }, emv]) {
    assert.deepEqual(readPayload(writePayload(one)), one);
  }
});

test("the year is first in the expiry, and the day last", () => {
  const read = readPayload(writePayload({ ...payload, applicationExpirationDate: "241130" }));
  assert.ok(!(read instanceof WalletFault));
  assert.deepEqual(expiryOf(read), { year: 2024, month: 11 });
});

test("an indicator of one digit gets a leading zero, and an absent one stays absent", () => {
  // biome-ignore format: a table
  const indicators = [["5", "05"], ["7", "07"], ["02", "02"], ["", undefined], [null, undefined], [undefined, undefined]];
  for (const [written, read] of indicators) {
    const found = readPayload(
      change((fields) => (fields["paymentData"]["eciIndicator"] = written)),
    );
    assert.ok(!(found instanceof WalletFault) && found.paymentDataType === "3DSecure");
    assert.equal(found.eciIndicator, read);
  }
});

test("unknown fields and null values are ignored", () => {
  const text = change((fields) => {
    fields["merchantTokenIdentifier"] = { deep: [1] };
    fields["cardholderName"] = null;
    fields["deviceManufacturerIdentifier"] = null;
  });
  const { cardholderName, deviceManufacturerIdentifier, ...expected } = payload;
  assert.deepEqual(readPayload(text), expected);
});

// biome-ignore format: a table
const wrong: readonly (readonly [field: string, values: readonly unknown[]])[] = [
  ["applicationPrimaryAccountNumber", [undefined, null, 4111111111111111, "4111 1111 1111 1111", "41111111111", "4".repeat(20), "٤١١١١١١١١١١١١١١١"]],
  ["applicationExpirationDate",       [undefined, 301231, "3012", "303112", "20301231", "301200", "301232", "300012"]],
  ["currencyCode",                    [undefined, 978, "EUR", "97", "0978"]],
  ["transactionAmount",               [undefined, "1050", 10.5, -1, 1e20, true]],
  ["cardholderName",                  [1, "A\u0000B", "A\nB", "\ud800", "A".repeat(129)]],
  ["deviceManufacturerIdentifier",    [1, "", "xyz"]],
  ["paymentDataType",                 [undefined, "3dsecure", "PAN_ONLY", 3]],
  ["paymentData",                     [undefined, null, "text", []]],
  ["paymentData.onlinePaymentCryptogram", [undefined, null, 1, "", "AAA", "A===", "AA-_", "AAAA\n", "AB==", "AAB=", "A".repeat(132)]],
  ["paymentData.eciIndicator",        [5, "005", "x", " 5", true]],
];

test("a field of another type or form is refused by its name", () => {
  for (const [field, values] of wrong) {
    for (const value of values) {
      const text = change((fields) => {
        const [outer = "", inner] = field.split(".");
        if (inner === undefined) fields[outer] = value;
        else fields[outer][inner] = value;
      });
      const label = `${field} ${JSON.stringify(value)}`;
      assert.deepEqual(readPayload(text), new WalletFault("bad_payload", field), label);
    }
  }
});

test("text that is no payload at all is refused", () => {
  const twice = JSON.stringify(writePayload(payload));
  assert.deepEqual(readPayload(twice), new WalletFault("encoded_twice"));
  assert.deepEqual(readPayload("plaintext"), new WalletFault("not_json"));
  assert.deepEqual(readPayload("[]"), new WalletFault("wrong_fields"));
});

function change(edit: (fields: ReturnType<typeof JSON.parse>) => void): string {
  const fields = JSON.parse(writePayload(payload));
  edit(fields);
  return JSON.stringify(fields);
}
