/**
 * The vault: the only place where card numbers are kept, sealed, and the only place that can open
 * them. It is asked through a few functions and says what storage it needs by the types below.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { CardNumber } from "../values/card-number.ts";
import type { CardId, MerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Keys, OpenKey } from "./keys.ts";
import { open, seal } from "./seal.ts";

export type Card = {
  readonly number: CardNumber;
  /** Two digits each, as banks want it. */
  readonly expiryYear: string;
  readonly expiryMonth: string;
};

export type FingerprintedCard = Card & { readonly fingerprint: Fingerprint };

export type Fingerprint = {
  readonly bytes: Buffer;
  /** Sixty bits of it: at most nineteen digits, as identifiers are on the wire. */
  readonly hashId: string;
};

export type Vault = {
  /** What is kept of a card; it is written with the order that brought it. */
  seal(merchant: MerchantId, card: CardId, held: FingerprintedCard): SealedCard;
  findCard(merchant: MerchantId, card: CardId): Promise<Card | undefined>;
  /** The same for the same card of the same merchant, and of no use anywhere else. */
  fingerprint(merchant: MerchantId, number: CardNumber): Fingerprint;
  /** Tells whether two requests are the same without keeping either. */
  digest(text: Secret<string>): Buffer;
  /** For an address that we hand out: the same text gives the same, and nobody else can make it. */
  tokenOf(text: string): string;
  isToken(text: string, token: string): boolean;
  /** A secret to be shared with whom it is named for; the same for the same name. */
  secretFor(name: string): Buffer;
  sealSecret(secret: Secret<string>, context: string): Buffer;
  openSecret(sealed: Uint8Array, context: string): Secret<string>;
};

export type SealedCard = {
  readonly merchantId: MerchantId;
  readonly cardId: CardId;
  readonly keyId: number;
  readonly sealed: Uint8Array;
  readonly fingerprint: Uint8Array;
};
export type FindSealedCard = (
  merchant: MerchantId,
  card: CardId,
) => Promise<SealedCard | undefined>;

/** 144 bits. */
const tokenLength = 24;

export function makeVault(keys: Keys, find: FindSealedCard): Vault {
  return {
    seal(merchantId, cardId, { number, expiryYear, expiryMonth, fingerprint }) {
      const { id: keyId, key } = keys.current("cards");
      const plain = `${number.reveal()}/${expiryYear}/${expiryMonth}`;
      const sealed = seal(key, plain, cardContext(merchantId, cardId));
      return { merchantId, cardId, keyId, sealed, fingerprint: fingerprint.bytes };
    },

    async findCard(merchantId, cardId) {
      const plain = await openCard(merchantId, cardId);
      if (plain === undefined) return undefined;
      const [digits = "", expiryYear = "", expiryMonth = ""] = plain.toString().split("/");
      return { number: new CardNumber(digits), expiryYear, expiryMonth };
    },

    fingerprint(merchantId, number) {
      const { key } = keys.current("fingerprints");
      const bytes = createHmac("sha256", key).update(`${merchantId}/${number.reveal()}`).digest();
      return { bytes, hashId: String(bytes.readBigUInt64BE() >> 4n) };
    },

    digest(text) {
      return createHmac("sha256", keys.current("digests").key).update(text.reveal()).digest();
    },

    tokenOf: (text) => tokenUnder(keys.current("digests").key, text),

    isToken(text, token) {
      const given = Buffer.from(token);
      // Those that were given out before a rotation are still good.
      return keys.list("digests").some(({ key }) => {
        const own = Buffer.from(tokenUnder(key, text));
        return own.length === given.length && timingSafeEqual(own, given);
      });
    },

    secretFor: (name) =>
      createHmac("sha256", keys.current("digests").key).update(`shared/${name}`).digest(),

    sealSecret(secret, context) {
      return seal(keys.current("secrets").key, secret.reveal(), context);
    },

    openSecret(sealed, context) {
      return new Secret(openWithAny(keys.list("secrets"), sealed, context).plain.toString());
    },
  };

  /**
   * A key that is not known here was made by a rotation that this node has not heard of, or was
   * destroyed by one that has sealed the card anew since it was read: both are cured by looking
   * again.
   */
  async function openCard(
    merchantId: MerchantId,
    cardId: CardId,
    isLast = false,
  ): Promise<Buffer | undefined> {
    const kept = await find(merchantId, cardId);
    if (kept === undefined) return undefined;
    const key = keys.find(kept.keyId);
    if (key !== undefined) return open(key, kept.sealed, cardContext(merchantId, cardId));
    if (isLast) throw new Error(`no key ${kept.keyId}`);
    await keys.reload();
    return openCard(merchantId, cardId, true);
  }
}

function tokenUnder(key: KeyObject, text: string): string {
  return createHmac("sha256", key)
    .update(`token/${text}`)
    .digest("base64url")
    .slice(0, tokenLength);
}

/** What a card is sealed for: it opens at its own place only. */
export function cardContext(merchant: MerchantId, card: CardId): string {
  return `card/${merchant}/${card}`;
}

/** Secrets do not say which key sealed them; there is hardly ever more than one to try. */
export function openWithAny(
  keys: readonly OpenKey[],
  sealed: Uint8Array,
  context: string,
): { readonly keyId: number; readonly plain: Buffer } {
  for (const { id, key } of keys) {
    try {
      return { keyId: id, plain: open(key, sealed, context) };
    } catch {
      // Another key of the purpose may be the one.
    }
  }
  throw new Error(`nothing opens the secret ${context}`);
}
