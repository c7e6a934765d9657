/**
 * The allow and block lists in memory. Entries are found by keys, so a long list takes no longer
 * than a short one. If entries of several kinds match an order, the entry of the narrowest kind,
 * such as a card, decides (decision 0049).
 */
import type { Customer, Order } from "../orders/order.ts";
import { foldEmail, parseDomain, parseEmail } from "../values/email.ts";
import type { EndpointId, MerchantId } from "../values/ids.ts";
import { findAlpha2 } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { openReloadable } from "../values/reloadable.ts";
import type { Instant } from "../values/time.ts";
import { bitsOf, parseNetwork } from "./ip-countries.ts";
import { foldPurpose } from "./rule.ts";

export const listNames = ["allow", "block"] as const;
export type ListName = (typeof listNames)[number];

/** An entry without a merchant applies everywhere; one with an endpoint applies only there. */
export type ListScope = {
  readonly merchantId?: MerchantId;
  readonly endpointId?: EndpointId;
};

export type ListEntry = ListScope & {
  readonly id: string;
  readonly list: ListName;
  readonly kind: ListKind;
  readonly value: string;
  readonly expiresAt?: Instant;
  readonly reason: string;
};

export type ListedOrder = Listable & Pick<Order, "merchantId" | "endpointId" | "acceptedAt">;

type ListChange = { readonly put: ListEntry } | { readonly removed: string };

export type ListStore = {
  /** Calls `take` with the changes since the version `after`. Returns the current version. */
  readChanges(after: string, take: (changes: readonly ListChange[]) => void): Promise<string>;
};

export async function openLists(store: ListStore, onError: (error: unknown) => void) {
  const lists = makeLists();
  const take = (changes: readonly ListChange[]) => {
    for (const change of changes) {
      if ("put" in change) lists.put(change.put);
      else lists.remove(change.removed);
    }
  };
  // If a read fails half-way, the next one starts from the last version that was read completely.
  const read = (version = "0") => store.readChanges(version, take);
  const { reload } = await openReloadable<string>({ read, onError });
  return { lists, reload };
}

export type Lists = ReturnType<typeof makeLists>;

type Index = {
  readonly entries: Map<string, readonly ListEntry[]>;
  /** How many keys have each length. An order's prefixes of other lengths are not looked up. */
  readonly lengths: Map<number, number>;
};

export function makeLists() {
  const byId = new Map<string, ListEntry>();
  const indexes = new Map<ListKind, Index>();
  const order = listKinds.map((kind) => ({ ...kind, index: indexOf(kind.name) }));
  let cardDigests = 0;

  return {
    get size() {
      return byId.size;
    },
    /** Whether an entry is for a card at all merchants. Only then is the card's digest needed. */
    get needsCardDigest() {
      return cardDigests > 0;
    },
    put(entry: ListEntry): void {
      remove(entry.id);
      byId.set(entry.id, entry);
      if (isCardDigest(entry.value)) cardDigests += 1;
      const { entries, lengths } = indexOf(entry.kind);
      for (const key of keysOfValue(entry)) {
        entries.set(key, [...(entries.get(key) ?? []), entry]);
        lengths.set(key.length, (lengths.get(key.length) ?? 0) + 1);
      }
    },
    remove,

    /** Returns the entry of the narrowest kind and range; of equally narrow ones, a block entry. */
    find(listed: ListedOrder): ListEntry | undefined {
      for (const { index, keysOf, isNested = false } of order) {
        if (index.entries.size === 0) continue;
        let found: ListEntry | undefined;
        let foundLength = 0;
        for (const key of keysOf(listed, index.lengths)) {
          const length = isNested ? key.length : 0;
          if (length < foundLength) continue;
          for (const entry of index.entries.get(key) ?? []) {
            if (!counts(entry, listed)) continue;
            if (found?.list === "block" && length === foundLength) continue;
            [found, foundLength] = [entry, length];
          }
        }
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };

  function remove(id: string): void {
    const entry = byId.get(id);
    if (entry === undefined) return;
    byId.delete(id);
    if (isCardDigest(entry.value)) cardDigests -= 1;
    const { entries, lengths } = indexOf(entry.kind);
    for (const key of keysOfValue(entry)) {
      const left = (entries.get(key) ?? []).filter((each) => each !== entry);
      if (left.length > 0) entries.set(key, left);
      else entries.delete(key);
      const count = (lengths.get(key.length) ?? 0) - 1;
      if (count > 0) lengths.set(key.length, count);
      else lengths.delete(key.length);
    }
  }

  function indexOf(kind: ListKind): Index {
    const known = indexes.get(kind);
    if (known !== undefined) return known;
    const made: Index = { entries: new Map(), lengths: new Map() };
    indexes.set(kind, made);
    return made;
  }
}

function keysOfValue({ kind, value }: ListEntry): readonly string[] {
  return findKind(kind)?.keysOfValue?.(value) ?? [value];
}

function counts(
  { merchantId, endpointId, expiresAt }: ListEntry,
  order: Omit<ListedOrder, "card" | "purchase">,
): boolean {
  if (expiresAt !== undefined && expiresAt <= order.acceptedAt) return false;
  if (endpointId !== undefined) return endpointId === order.endpointId;
  return merchantId === undefined || merchantId === order.merchantId;
}

/** The parts of an order that entries are compared with, and card facts that no order stores. */
type Listable = Pick<Order, "card" | "purchase"> & {
  /** A digest of the card number, the same at all merchants; see `Vault.cardDigest`. */
  readonly cardDigest?: string | undefined;
  /** While the fingerprint key is being replaced: the card's ids by the old and the new key. */
  readonly cardNames?: readonly { readonly hashId: string; readonly digest: string }[];
  /** Up to eleven leading digits of the card number. If absent, the order's first six are used. */
  readonly prefix?: string | undefined;
};

type Kind = {
  readonly name: string;
  readonly meaning: string;
  /** Returns the stored form of a value, or a problem, which never quotes the value. */
  readonly read: (text: string) => string | Problem;
  /** Whether a value may contain another one, as networks do. The longer key is then narrower. */
  readonly isNested?: true;
  readonly keysOfValue?: (value: string) => readonly string[];
  /**
   * Returns the keys by which an order's entries are looked up. A prefix is looked up only in the
   * lengths that keys of entries have, which are in `lengths`.
   */
  readonly keysOf: (order: Listable, lengths: ReadonlyMap<number, number>) => readonly string[];
  /** Returns the value without anything that identifies a person, for the audit (decision 0046). */
  readonly mask: (value: string) => string;
};

const shown = (value: string) => value;
const some = (...keys: readonly (string | undefined)[]) => keys.filter((key) => key !== undefined);

// biome-ignore format: a table
const table = [
  { name: "card",           meaning: "a card reference, a card-hash-id, or - for a number on standard input", read: readCard, keysOf: cardKeys, mask: shown },
  { name: "email",          meaning: "an email address; case does not matter, dots and tags do", read: readEmail, keysOf: ({ purchase }) => some(emailOf(purchase.customer)), mask: maskEmail },
  { name: "phone",          meaning: "a phone number with its country code", read: readPhone, keysOf: phonesOf, mask: (value) => `…${value.slice(-3)}` },
  { name: "ip",             meaning: "an IP address or network, like 192.0.2.0/24 or 2001:db8::/32", read: readNetwork, isNested: true, keysOfValue: keysOfNetwork, keysOf: addressKeys, mask: maskNetwork },
  { name: "email-domain",   meaning: "a domain of email addresses, with its subdomains", read: readDomain, isNested: true, keysOf: domainsOf, mask: shown },
  { name: "bin",            meaning: "a BIN of 6 to 11 digits, or a range of them, like 400000-400099", read: readBins, isNested: true, keysOfValue: prefixesOf, keysOf: binKeys, mask: shown },
  { name: "purpose",        meaning: "the purpose that the merchant sends; case does not matter", read: readPurpose, keysOf: ({ purchase }) => some(purchase.purpose === undefined ? undefined : foldPurpose(purchase.purpose)), mask: () => "…" },
  { name: "issuer-country", meaning: "the country of the card's issuer, by the BIN table", read: readCountry, keysOf: ({ card }) => some(findAlpha2(card.issuer?.country ?? "")), mask: shown },
  { name: "payer-country",  meaning: "the country that the merchant sends", read: readCountry, keysOf: ({ purchase }) => some(findAlpha2(purchase.customer.country?.trim().toUpperCase() ?? "")), mask: shown },
] as const satisfies readonly Kind[];

export type ListKind = (typeof table)[number]["name"];
/** The kinds of list entries, the narrowest first. */
export const listKinds: readonly (Kind & { readonly name: ListKind })[] = table;

export function findKind(name: string): (typeof listKinds)[number] | undefined {
  return listKinds.find((kind) => kind.name === name);
}

/** A card is given by its hash id at one merchant, or by its digest at all merchants. */
function readCard(text: string): string | Problem {
  if (/^[1-9]\d{0,18}$/.test(text) || isCardDigest(text)) return text;
  return new Problem("not a card-hash-id of 1 to 19 digits");
}

function cardKeys({ card, cardDigest, cardNames = [] }: Listable): readonly string[] {
  const others = cardNames.flatMap(({ hashId, digest }) => [hashId, valueOfDigest(digest)]);
  const own = some(card.hashId || undefined, cardDigest && valueOfDigest(cardDigest));
  return others.length === 0 ? own : [...new Set([...own, ...others])];
}

export function valueOfDigest(cardDigest: string): string {
  return `all:${cardDigest}`;
}

function isCardDigest(value: string): boolean {
  return /^all:[0-9a-f]{16}$/.test(value);
}

function readEmail(text: string): string | Problem {
  const email = parseEmail(text.trim());
  return email === undefined ? new Problem("not an email address") : email.toLowerCase();
}

function emailOf({ email }: Customer): string | undefined {
  return email === undefined ? undefined : foldEmail(email);
}

function maskEmail(value: string): string {
  return `…${value.slice(value.lastIndexOf("@"))}`;
}

function readDomain(text: string): string | Problem {
  const name = text.trim().replace(/^@/, "").replace(/\.$/, "");
  return parseDomain(name) ?? new Problem("not a domain like example.com");
}

function domainsOf({ purchase }: Listable): readonly string[] {
  const email = emailOf(purchase.customer) ?? "";
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".");
  return labels.map((_, at) => labels.slice(at).join("."));
}

function readPhone(text: string): string | Problem {
  const digits = foldPhone(text);
  if (/^[\d+\-() ./]+$/.test(text.trim()) && /^\d{6,15}$/.test(digits)) return digits;
  return new Problem("not a phone number of 6 to 15 digits");
}

/** Returns the digits without an international prefix and without `(0)`. */
function foldPhone(text: string): string {
  return text.replace(/\(0\)/, "").replace(/\D/g, "").replace(/^0+/, "");
}

function phonesOf({ purchase }: Listable): readonly string[] {
  const { phone, cellPhone } = purchase.customer;
  return some(phone, cellPhone).map(foldPhone);
}

function readNetwork(text: string): string | Problem {
  const network = parseNetwork(text);
  return network instanceof Problem ? network : network.text;
}

function keysOfNetwork(value: string): readonly string[] {
  const network = parseNetwork(value);
  return network instanceof Problem ? [] : [network.bits];
}

function addressKeys(
  { purchase }: Listable,
  lengths: ReadonlyMap<number, number>,
): readonly string[] {
  const bits = bitsOf(purchase.ipAddress);
  return bits === undefined ? [] : slices(bits, lengths);
}

/** A single address is masked, because it may identify a person. */
function maskNetwork(value: string): string {
  return value.includes("/") ? value : value.replace(/[^.:]+$/, "…");
}

function slices(text: string, lengths: ReadonlyMap<number, number>): readonly string[] {
  const keys: string[] = [];
  for (const length of lengths.keys()) if (length <= text.length) keys.push(text.slice(0, length));
  return keys;
}

function readBins(text: string): string | Problem {
  const [, first = "", last = first] = /^(\d{6,11})(?:\s*-\s*(\d{6,11}))?$/.exec(text.trim()) ?? [];
  if (/\d{12}/.test(text))
    return new Problem("more than 11 digits; card numbers have no place here");
  if (first === "" || first.length !== last.length || first > last) {
    return new Problem("not a BIN of 6 to 11 digits, or a range of them like 400000-400099");
  }
  return first === last ? first : `${first}-${last}`;
}

/** Returns the fewest prefixes that cover a range. The range 400000-400099 has the prefix 4000. */
function prefixesOf(value: string): readonly string[] {
  const [first = "", last = first] = value.split("-");
  const prefixes: string[] = [];
  const end = Number(last);
  for (let at = Number(first); at <= end; ) {
    let size = 1;
    while (at % (size * 10) === 0 && at + size * 10 - 1 <= end) size *= 10;
    const digits = String(at).padStart(first.length, "0");
    prefixes.push(digits.slice(0, first.length - String(size).length + 1));
    at += size;
  }
  return prefixes;
}

function binKeys({ card, prefix = card.bin }: Listable, lengths: ReadonlyMap<number, number>) {
  return slices(prefix, lengths);
}

function readPurpose(text: string): string | Problem {
  const folded = foldPurpose(text);
  if (folded !== "" && folded.length <= 128 && !/\p{Cc}/u.test(folded)) return folded;
  return new Problem("not a purpose of 1 to 128 characters");
}

function readCountry(text: string): string | Problem {
  const found = findAlpha2(text.trim().toUpperCase());
  return found ?? new Problem("not a country code of ISO 3166-1");
}
