/** Receipt ids lead back to their order, in one installation only, and look like nothing else. */
import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { test } from "node:test";
import { asLinkId, asMerchantId, asOrderId, asReceiptId } from "../values/ids.ts";
import { makeReceiptIds } from "./vault.ts";

const merchantId = asMerchantId("101");

test("a receipt's id leads to its order, and is the same each time", () => {
  const { receiptIdOf, readReceiptId } = makeInstallation();
  for (const id of ["1", "42000001", "9223372036854775807"]) {
    const key = { merchantId, orderId: asOrderId(id) };
    const receipt = receiptIdOf(key);

    assert.match(receipt, /^\d{20,39}$/);
    assert.deepEqual(readReceiptId(receipt), key);
    assert.equal(receiptIdOf(key), receipt);
  }
});

test("neighbours have nothing in common, and another installation reads something else", () => {
  const [here, there] = [makeInstallation(), makeInstallation()];
  const receipts = Array.from({ length: 200 }, (_, index) =>
    here.receiptIdOf({ merchantId, orderId: asOrderId(String(42_000_000 + index)) }),
  );

  assert.equal(new Set(receipts.map((receipt) => receipt.slice(0, 12))).size, 200);
  for (const receipt of receipts) {
    assert.notEqual(there.readReceiptId(receipt)?.merchantId, merchantId);
  }
});

test("ids from before and invented ones belong to no merchant", () => {
  const { readReceiptId } = makeInstallation();
  for (const receipt of ["0", "814660", String(2n ** 128n - 1n)]) {
    assert.notEqual(readReceiptId(asReceiptId(receipt))?.merchantId, merchantId);
  }
  assert.equal(readReceiptId(asReceiptId(String(2n ** 128n))), undefined);
});

test("a payment link's token leads to the link, in one installation only", () => {
  const [here, there] = [makeInstallation(), makeInstallation()];
  const link = { merchantId, id: asLinkId("123456789012345") };
  const token = here.linkTokenOf(link);

  assert.match(token, /^[\w-]{22}$/);
  assert.deepEqual(here.readLinkToken(token), link);
  assert.notDeepEqual(there.readLinkToken(token), link);
  // These are another spelling of the same bytes, a longer token, and the block of a receipt.
  const last = String.fromCharCode(token.charCodeAt(21) + 1);
  for (const other of [token.slice(0, 21) + last, `${token}A`, token.slice(1), "", "qr.svg"]) {
    assert.equal(here.readLinkToken(other), undefined);
  }
  const receipt = here.receiptIdOf({ merchantId, orderId: asOrderId(link.id) });
  const block = Buffer.from(BigInt(receipt).toString(16).padStart(32, "0"), "hex");
  assert.notDeepEqual(here.readLinkToken(block.toString("base64url")), link);
});

function makeInstallation() {
  const own = new Map(
    (["receipts", "links"] as const).map((purpose) => [purpose, createSecretKey(randomBytes(32))]),
  );
  return makeReceiptIds({
    current: (purpose) => ({ id: 1, key: own.get(purpose as "links") ?? assert.fail() }),
  });
}
