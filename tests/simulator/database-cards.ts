/** The statements of cards and pending card data, as the model executes them. */
import { RowLocked, readArray, readBytes, type Statement, type Tables } from "./database-model.ts";

/** Returns the keys that are not listed, or destroyed, and locks the rows of the others. */
export function refusedKeys(tables: Tables, keys: readonly (string | null)[]): readonly string[] {
  const wanted = new Set(keys.flatMap((key) => (key === null ? [] : [key])));
  return [...wanted].filter((key) => {
    if (tables.lockedKeys.get(key)?.() === true) throw new RowLocked();
    return tables.cardKeys.get(key)?.isDestroyed !== false;
  });
}

const putPending: Statement = (tables, values) => {
  const contexts = readArray(values[0]);
  const [sealed, sealedKeys] = values.slice(1, 3).map(readBytes);
  const [keyIds, expires] = values.slice(3, 5).map(readArray);
  const refused = refusedKeys(tables, keyIds ?? []);
  if (refused.length > 0) return refused.map((key) => ({ refusedKey: Number(key) }));
  for (const [index, context] of contexts.entries()) {
    tables.pendingCards.put(context ?? "", {
      context: context ?? "",
      keyId: Number(keyIds?.[index]),
      sealed: sealed?.[index] as Buffer,
      sealedKey: sealedKeys?.[index] as Buffer,
      expires: Number(expires?.[index]),
    });
  }
  return [];
};

const findPending: Statement = (tables, [contexts, now]) =>
  readArray(contexts).flatMap((context) => {
    const card = tables.pendingCards.get(context ?? "");
    if (card === undefined || card.expires <= Number(now)) return [];
    const { expires: _, ...row } = card;
    return [row];
  });

const removePending: Statement = (tables, [contexts]) => {
  for (const context of readArray(contexts)) tables.pendingCards.delete(context ?? "");
  return [];
};

const removeExpiredPending: Statement = (tables, [now]) =>
  tables.pendingCards.values().flatMap(({ context, expires }) => {
    return expires <= Number(now) && tables.pendingCards.delete(context) ? [{ context }] : [];
  });

const findCards: Statement = (tables, values) => {
  const [merchants, ids] = values.map(readArray);
  return (ids ?? []).flatMap((id, index) => {
    const card = tables.cards.get(id ?? "");
    return card?.merchant_id === merchants?.[index] ? [{ ...card, isCondemned: false }] : [];
  });
};

// biome-ignore format: a table
export const cardStatements: Readonly<Record<string, Statement>> = {
  find_cards:               findCards,
  put_pending_cards:        putPending,
  find_pending_cards:       findPending,
  remove_pending_cards:     removePending,
  remove_expired_pending:   removeExpiredPending,
};
