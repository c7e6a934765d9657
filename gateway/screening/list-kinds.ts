/**
 * What allow and block lists can name, the narrowest kind first: how an operator's text becomes the
 * stored value, under which keys an entry is found, and which keys an order asks for.
 */
import type { Customer, Order } from "../orders/order.ts";
import { foldEmail, parseDomain, parseEmail } from "../values/email.ts";
import { findAlpha2 } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { bitsOf, parseNetwork } from "./ip-countries.ts";
import { foldPurpose } from "./subjects.ts";

/** An order, with what is known of its card only while it is accepted. */
export type Listable = Pick<Order, "card" | "purchase"> & {
  /** The same for the same card number at every merchant; see `Vault.cardDigest`. */
  readonly cardDigest?: string | undefined;
  /** The card by every key of fingerprints, while one is being replaced. */
  readonly cardNames?: readonly { readonly hashId: string; readonly digest: string }[];
  /** Up to eleven digits. A stored order has six. */
  readonly prefix?: string | undefined;
};

type Kind = {
  readonly name: string;
  readonly meaning: string;
  /** The stored form. A problem is the end of a sentence, and never repeats the text. */
  readonly read: (text: string) => string | Problem;
  /** A longer key is a narrower range. */
  readonly isNested?: true;
  readonly keysOfValue?: (value: string) => readonly string[];
  /** The keys of an order; `lengths` are those of the keys that entries have. */
  readonly keysOf: (order: Listable, lengths: ReadonlyMap<number, number>) => readonly string[];
  /** The form in which the audit shows the value: it never names a person (decision 0046). */
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
export const listKinds: readonly (Kind & { readonly name: ListKind })[] = table;

export function findKind(name: string): (typeof listKinds)[number] | undefined {
  return listKinds.find((kind) => kind.name === name);
}

/** The hash id of a card, or the key that a card has at every merchant. */
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

export function isCardDigest(value: string): boolean {
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

/** In letters of any script, or as ASCII writes them. */
function readDomain(text: string): string | Problem {
  const name = text.trim().replace(/^@/, "").replace(/\.$/, "");
  return parseDomain(name) ?? new Problem("not a domain like example.com");
}

/** `mail.example.com` is of the domains `mail.example.com`, `example.com` and `com`. */
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

/** Digits alone, without a prefix for calls abroad and without the `(0)` for calls at home. */
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

/** A single address may be a person's. */
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

/** The fewest prefixes that name all of a range: 400000-400099 is 4000. */
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
