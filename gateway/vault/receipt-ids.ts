/**
 * The ids of receipts. Everyone who has a receipt's id may see it, so it cannot be guessed: it is
 * merchant and order as one block of AES, under a key derived from one that is never replaced. A
 * receipt is then found by its order, without an index that every approval would have to change.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import {
  asMerchantId,
  asOrderId,
  asReceiptId,
  type MerchantId,
  type OrderId,
  type ReceiptId,
} from "../values/ids.ts";
import type { Keys } from "./keys.ts";

// One block is a permutation: no two orders have the same receipt.
const algorithm = "aes-128-ecb";
const keyBytes = 16;
const receiptMax = 2n ** 128n;

type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };

export function makeReceiptIds(keys: Pick<Keys, "current">) {
  let derived: Uint8Array | undefined;
  return {
    receiptIdOf({ merchantId, orderId }: OrderKey): ReceiptId {
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(merchantId));
      block.writeBigUInt64BE(BigInt(orderId), 8);
      const cipher = createCipheriv(algorithm, getKey(), null).setAutoPadding(false);
      return asReceiptId(BigInt(`0x${cipher.update(block, undefined, "hex")}`).toString());
    },

    /** Any number has an order behind it; a merchant's own is right by chance once in 2^64. */
    readReceiptId(receipt: ReceiptId): OrderKey | undefined {
      const number = BigInt(receipt);
      if (number >= receiptMax) return undefined;
      const decipher = createDecipheriv(algorithm, getKey(), null).setAutoPadding(false);
      const block = decipher.update(Buffer.from(number.toString(16).padStart(32, "0"), "hex"));
      const [merchant, order] = [block.readBigUInt64BE(), block.readBigUInt64BE(8)];
      return { merchantId: asMerchantId(String(merchant)), orderId: asOrderId(String(order)) };
    },
  };

  function getKey(): Uint8Array {
    const { key } = keys.current("fingerprints");
    derived ??= new Uint8Array(hkdfSync("sha256", key, "", "receipt ids", keyBytes));
    return derived;
  }
}
