/** Receipts are shown to whoever knows their id, so it is random and not to be guessed. */
import { asReceiptId, type ReceiptId } from "../values/ids.ts";
import { takeRandom } from "./nonces.ts";

export function newReceiptId(): ReceiptId {
  return asReceiptId(takeRandom(8).readBigUInt64BE().toString());
}
