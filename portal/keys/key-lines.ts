/** Formats the vault's keys and the wallets' keys for their tables. */
import type { Row } from "../actions/values.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";

/** The newest key comes first, and destroyed keys come last. */
export function byUse(one: Row, other: Row): number {
  const age = ({ id, destroyedAt }: Row) => Number(id) - (destroyedAt === "" ? 0 : 1e9);
  return age(other) - age(one);
}

type State = readonly [colour: "approved" | "filtered" | "off", text: string];
type Texts = Pick<Messages, "destroyed" | "inUse" | "retired">;

/** A retired key still decrypts what it has encrypted. */
export function stateOf({ retiredAt, destroyedAt }: Row, messages: Texts): State {
  if (destroyedAt !== "") return ["off", messages.destroyed];
  if (retiredAt !== "") return ["filtered", messages.retired];
  return ["approved", messages.inUse];
}

/** An unknown purpose is shown as it is. */
export function purposeOf(
  { purpose = "" }: Row,
  { keyPurposes }: Pick<Messages, "keyPurposes">,
): string {
  return wordIn(keyPurposes, purpose);
}

/** Only a key for cards encrypts card numbers, and any other key gets an empty text. */
export function cardsOf({ purpose, cards = "" }: Row): string {
  return purpose === "cards" ? cards : "";
}

type WalletTexts = Pick<Messages, "certificates" | "fields">;

/** A wallet's key without a certificate cannot be used yet and has no expiry date. */
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
