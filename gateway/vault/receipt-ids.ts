/**
 * The ids of receipts. Everyone who has a receipt's id may see it, so it cannot be guessed: it is
 * merchant and order as one block of AES, under a key derived from one that is never replaced. A
 * receipt is then found by its order, without an index that every approval would have to change.
 */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject } from "node:crypto";
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
  let ciphers: ReturnType<typeof makeCiphers> | undefined;
  return {
    receiptIdOf({ merchantId, orderId }: OrderKey): ReceiptId {
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(merchantId));
      block.writeBigUInt64BE(BigInt(orderId), 8);
      const sealed = getCiphers().cipher.update(block);
      return asReceiptId(BigInt(`0x${sealed.toString("hex")}`).toString());
    },

    /** Any number has an order behind it; a merchant's own is right by chance once in 2^64. */
    readReceiptId(receipt: ReceiptId): OrderKey | undefined {
      const number = BigInt(receipt);
      if (number >= receiptMax) return undefined;
      const sealed = Buffer.from(number.toString(16).padStart(32, "0"), "hex");
      const block = getCiphers().decipher.update(sealed);
      const [merchant, order] = [block.readBigUInt64BE(), block.readBigUInt64BE(8)];
      return { merchantId: asMerchantId(String(merchant)), orderId: asOrderId(String(order)) };
    },
  };

  function getCiphers() {
    ciphers ??= makeCiphers(keys.current("fingerprints").key);
    return ciphers;
  }
}

/** Made once: a block does not depend on the blocks before it, and none is ever padded. */
function makeCiphers(fingerprints: KeyObject) {
  const key = new Uint8Array(hkdfSync("sha256", fingerprints, "", "receipt ids", keyBytes));
  return {
    cipher: createCipheriv(algorithm, key, null).setAutoPadding(false),
    decipher: createDecipheriv(algorithm, key, null).setAutoPadding(false),
  };
}
