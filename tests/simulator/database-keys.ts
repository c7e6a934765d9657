/** The statements of the vault's keys and of their rotation, as the model executes them. */
import { refusedKeys } from "./database-cards.ts";
import {
  type CardRecord,
  type Row,
  readArray,
  readBytes,
  ServerError,
  type Statement,
  type Tables,
} from "./database-model.ts";

const listKeys: Statement = ({ vaultKeys }) =>
  vaultKeys.entries().flatMap(([id, { purpose, sealed, retiredAt }]) => {
    return sealed === null
      ? []
      : [{ id: Number(id), purpose, sealed, retired: retiredAt !== null }];
  });

/** A purpose has one key that is not retired. */
function addKey({ vaultKeys }: Tables, [id, named, sealed]: readonly unknown[]): boolean {
  const purpose = String(named);
  const keys = vaultKeys.values();
  if (keys.some((key) => key.purpose === purpose && key.retiredAt === null)) return false;
  return vaultKeys.add(String(id), { purpose, sealed: sealed as Buffer, retiredAt: null });
}

const addMissing: Statement = (tables, key) => {
  addKey(tables, key);
  return [];
};

const addNext: Statement = (tables, key) => {
  if (!addKey(tables, key)) throw new ServerError("23505");
  return [];
};

const retire: Statement = ({ vaultKeys }, [purpose], nowMs) => {
  for (const [id, key] of vaultKeys.entries()) {
    const isCurrent = key.purpose === purpose && key.retiredAt === null;
    if (isCurrent) vaultKeys.put(id, { ...key, retiredAt: nowMs });
  }
  return [];
};

const retiredKey: Statement = ({ vaultKeys }, [id]) => {
  const { retiredAt = null } = vaultKeys.get(String(id)) ?? {};
  return retiredAt === null ? [] : [{}];
};

const graceLeft: Statement = ({ vaultKeys }, [ids, graceMs], nowMs) => {
  const retired = (ids as number[]).flatMap((id) => vaultKeys.get(String(id))?.retiredAt ?? []);
  return [{ left: retired.length === 0 ? null : Math.max(...retired) - nowMs + Number(graceMs) }];
};

const oldDigestKeys: Statement = ({ vaultKeys }, [keepMs], nowMs) =>
  vaultKeys.entries().flatMap(([id, { purpose, sealed, retiredAt }]) => {
    const isOld = retiredAt !== null && retiredAt < nowMs - Number(keepMs);
    return purpose === "digests" && sealed !== null && isOld ? [{ id: Number(id) }] : [];
  });

const destroy: Statement = ({ vaultKeys, cards }, [id]) => {
  const key = vaultKeys.get(String(id));
  const isInUse = cards.values().some(({ keyId }) => keyId === Number(id));
  if (key === undefined || key.retiredAt === null || key.sealed === null || isInUse) return [];
  vaultKeys.put(String(id), { ...key, sealed: null });
  return [{ id: Number(id) }];
};

const listCardKeys: Statement = (tables, [ids]) => {
  for (const id of ids as number[]) {
    // It waits for a transaction that has the row.
    refusedKeys(tables, [String(id)]);
    tables.cardKeys.add(String(id), { isDestroyed: false });
  }
  return [];
};

const close: Statement = ({ cardKeys }, [id]) => {
  if (cardKeys.has(String(id))) cardKeys.put(String(id), { isDestroyed: true });
  return [];
};

const underKey: Statement = ({ cards, pendingCards }, [id]) => {
  const isUnder = ({ keyId }: { readonly keyId: number }) => keyId === Number(id);
  return [cards.values().find(isUnder), pendingCards.values().find(isUnder)].flatMap((found) =>
    found === undefined ? [] : [{}],
  );
};

const countCards: Statement = ({ cards }, [ids]) => {
  const keys = new Set(ids as number[]);
  return [{ count: cards.values().filter(({ keyId }) => keys.has(keyId)).length }];
};

const listCards: Statement = ({ cards }, [keyId, merchant, card, limit]) => {
  const after = [BigInt(String(merchant)), BigInt(String(card))] as const;
  const isAfter = ({ merchant_id, id }: CardRecord) =>
    BigInt(merchant_id) > after[0] || (BigInt(merchant_id) === after[0] && BigInt(id) > after[1]);
  return cards
    .values()
    .filter((row) => row.keyId === keyId && isAfter(row))
    .sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1))
    .slice(0, Number(limit))
    .map(({ merchant_id, id, sealed, fingerprint }): Row => {
      return { merchantId: merchant_id, cardId: id, keyId, sealed, fingerprint };
    });
};

const resealCards: Statement = (tables, [from, , ids, keyIds, sealed]) => {
  const [wanted, keys, bytes] = [readArray(ids), readArray(keyIds), readBytes(sealed)];
  const refused = new Set(refusedKeys(tables, keys));
  return wanted.flatMap((id, index) => {
    const card = tables.cards.get(id ?? "");
    const key = keys[index] ?? "";
    if (card === undefined || card.keyId !== from || refused.has(key)) return [];
    tables.cards.put(card.id, { ...card, keyId: Number(key), sealed: bytes[index] as Buffer });
    return [{ id }];
  });
};

const listPending: Statement = ({ pendingCards }, [id]) =>
  pendingCards.values().flatMap(({ context, sealedKey, keyId }) => {
    return keyId === id ? [{ context, sealedKey, keyId }] : [];
  });

const resealPending: Statement = ({ pendingCards }, [from, contexts, keyIds, sealed]) => {
  const [keys, bytes] = [readArray(keyIds), readBytes(sealed)];
  for (const [index, context] of readArray(contexts).entries()) {
    const pending = pendingCards.get(context ?? "");
    if (pending === undefined || pending.keyId !== from) continue;
    const [keyId, sealedKey] = [Number(keys[index]), bytes[index] as Buffer];
    pendingCards.put(pending.context, { ...pending, keyId, sealedKey });
  }
  return [];
};

const cvvKey: Statement = ({ cvvKeys }, [slot]) => {
  const key = cvvKeys.get(String(slot));
  return key === undefined ? [] : [{ slot: Number(slot), keyId: key.keyId, sealed: key.sealed }];
};

const addCvvKey: Statement = ({ cvvKeys }, [slot, keyId, sealed, expires]) => {
  const row = { keyId: Number(keyId), sealed: sealed as Buffer, expires: Number(expires) };
  cvvKeys.add(String(slot), row);
  return [];
};

const deleteCvvKeys: Statement = ({ cvvKeys }, [now]) => {
  for (const [slot, { expires }] of cvvKeys.entries()) {
    if (expires <= Number(now)) cvvKeys.delete(slot);
  }
  return [];
};

const nothing: Statement = () => [];

// biome-ignore format: a table
export const keyStatements: Readonly<Record<string, Statement>> = {
  vault_keys:           listKeys,
  add_missing_key:      addMissing,
  add_next_key:         addNext,
  retire_key:           retire,
  retired_key:          retiredKey,
  grace_left:           graceLeft,
  old_digest_keys:      oldDigestKeys,
  destroy_key:          destroy,
  list_card_keys:       listCardKeys,
  lock_card_key:        nothing, // by the transaction itself
  close_card_key:       close,
  rows_under_key:       underKey,
  count_cards:          countCards,
  list_cards:           listCards,
  reseal_cards:         resealCards,
  list_pending:         listPending,
  reseal_pending:       resealPending,
  cvv_key:              cvvKey,
  add_cvv_key:          addCvvKey,
  delete_cvv_keys:      deleteCvvKeys,
  notify_nodes:         nothing, // by the server
  hand_over:            nothing, // by the server
  vacuum:               nothing,
  // The installation has no such secrets.
  list_secrets:         nothing,
};

// biome-ignore format: a table
export const unnamedOfKeys: readonly (readonly [words: string, name: string])[] = [
  ["values ($1, $2, $3) on conflict",         "add_missing_key"],
  ["insert into vault.keys",                  "add_next_key"],
  ["update vault.keys set retired_at",        "retire_key"],
  ["update vault.keys set sealed = null",     "destroy_key"],
  ["select from vault.keys where id = $1",    "retired_key"],
  ["max(retired_at) - now()",                 "grace_left"],
  ["purpose = 'digests'",                     "old_digest_keys"],
  ["vacuum vault.keys",                       "vacuum"],
  ["retired_at is not null as retired",       "vault_keys"],
  ["from card_keys where id = $1 for update", "lock_card_key"],
  ["update card_keys set destroyed_at",       "close_card_key"],
  ["from held_keys where key_id = $1 limit",  "rows_under_key"],
  ["count from cards where key_id = any",     "count_cards"],
  ["from cards where key_id = $1 and",        "list_cards"],
  ["update cards set key_id",                 "reseal_cards"],
  ["update held_keys set key_id",             "reseal_pending"],
  ["from held_keys",                          "list_pending"],
  ["insert into vault.cvv_keys",              "add_cvv_key"],
  ["delete from vault.cvv_keys",              "delete_cvv_keys"],
  ["from vault.cvv_keys",                     "cvv_key"],
  ["pg_notify",                               "notify_nodes"],
  ["old_control_key])",                       "list_secrets"],
  ["from vault.wallet_keys",                  "list_secrets"],
  ["from gate_mac_keys",                      "list_secrets"],
  ["from cells where sealed_url",             "list_secrets"],
  ["from gate_zone_keys",                     "list_secrets"],
  ["from audit_keys",                         "list_secrets"],
  ["from users where totp_sealed",            "list_secrets"],
];
