/**
 * The ids of receipts and the tokens of payment links. Everyone who has one may see the receipt, or
 * pay, so it cannot be guessed: it is merchant and order, or link, as one block of AES, under a key
 * of its own that is never replaced. A receipt is then found by its order, without an index
 * that every approval would have to change, and a printed link is valid for ever.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";
import {
  asLinkId,
  asMerchantId,
  asOrderId,
  asReceiptId,
  type LinkId,
  type MerchantId,
  type OrderId,
  type ReceiptId,
} from "../values/ids.ts";
import type { Keys } from "./keys.ts";
import { blockKeyBytes } from "./seal.ts";

// One block is a permutation: no two orders have the same receipt.
const algorithm = "aes-128-ecb";
const receiptMax = 2n ** 128n;
const linkTokenForm = /^[A-Za-z0-9_-]{21}[AQgw]$/;

type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };
type LinkKey = { readonly merchantId: MerchantId; readonly id: LinkId };

export function makeReceiptIds(keys: Pick<Keys, "current">) {
  const receipts = makeBlocks(keys, "receipts");
  const links = makeBlocks(keys, "links");
  return {
    receiptIdOf({ merchantId, orderId }: OrderKey): ReceiptId {
      const sealed = receipts.seal(merchantId, orderId);
      return asReceiptId(BigInt(`0x${sealed.toString("hex")}`).toString());
    },

    /** Any number has an order behind it; a merchant's own is right by chance once in 2^64. */
    readReceiptId(receipt: ReceiptId): OrderKey | undefined {
      const number = BigInt(receipt);
      if (number >= receiptMax) return undefined;
      const sealed = Buffer.from(number.toString(16).padStart(32, "0"), "hex");
      const [merchant, order] = receipts.open(sealed);
      return { merchantId: asMerchantId(merchant), orderId: asOrderId(order) };
    },

    linkTokenOf: ({ merchantId, id }: LinkKey) => links.seal(merchantId, id).toString("base64url"),

    /** An invented token names a link that does not exist. */
    readLinkToken(token: string): LinkKey | undefined {
      if (!linkTokenForm.test(token)) return undefined;
      const [merchant, id] = links.open(Buffer.from(token, "base64url"));
      const isStorable = [merchant, id].every((number) => BigInt(number) < 2n ** 63n);
      return isStorable ? { merchantId: asMerchantId(merchant), id: asLinkId(id) } : undefined;
    },
  };
}

/** Two numbers as one block. */
function makeBlocks(keys: Pick<Keys, "current">, purpose: "receipts" | "links") {
  let ciphers: ReturnType<typeof makeCiphers> | undefined;
  const getCiphers = () => (ciphers ??= makeCiphers(keys.current(purpose).key));
  return {
    seal(first: string, second: string): Buffer {
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(first));
      block.writeBigUInt64BE(BigInt(second), 8);
      return getCiphers().cipher.update(block);
    },
    open(sealed: Uint8Array): readonly [first: string, second: string] {
      const block = getCiphers().decipher.update(sealed);
      return [String(block.readBigUInt64BE()), String(block.readBigUInt64BE(8))];
    },
  };
}

/** Made once: a block does not depend on the blocks before it, and none is ever padded. */
function makeCiphers(own: KeyObject) {
  const key = own.export().subarray(0, blockKeyBytes);
  return {
    cipher: createCipheriv(algorithm, key, null).setAutoPadding(false),
    decipher: createDecipheriv(algorithm, key, null).setAutoPadding(false),
  };
}
