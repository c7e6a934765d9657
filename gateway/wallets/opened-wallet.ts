/** What a wallet's payment data turned out to be. */
import type { CardData } from "../orders/events.ts";
import type { Reason } from "../orders/order.ts";
import type { FailureCode } from "../values/failure.ts";
import type { Secret } from "../values/secret.ts";

/** A card, and what the wallet has proved of its holder. */
export type WalletCard = {
  readonly card: CardData;
  readonly holderName: string | undefined;
  /** Nothing: the number is the card's own, and its holder not authenticated. */
  readonly proof: Proof | undefined;
  /** What it is known again by, should it come a second time. */
  readonly marks: readonly Mark[];
};

export type Proof = { readonly eci: string | undefined; readonly cryptogram: Secret<string> };

/** It must not be seen again before then. */
export type Mark = { readonly id: string; readonly rememberUntil: number };

/** Longer than it can be paid with: requests wait, and the clocks of nodes differ. */
export const rememberLongerMs = 600_000;

export type WalletRefusal = { readonly refusal: Reason };
export type OpenedWallet = WalletCard | WalletRefusal;

/** What field 126 of banks takes, and every dialect can carry; of text that is base64. */
export function canBeCarried(cryptogram: string): boolean {
  return Buffer.from(cryptogram, "base64").length === 20;
}

export function refuse(code: FailureCode, detail = ""): WalletRefusal {
  return { refusal: { code, detail } };
}
