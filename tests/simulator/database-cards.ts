/** The statements of cards, pending card data and keys, as the model executes them. */
import { readArray, readBytes, type Statement, type Tables } from "./database-model.ts";

export function refusedKeys(tables: Tables, keys: readonly (string | null)[]): readonly string[] {
  const wanted = keys.flatMap((key) => (key === null ? [] : [key]));
  return [...new Set(wanted)].filter((key) => !tables.cardKeys.has(key));
}

const putPending: Statement = (tables, values) => {
  const contexts = readArray(values[0]);
  const [sealed, sealedKeys] = values.slice(1, 3).map(readBytes);
  const [keyIds, expires] = values.slice(3, 5).map(readArray);
  const refused = refusedKeys(tables, keyIds ?? []);
  if (refused.length > 0) return refused.map((key) => ({ refusedKey: Number(key) }));
  for (const [index, context] of contexts.entries()) {
    tables.pendingCards.put(context ?? "", {
      ...{ context: context ?? "", keyId: Number(keyIds?.[index]) },
      ...{ sealed: sealed?.[index] as Buffer, sealedKey: sealedKeys?.[index] as Buffer },
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
  list_card_keys:           (tables, [ids]) => {
    for (const id of ids as number[]) tables.cardKeys.add(String(id), true);
    return [];
  },
  vault_keys:               (tables) => tables.vaultKeys.entries().map(([id, key]) => ({ id: Number(id), ...key, retired: false })),
  add_vault_key:            (tables, [purpose, sealed]) => {
    const keys = tables.vaultKeys.values();
    if (keys.every((key) => key.purpose !== purpose)) tables.vaultKeys.put(String(keys.length + 1), { purpose: String(purpose), sealed: sealed as Buffer });
    return [];
  },
  cvv_key:                  (tables, [slot]) => [tables.cvvKeys.get(String(slot))].flatMap((key) => key ? [{ slot: Number(slot), ...key }] : []),
  add_cvv_key:              (tables, [slot, keyId, sealed, expires]) => {
    tables.cvvKeys.add(String(slot), { keyId: Number(keyId), sealed: sealed as Buffer, expires: Number(expires) });
    return [];
  },
  delete_cvv_keys:          (tables, [now]) => {
    for (const [slot, { expires }] of tables.cvvKeys.entries()) if (expires <= Number(now)) tables.cvvKeys.delete(slot);
    return [];
  },
  put_pending_cards:        putPending,
  find_pending_cards:       findPending,
  remove_pending_cards:     removePending,
  remove_expired_pending:   removeExpiredPending,
};
