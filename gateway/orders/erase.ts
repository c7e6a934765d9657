/**
 * What a person may have erased from a stored order, its history and its card references, by the
 * names of the fields: data about the person and the card, and free text. Amounts, ids, dates,
 * codes and the card's BIN stay, so that the books still agree.
 */

/** What takes the field's place; nothing when it is left out. */
// biome-ignore format: a table
const erased: Readonly<Record<string, unknown>> = {
  customer:     {},
  description:  "",
  ipAddress:    "",
  urls:         {},
  merchantData: undefined,
  purpose:      undefined,
  comment:      undefined,
  browser:      undefined,
  holderName:   "",
  lastFour:     "",
  hashId:       "",
  expiryMonth:  "",
  expiryYear:   "",
  threeds:      undefined,
  challenge:    undefined,
  payerRequest: undefined,
  explanation:  undefined,
  loyalty:      undefined,
};

/** A JSON document without personal data. A document that is erased already stays the same. */
export function erase(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(erase);
  if (typeof document !== "object" || document === null) return document;
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name,
      Object.hasOwn(erased, name) ? erased[name] : erase(value),
    ]),
  );
}
