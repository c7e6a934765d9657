/** The vault's keys and wallets' keys as their tables show them. */
import type { Row } from "../actions/values.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";

/** The newest first, and last those that are no more. */
export function byUse(one: Row, other: Row): number {
  const age = ({ id, destroyedAt }: Row) => Number(id) - (destroyedAt === "" ? 0 : 1e9);
  return age(other) - age(one);
}

type State = readonly [colour: "approved" | "filtered" | "off", text: string];
type Texts = Pick<Messages, "destroyed" | "inUse" | "retired">;

/** A retired key still opens what it has sealed. */
export function stateOf({ retiredAt, destroyedAt }: Row, messages: Texts): State {
  if (destroyedAt !== "") return ["off", messages.destroyed];
  if (retiredAt !== "") return ["filtered", messages.retired];
  return ["approved", messages.inUse];
}

/** A purpose that this portal does not know is shown as it is. */
export function purposeOf(
  { purpose = "" }: Row,
  { keyPurposes }: Pick<Messages, "keyPurposes">,
): string {
  return wordIn(keyPurposes, purpose);
}

/** Only keys of card numbers seal cards. */
export function cardsOf({ purpose, cards = "" }: Row): string {
  return purpose === "cards" ? cards : "";
}

type WalletTexts = Pick<Messages, "certificates" | "fields">;

/** A key without its certificate cannot be used yet, and does not expire. */
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
