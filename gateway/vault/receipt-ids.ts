/**
 * Receipts are shown to whoever knows their id, so it is random and not to be guessed: 128 bits, as
 * digits, as all ids on the wire are. Those of earlier versions had 64, and stay as they are.
 */
import { asReceiptId, type ReceiptId } from "../values/ids.ts";
import { takeRandom } from "./nonces.ts";

export function newReceiptId(): ReceiptId {
  return asReceiptId(BigInt(`0x${takeRandom(16).toString("hex")}`).toString());
}
