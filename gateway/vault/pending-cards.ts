/**
 * A card with its CVV while an order waits for the cardholder. Each is sealed under a key of its
 * own, made for it and kept apart from it; both are destroyed when the order goes on or its time
 * is over, and neither is ever in a backup (decision 0015). What is gone is not to be had again:
 * the order then goes on without, or ends.
 */
import { randomBytes } from "node:crypto";
import { CardNumber } from "../values/card-number.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import type { Keys } from "./keys.ts";
import { keyBytes, open, seal } from "./seal.ts";

export type PendingCard = {
  readonly number: CardNumber;
  /** Two digits each, as banks want it. */
  readonly expiryYear: string;
  readonly expiryMonth: string;
  readonly cvv: Secret<string> | undefined;
};

export type PendingCardRow = {
  /** Whose it is, such as the merchant and the order. */
  readonly context: string;
  readonly sealed: Uint8Array;
  /** The key of this secret, sealed by the vault's key `keyId`. */
  readonly sealedKey: Uint8Array;
  readonly keyId: number;
};

export type PendingCardStore = {
  /** In the place of whatever was held there. */
  put(row: PendingCardRow, expiresAt: Instant): Promise<void>;
  find(context: string, now: Instant): Promise<PendingCardRow | undefined>;
  remove(context: string): Promise<void>;
  /** How many there were. */
  removeExpired(now: Instant): Promise<number>;
};

export type PendingCards = {
  hold(context: string, card: PendingCard, expiresAt: Instant): Promise<void>;
  /** Nothing after its time, after it was destroyed, or when the database has lost it. */
  take(context: string, now: Instant): Promise<PendingCard | undefined>;
  /** When the authorisation is answered: the card and its key. */
  destroy(context: string): Promise<void>;
  destroyExpired(now: Instant): Promise<number>;
};

export function makePendingCards(keys: Keys, store: PendingCardStore): PendingCards {
  return {
    async hold(context, card, expiresAt) {
      const { id: keyId, key } = keys.current("held");
      const own = randomBytes(keyBytes);
      const sealed = seal(own, packCard(card), `held/${context}`);
      const sealedKey = seal(key, own, `held-key/${context}`);
      own.fill(0);
      await store.put({ context, sealed, sealedKey, keyId }, expiresAt);
    },

    async take(context, now) {
      const row = await store.find(context, now);
      if (row === undefined) return undefined;
      const key = keys.find(row.keyId);
      if (key === undefined) throw new Error(`no key ${row.keyId}`);
      const own = open(key, row.sealedKey, `held-key/${context}`);
      const plain = open(own, row.sealed, `held/${context}`);
      own.fill(0);
      const card = unpackCard(plain.toString());
      plain.fill(0);
      return card;
    },

    destroy: (context) => store.remove(context),
    destroyExpired: (now) => store.removeExpired(now),
  };
}

function packCard({ number, expiryYear, expiryMonth, cvv }: PendingCard): string {
  return [number.reveal(), expiryYear, expiryMonth, cvv?.reveal() ?? ""].join("/");
}

function unpackCard(packed: string): PendingCard {
  const [digits = "", expiryYear = "", expiryMonth = "", cvv = ""] = packed.split("/");
  return {
    number: new CardNumber(digits),
    expiryYear,
    expiryMonth,
    cvv: cvv === "" ? undefined : new Secret(cvv),
  };
}
