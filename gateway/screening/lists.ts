/**
 * The allow and block lists in memory. The entries of a kind are found by keys, so that an order
 * costs a few look-ups however long the lists are. Kinds are looked up from the narrowest to the
 * broadest, and the first that has an entry for the order decides (decision 0049).
 */
import type { Order } from "../orders/order.ts";
import type { EndpointId, MerchantId } from "../values/ids.ts";
import { openReloadable } from "../values/reloadable.ts";
import type { Instant } from "../values/time.ts";
import { findKind, isCardDigest, type Listable, type ListKind, listKinds } from "./list-kinds.ts";

export const listNames = ["allow", "block"] as const;
export type ListName = (typeof listNames)[number];

/** Without a merchant it counts for the whole gateway; with an endpoint for that alone. */
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
  /** Hands over what has changed after a version; returns the present version. */
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
  // A read that fails half-way is repeated from the same version.
  const read = (version = "0") => store.readChanges(version, take);
  const { reload } = await openReloadable<string>({ read, onError });
  return { lists, reload };
}

export type Lists = ReturnType<typeof makeLists>;

type Index = {
  readonly entries: Map<string, readonly ListEntry[]>;
  /** How many keys have so many characters: of BINs and networks. */
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
    /** Whether an entry names a card for all merchants: its key costs an HMAC. */
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

    /** The entry that decides: of the narrowest kind and range; of two alike, the block. */
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
