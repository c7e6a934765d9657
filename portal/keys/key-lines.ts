/** Formats the vault's keys and the wallets' keys for their tables. */
import type { Row } from "../actions/values.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";

/** Compares two keys for sorting: the newest key comes first, and destroyed keys come last. */
export function byUse(one: Row, other: Row): number {
  const age = ({ id, destroyedAt }: Row) => Number(id) - (destroyedAt === "" ? 0 : 1e9);
  return age(other) - age(one);
}

type State = readonly [colour: "approved" | "filtered" | "off", text: string];
type Texts = Pick<Messages, "destroyed" | "inUse" | "retired">;

/** Returns the state of a key. A retired key still decrypts what it has encrypted. */
export function stateOf({ retiredAt, destroyedAt }: Row, messages: Texts): State {
  if (destroyedAt !== "") return ["off", messages.destroyed];
  if (retiredAt !== "") return ["filtered", messages.retired];
  return ["approved", messages.inUse];
}

/** Returns the purpose in the user's language. An unknown purpose is shown as it is. */
export function purposeOf(
  { purpose = "" }: Row,
  { keyPurposes }: Pick<Messages, "keyPurposes">,
): string {
  return wordIn(keyPurposes, purpose);
}

/**
 * Returns how many card numbers a key has encrypted. The text is empty for a key with another
 * purpose.
 */
export function cardsOf({ purpose, cards = "" }: Row): string {
  return purpose === "cards" ? cards : "";
}

type WalletTexts = Pick<Messages, "certificates" | "fields">;

/**
 * Formats a wallet's key. A key without a certificate cannot be used yet and has no expiry date.
 */
export function walletKeyOf(
  { wallet = "", certificate, expires = "" }: Row,
  { certificates, fields }: WalletTexts,
) {
  const isMissing = certificate === "missing";
  return {
    name: wordIn(fields, wallet),
    colour: isMissing ? "filtered" : "approved",
    expires: isMissing ? certificates.missing : expires,
  };
}
