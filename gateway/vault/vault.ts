/**
 * The vault. Card numbers are stored here only, sealed, and only this code can open them; so are
 * the cards, with CVV, of orders that wait for the cardholder. The vault also makes the ids of
 * receipts and the tokens of payment links.
 */
import {
  createCipheriv,
  createDecipheriv,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { type Card, CardNumber } from "../values/card-number.ts";
import {
  asLinkId,
  asMerchantId,
  asOrderId,
  asReceiptId,
  type CardId,
  type LinkId,
  type MerchantId,
  type OrderId,
  type ReceiptId,
} from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import { blockKeyBytes, hmac, type Keys, keyBytes, type OpenKey, open, seal } from "./keys.ts";

export type SealedCard = {
  readonly merchantId: MerchantId;
  readonly cardId: CardId;
  readonly keyId: number;
  readonly sealed: Uint8Array;
  readonly fingerprint: Uint8Array;
};
/** Cards of a batch are sealed in a row, while the processor's caches have the cipher's code. */
export type SealCard = () => SealedCard;
/** The card will be destroyed soon, and nothing new begins with it. */
export type StoredSealedCard = SealedCard & { readonly isCondemned?: boolean };
export type FindSealedCard = (
  merchant: MerchantId,
  card: CardId,
) => Promise<StoredSealedCard | undefined>;
export type StoredCard = Card & { readonly isCondemned: boolean };

/** The ids by which a card is recognised: at one merchant, and at all of them. */
export type CardName = { readonly hashId: string; readonly digest: string };

/** A token has 144 bits. */
const tokenLength = 24;

export type Vault = ReturnType<typeof makeVault>;

export function makeVault(keys: Keys, find: FindSealedCard) {
  return {
    ...makeReceiptIds(keys),
    confirmKeys: keys.confirm,

    seal(merchantId: MerchantId, cardId: CardId, card: Card & { fingerprint: Buffer }): SealedCard {
      const { id: keyId, key } = keys.current("cards");
      const sealed = seal(key, packCard(card), cardContext(merchantId, cardId));
      return { merchantId, cardId, keyId, sealed, fingerprint: card.fingerprint };
    },

    /** Returns undefined if the key does not exist or does not open the card. */
    openSealed({ merchantId, cardId, keyId, sealed }: SealedCard): Card | undefined {
      const key = keys.find(keyId);
      if (key === undefined) return undefined;
      try {
        return unpackCard(open(key, sealed, cardContext(merchantId, cardId)).toString());
      } catch {
        return undefined;
      }
    },

    /** Returns even a condemned card, for transactions that began before. */
    async findCard(merchantId: MerchantId, cardId: CardId): Promise<StoredCard | undefined> {
      const found = await openCard(merchantId, cardId);
      return found && { ...unpackCard(found.plain.toString()), isCondemned: found.isCondemned };
    },

    /** Returns a digest that is equal for equal cards of one merchant. */
    fingerprint: (merchantId: MerchantId, number: CardNumber) =>
      fingerprintUnder(keys.current("fingerprints"), merchantId, number),

    /** Returns a digest that is equal for equal cards of all merchants, which never see it. */
    cardDigest: (number: CardNumber) => cardDigestUnder(keys.current("fingerprints"), number),

    /** While the fingerprint key is being replaced, returns the card's names by each key. */
    cardNames(merchantId: MerchantId, number: CardNumber): readonly CardName[] {
      const all = keys.list("fingerprints");
      if (all.length < 2) return [];
      return all.map((key) => {
        const { hashId } = fingerprintUnder(key, merchantId, number);
        return { hashId, digest: cardDigestUnder(key, number) };
      });
    },

    /** Digests a value that screening counts, which may be an email or an address. */
    digestSubject: (text: string) => hmac(keys.current("screening").key, `screening/${text}`),
    /** Returns the number of the key of counts. Another key restarts all counts. */
    countingKey: () => keys.current("screening").id,
    /** For comparisons within a short time: after a rotation the same text has another digest. */
    digest: (text: Secret<string>) => hmac(keys.current("digests").key, text.reveal()),
    /** The secret that is shared with the named receiver. It never changes. */
    secretFor: (name: string) => hmac(keys.current("webhooks").key, `shared/${name}`),
    /** The token of a text, for URLs that the gateway issues. No one else can make it. */
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
   * one that has sealed the card again since it was read. A second attempt succeeds in both cases.
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

/** Sixty bits are at most nineteen digits, as ids have. */
export function hashIdOf(fingerprint: Buffer): string {
  return String(fingerprint.readBigUInt64BE() >> 4n);
}

function cardDigestUnder({ key }: OpenKey, number: CardNumber): string {
  return hmac(key, `0/${number.reveal()}`).toString("hex", 0, 8);
}

function packCard({ number, expiryYear, expiryMonth }: Card): string {
  return `${number.reveal()}/${expiryYear}/${expiryMonth}`;
}

function unpackCard(packed: string): Card {
  const [digits = "", expiryYear = "", expiryMonth = ""] = packed.split("/");
  return { number: new CardNumber(digits), expiryYear, expiryMonth };
}

function tokenUnder(key: KeyObject, text: string): string {
  return hmac(key, `token/${text}`).toString("base64url").slice(0, tokenLength);
}

export function cardContext(merchant: MerchantId, card: CardId): string {
  return `card/${merchant}/${card}`;
}

/** A secret does not name its key. Outside of rotations there is only one key to try. */
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

// Encrypting one block is a permutation, so no two orders have the same receipt id.
const algorithm = "aes-128-ecb";
const receiptMax = 2n ** 128n;
const linkTokenForm = /^[A-Za-z0-9_-]{21}[AQgw]$/;

type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };
type LinkKey = { readonly merchantId: MerchantId; readonly id: LinkId };

/**
 * The ids of receipts and the tokens of payment links. Everyone who has one can see the receipt, or
 * pay, so it must not be guessable: it is merchant and order, or link, encrypted as one block of
 * AES under a key that is never replaced. So a receipt is found by its order, without an index that
 * every approval would have to change, and a printed link is valid for ever.
 */
export function makeReceiptIds(keys: Pick<Keys, "current">) {
  const receipts = makeBlocks(keys, "receipts");
  const links = makeBlocks(keys, "links");
  return {
    receiptIdOf({ merchantId, orderId }: OrderKey): ReceiptId {
      const sealed = receipts.seal(merchantId, orderId);
      return asReceiptId(BigInt(`0x${sealed.toString("hex")}`).toString());
    },

    /** Any number decrypts to some order, by chance once in 2^64 of the right merchant. */
    readReceiptId(receipt: ReceiptId): OrderKey | undefined {
      const number = BigInt(receipt);
      if (number >= receiptMax) return undefined;
      const sealed = Buffer.from(number.toString(16).padStart(32, "0"), "hex");
      const [merchant, order] = receipts.open(sealed);
      return { merchantId: asMerchantId(merchant), orderId: asOrderId(order) };
    },

    linkTokenOf: ({ merchantId, id }: LinkKey) => links.seal(merchantId, id).toString("base64url"),

    /** An invented token decrypts to a link that does not exist. */
    readLinkToken(token: string): LinkKey | undefined {
      if (!linkTokenForm.test(token)) return undefined;
      const [merchant, id] = links.open(Buffer.from(token, "base64url"));
      const isStorable = [merchant, id].every((number) => BigInt(number) < 2n ** 63n);
      return isStorable ? { merchantId: asMerchantId(merchant), id: asLinkId(id) } : undefined;
    },
  };
}

function makeBlocks(keys: Pick<Keys, "current">, purpose: "receipts" | "links") {
  let ciphers: ReturnType<typeof makeCiphers> | undefined;
  const getCiphers = () => (ciphers ??= makeCiphers(keys.current(purpose).key));
  return {
    seal(first: string, second: string): Buffer {
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(first));
      block.writeBigUInt64BE(BigInt(second), 8);
      return getCiphers().cipher.update(block);
    },
    open(sealed: Uint8Array): readonly [first: string, second: string] {
      const block = getCiphers().decipher.update(sealed);
      return [String(block.readBigUInt64BE()), String(block.readBigUInt64BE(8))];
    },
  };
}

/** No block depends on the blocks before it, and none is padded, so ciphers are made once. */
function makeCiphers(own: KeyObject) {
  const key = own.export().subarray(0, blockKeyBytes);
  return {
    cipher: createCipheriv(algorithm, key, null).setAutoPadding(false),
    decipher: createDecipheriv(algorithm, key, null).setAutoPadding(false),
  };
}

type PendingCard = Card & { readonly cvv: Secret<string> | undefined };

export type PendingCardRow = {
  readonly context: string;
  readonly sealed: Uint8Array;
  /** The key of this row, sealed by the vault's key `keyId`. */
  readonly sealedKey: Uint8Array;
  readonly keyId: number;
};

export type PendingCardStore = {
  put(row: PendingCardRow, expiresAt: Instant): Promise<void>;
  find(context: string, now: Instant): Promise<PendingCardRow | undefined>;
  remove(context: string): Promise<void>;
  removeExpired(now: Instant): Promise<number>;
};

export type PendingCards = ReturnType<typeof makePendingCards>;

/**
 * Cards with their CVV while orders wait for the cardholder. Each is sealed under its own key,
 * which another table has. Both are destroyed when the order continues or expires, and neither is
 * ever in a backup (decision 0015). If they are lost, the order continues without them or ends.
 */
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

    /** Returns undefined if the card has expired, was destroyed, or was lost by the database. */
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

export function pendingKeyContext(context: string): string {
  return `held-key/${context}`;
}
