/**
 * The vault: card numbers are stored here only, sealed, and only this code can open them. Storage
 * is handed in, as the function types below say.
 */
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { type Card, CardNumber } from "../values/card-number.ts";
import type { CardId, MerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { hmac } from "./hmac.ts";
import type { Keys, OpenKey } from "./keys.ts";
import { makeReceiptIds } from "./receipt-ids.ts";
import { open, seal } from "./seal.ts";

export type SealedCard = {
  readonly merchantId: MerchantId;
  readonly cardId: CardId;
  readonly keyId: number;
  readonly sealed: Uint8Array;
  readonly fingerprint: Uint8Array;
};
/**
 * Called for all cards of a batch in a row, when it is written: the cipher's code and tables then
 * stay in the processor's caches.
 */
export type SealCard = () => SealedCard;
/** A condemned card is destroyed soon: nothing new begins with it. */
export type StoredSealedCard = SealedCard & { readonly isCondemned?: boolean };
export type FindSealedCard = (
  merchant: MerchantId,
  card: CardId,
) => Promise<StoredSealedCard | undefined>;
export type StoredCard = Card & { readonly isCondemned: boolean };

/** What a card is recognised by: at one merchant, and at all of them. */
export type CardName = { readonly hashId: string; readonly digest: string };

/** 144 bits. */
const tokenLength = 24;

export type Vault = ReturnType<typeof makeVault>;

export function makeVault(keys: Keys, find: FindSealedCard) {
  return {
    ...makeReceiptIds(keys),
    confirmKeys: keys.confirm,

    /** The result is written with the order that brought the card. */
    seal(merchantId: MerchantId, cardId: CardId, card: Card & { fingerprint: Buffer }): SealedCard {
      const { id: keyId, key } = keys.current("cards");
      const sealed = seal(key, packCard(card), cardContext(merchantId, cardId));
      return { merchantId, cardId, keyId, sealed, fingerprint: card.fingerprint };
    },

    /** Returns undefined when its key does not exist or does not open it. */
    openSealed({ merchantId, cardId, keyId, sealed }: SealedCard): Card | undefined {
      const key = keys.find(keyId);
      if (key === undefined) return undefined;
      try {
        return unpackCard(open(key, sealed, cardContext(merchantId, cardId)).toString());
      } catch {
        return undefined;
      }
    },

    /** Also a condemned one, for transactions that began before. */
    async findCard(merchantId: MerchantId, cardId: CardId): Promise<StoredCard | undefined> {
      const found = await openCard(merchantId, cardId);
      return found && { ...unpackCard(found.plain.toString()), isCondemned: found.isCondemned };
    },

    /** The same for the same card of the same merchant; of no use outside this installation. */
    fingerprint: (merchantId: MerchantId, number: CardNumber) =>
      fingerprintUnder(keys.current("fingerprints"), merchantId, number),

    /** The same for the same card at every merchant, for screening; merchants never see it. */
    cardDigest: (number: CardNumber) => cardDigestUnder(keys.current("fingerprints"), number),

    /**
     * The card's names under every key of fingerprints, the newest first: while one is being
     * replaced, both count. Empty when there is one key.
     */
    cardNames(merchantId: MerchantId, number: CardNumber): readonly CardName[] {
      const all = keys.list("fingerprints");
      if (all.length < 2) return [];
      return all.map((key) => {
        const { hashId } = fingerprintUnder(key, merchantId, number);
        return { hashId, digest: cardDigestUnder(key, number) };
      });
    },

    /** Digests what screening counts. The text may be an email or an address. */
    digestSubject: (text: string) => hmac(keys.current("screening").key, `screening/${text}`),
    /** Names the key of counts: another key restarts all counts. */
    countingKey: () => keys.current("screening").id,
    /** For short comparisons: after a rotation the same text has another digest. */
    digest: (text: Secret<string>) => hmac(keys.current("digests").key, text.reveal()),
    /** A secret that is shared with the named receiver; the same for the same name, for ever. */
    secretFor: (name: string) => hmac(keys.current("webhooks").key, `shared/${name}`),
    /** For URLs that the gateway issues: only this installation can make the token of a text. */
    tokenOf: (text: string) => tokenUnder(keys.current("digests").key, text),

    isToken(text: string, token: string): boolean {
      const given = Buffer.from(token);
      // A token that was issued before a rotation stays valid.
      return keys.list("digests").some(({ key }) => {
        const own = Buffer.from(tokenUnder(key, text));
        return own.length === given.length && timingSafeEqual(own, given);
      });
    },

    sealSecret: (secret: Secret<string>, context: string) =>
      seal(keys.current("secrets").key, secret.reveal(), context),
    openSecret: (sealed: Uint8Array, context: string) =>
      new Secret(openWithAny(keys.list("secrets"), sealed, context).plain.toString()),
  };

  /**
   * An unknown key was made by a rotation of which this node was not notified yet, or destroyed by
   * one that has sealed the card again since it was read. In both cases a second look finds it.
   */
  async function openCard(
    merchantId: MerchantId,
    cardId: CardId,
    isLast = false,
  ): Promise<{ readonly plain: Buffer; readonly isCondemned: boolean } | undefined> {
    const kept = await find(merchantId, cardId);
    if (kept === undefined) return undefined;
    const { isCondemned = false } = kept;
    const key = keys.find(kept.keyId);
    if (key !== undefined) {
      return { plain: open(key, kept.sealed, cardContext(merchantId, cardId)), isCondemned };
    }
    if (isLast) throw new Error(`no key ${kept.keyId}`);
    await keys.reload();
    return openCard(merchantId, cardId, true);
  }
}

function fingerprintUnder({ key }: OpenKey, merchantId: MerchantId, number: CardNumber) {
  const fingerprint = hmac(key, `${merchantId}/${number.reveal()}`);
  return { fingerprint, hashId: hashIdOf(fingerprint) };
}

/** Sixty bits: at most nineteen digits, as ids are on the wire. */
export function hashIdOf(fingerprint: Buffer): string {
  return String(fingerprint.readBigUInt64BE() >> 4n);
}

function cardDigestUnder({ key }: OpenKey, number: CardNumber): string {
  return hmac(key, `0/${number.reveal()}`).toString("hex", 0, 8);
}

export function packCard({ number, expiryYear, expiryMonth }: Card): string {
  return `${number.reveal()}/${expiryYear}/${expiryMonth}`;
}

export function unpackCard(packed: string): Card {
  const [digits = "", expiryYear = "", expiryMonth = ""] = packed.split("/");
  return { number: new CardNumber(digits), expiryYear, expiryMonth };
}

function tokenUnder(key: KeyObject, text: string): string {
  return hmac(key, `token/${text}`).toString("base64url").slice(0, tokenLength);
}

/** What a card is sealed for. */
export function cardContext(merchant: MerchantId, card: CardId): string {
  return `card/${merchant}/${card}`;
}

/** A secret does not name its key; outside of rotations there is one to try. */
export function openWithAny(
  keys: readonly OpenKey[],
  sealed: Uint8Array,
  context: string,
): { readonly keyId: number; readonly plain: Buffer } {
  for (const { id, key } of keys) {
    try {
      return { keyId: id, plain: open(key, sealed, context) };
    } catch {
      // The next key may open it.
    }
  }
  throw new Error(`nothing opens the secret ${context}`);
}
