/**
 * A card with its CVV while an order waits for the cardholder. Each is sealed under a key of its
 * own, which is stored in another table; both are destroyed when the order goes on or expires, and
 * neither is ever in a backup (decision 0015). Once lost, the order goes on without it, or ends.
 */
import { randomBytes } from "node:crypto";
import type { Card } from "../values/card-number.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import type { Keys } from "./keys.ts";
import { keyBytes, open, seal } from "./keys.ts";
import { packCard, unpackCard } from "./vault.ts";

type PendingCard = Card & { readonly cvv: Secret<string> | undefined };

export type PendingCardRow = {
  /** Names the merchant and the order. */
  readonly context: string;
  readonly sealed: Uint8Array;
  /** The key of this row, sealed by the vault's key `keyId`. */
  readonly sealedKey: Uint8Array;
  readonly keyId: number;
};

export type PendingCardStore = {
  /** Replaces the row of the same context. */
  put(row: PendingCardRow, expiresAt: Instant): Promise<void>;
  find(context: string, now: Instant): Promise<PendingCardRow | undefined>;
  remove(context: string): Promise<void>;
  /** Answers how many there were. */
  removeExpired(now: Instant): Promise<number>;
};

export type PendingCards = ReturnType<typeof makePendingCards>;

export function makePendingCards(keys: Keys, store: PendingCardStore) {
  return {
    async store(context: string, card: PendingCard, expiresAt: Instant): Promise<void> {
      const { id: keyId, key } = keys.current("held");
      const own = randomBytes(keyBytes);
      const plain = `${packCard(card)}/${card.cvv?.reveal() ?? ""}`;
      const sealed = seal(own, plain, `held/${context}`);
      const sealedKey = seal(key, own, pendingKeyContext(context));
      own.fill(0);
      await store.put({ context, sealed, sealedKey, keyId }, expiresAt);
    },

    /** Absent when it has expired, was destroyed, or the database has lost it. */
    async find(context: string, now: Instant): Promise<PendingCard | undefined> {
      const row = await store.find(context, now);
      if (row === undefined) return undefined;
      const own = await openOwn(row, context, now);
      const plain = open(own, row.sealed, `held/${context}`);
      own.fill(0);
      const packed = plain.toString();
      plain.fill(0);
      const [, , , cvv = ""] = packed.split("/");
      return { ...unpackCard(packed), cvv: cvv === "" ? undefined : new Secret(cvv) };
    },

    /** Destroys the card and its key, when the authorisation is answered. */
    destroy: store.remove,
    destroyExpired: store.removeExpired,
  };

  /** An unknown key was made by a rotation, or destroyed by one since the row was read. */
  async function openOwn(read: PendingCardRow, context: string, now: Instant): Promise<Buffer> {
    let row = read;
    let key = keys.find(row.keyId);
    if (key === undefined) {
      await keys.reload();
      row = (await store.find(context, now)) ?? row;
      key = keys.find(row.keyId);
    }
    if (key === undefined) throw new Error(`no key ${row.keyId}`);
    return open(key, row.sealedKey, pendingKeyContext(context));
  }
}

/** What the key of a row is sealed for. */
export function pendingKeyContext(context: string): string {
  return `held-key/${context}`;
}
