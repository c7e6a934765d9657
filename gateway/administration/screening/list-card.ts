/** Finds the card that a list entry names by an order, a reference, a hash id or its number. */
import { type ListScope, valueOfDigest } from "../../screening/lists.ts";
import { makeReferenceStore } from "../../storage/cards/cards.ts";
import { CardNumber, isLuhnValid } from "../../values/card-number.ts";
import { asCardRefId, type CardId, isNumericId, type MerchantId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Content } from "../field.ts";
import { findOrder } from "../find.ts";
import { openVault, readConfiguration, readContent, type Session } from "../session.ts";

/** Reads a card number from standard input. Spaces and hyphens between its digits are ignored. */
export async function readCardNumber(input: Content | undefined): Promise<CardNumber | Problem> {
  const digits = (input ? await readContent(input) : "").replace(/[\s-]/g, "");
  const isNumber = /^\d{12,19}$/.test(digits) && isLuhnValid(digits);
  return isNumber ? new CardNumber(digits) : new Problem("Standard input has no card number.");
}

type Named = { readonly text: string | undefined; readonly order: string | undefined };
type KnownCard = {
  readonly merchantId: MerchantId;
  readonly cardId: CardId;
  readonly hashId: string;
};

/** A list stores a card's hash id, or the digest of its number if the list is for all merchants. */
export async function resolveCard(
  session: Session,
  { merchantId }: ListScope,
  given: CardNumber | Named,
): Promise<string | Problem> {
  if (given instanceof CardNumber) return cardValueOf(await openVault(session), given, merchantId);
  const known =
    given.order === undefined
      ? await findReferenced(session, given.text ?? "")
      : await findOrdered(session, given.order);
  if (known instanceof Problem) return known;
  if (known === undefined) {
    const text = given.text ?? "";
    return isNumericId(text) ? text : new Problem("That is no card reference and no card-hash-id.");
  }
  const vault = await openVault(session);
  const card = await vault.findCard(known.merchantId, known.cardId);
  // The stored hash id may have been made with an old key, so it is computed again.
  if (card !== undefined) return cardValueOf(vault, card.number, merchantId);
  if (known.merchantId === merchantId) return known.hashId;
  return new Problem(
    "The number of this card is destroyed. Give merchant for an entry at its own merchant.",
  );
}

export function cardValueOf(
  vault: Vault,
  number: CardNumber,
  merchantId: MerchantId | undefined,
): string {
  return merchantId === undefined
    ? valueOfDigest(vault.cardDigest(number))
    : vault.fingerprint(merchantId, number).hashId;
}

async function findOrdered(session: Session, id: string): Promise<KnownCard | Problem> {
  const order = await findOrder(session, id);
  if (order instanceof Problem) return order;
  const { merchantId, card } = order;
  if (card.hashId === "") return new Problem(`The order ${id} has no card any more.`);
  return { merchantId, cardId: card.cardId, hashId: card.hashId };
}

/** Finds a registered card by its reference at any merchant. */
export async function findReferenced(session: Session, id: string): Promise<KnownCard | undefined> {
  if (!isNumericId(id)) return undefined;
  const { merchants } = await readConfiguration(session);
  for (const name of session.cells.names()) {
    const { find } = makeReferenceStore(session.cells.databasesOf(name).node.query);
    for (const merchant of merchants) {
      const reference = await find(merchant.id, asCardRefId(id));
      if (reference === undefined) continue;
      const { cardId, hashId } = reference.card;
      return { merchantId: merchant.id, cardId, hashId };
    }
  }
  return undefined;
}
