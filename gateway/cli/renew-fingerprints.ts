/**
 * The key of card fingerprints is replaced while payments go on. The fingerprints, and the hash ids
 * of references, orders and lists, are recomputed from the vault; meanwhile cards are recognised by
 * both keys. It can be interrupted at any step: the next run begins again, and what has its new
 * value already is left alone. The hash id of a card whose number is destroyed stays as it is.
 */
import type { Endpoint } from "../orders/merchant.ts";
import { tallyRowsOf } from "../screening/judge.ts";
import { valueOfDigest } from "../screening/list-kinds.ts";
import {
  type FingerprintedCard,
  listSealedCards,
  writeFingerprints,
} from "../storage/card-fingerprints.ts";
import type { Database } from "../storage/database.ts";
import { type Deletion, makeRenewHashIds, settledMs } from "../storage/erasure.ts";
import { findListEntries, renameCardEntries } from "../storage/screening-lists.ts";
import { type RenamedTally, renameTallies } from "../storage/tallies.ts";
import { listKeys, makeRotationStore } from "../storage/vault-keys.ts";
import type { Keys } from "../vault/keys.ts";
import { hashIdOf, makeVault, type Vault } from "../vault/vault.ts";

type Renewal = {
  readonly database: Database;
  readonly cells: readonly Database[];
  readonly keys: Keys;
  readonly endpoints: readonly Endpoint[];
  readonly deletion: Deletion;
  /** For how long a node may not have been notified of the new key. */
  readonly graceMs: number;
  readonly pause: (durationMs: number) => Promise<void>;
  readonly report: (progress: string) => void;
};

/** `left`: entries of lists by the old key, whose cards the vault does not have; it is kept. */
export async function renewFingerprints(renewal: Renewal) {
  const { database, cells, keys, deletion, report } = renewal;
  const store = makeRotationStore(database, cells, deletion);
  await keys.reload();
  if (keys.list("fingerprints").length > 1) report("Going on with the replacement that was begun");
  else {
    await store.replace([keys.sealNew("fingerprints")]);
    await keys.reload();
    report(
      `Made the key ${keys.current("fingerprints").id} (fingerprints); both count from now on`,
    );
  }
  const old = keys.list("fingerprints").slice(1);
  const first = await renewCards(renewal);
  const oldIds = old.map(({ id }) => id);
  const leftMs = await store.graceLeftMs(oldIds, settledMs + renewal.graceMs);
  if (leftMs > 0) {
    report(`Waiting ${Math.ceil(leftMs / 60_000)} minutes for orders that are under way`);
    await renewal.pause(leftMs);
  }
  const { cards, found } = await renewCards(renewal);
  let orders = 0;
  for (const { query } of cells) {
    const renewPage = makeRenewHashIds(query, deletion, hashIdOf);
    for (let count = -1; count !== 0; orders += Math.max(0, count)) count = await renewPage();
  }
  const left = await findLeft(renewal, found);
  const destroyed: number[] = [];
  for (const id of left.length > 0 ? [] : oldIds) {
    if ((await store.destroy(id)) === "destroyed") destroyed.push(id);
  }
  return { cards: first.cards + cards, orders, destroyed, left };
}

/** Entries from before the key was made that no card of the vault has been found for. */
async function findLeft({ database, cells, keys }: Renewal, found: ReadonlySet<string>) {
  const { id: current } = keys.current("fingerprints");
  const made = (await listKeys(database, cells)).find(({ id }) => id === current)?.createdAt ?? "";
  const entries = await findListEntries(database.query, { kind: "card" });
  return entries.flatMap(({ id, value, addedAt }) =>
    addedAt <= made && !found.has(value) ? [id] : [],
  );
}

/** How many had the fingerprint of an earlier key; and values of lists that name a card. */
async function renewCards(renewal: Renewal) {
  const { database, cells, keys, report } = renewal;
  const entries = await findListEntries(database.query, { kind: "card" });
  const listed = new Set(entries.map(({ value }) => value));
  const vault = makeVault(keys, async () => undefined);
  const found = new Set<string>();
  let cards = 0;
  for (const cell of cells) {
    let page = await listSealedCards(cell, undefined);
    for (; page.length > 0; page = await listSealedCards(cell, page.at(-1))) {
      const renamed = page.flatMap((card) => rename(card, renewal, vault) ?? []);
      const tallies = renamed.flatMap((each) => each.tallies);
      await renameTallies(cell, tallies);
      const values = renamed.flatMap((each) => each.values.filter(([value]) => listed.has(value)));
      if (values.length > 0) await renameCardEntries(database, new Map(values));
      for (const { next } of renamed) for (const value of next) found.add(value);
      const changed = renamed.filter(({ isChanged }) => isChanged);
      await writeFingerprints(cell, changed);
      cards += changed.length;
    }
  }
  report(`Fingerprints recomputed: ${cards} cards`);
  return { cards, found: found.intersection(listed) };
}

/** Returns undefined if the sealed card cannot be opened; such a card keeps its fingerprint. */
function rename(card: FingerprintedCard, { endpoints }: Renewal, vault: Vault) {
  const { merchantId, cardId } = card;
  const number = vault.openSealed(card)?.number;
  if (number === undefined) return undefined;
  const { fingerprint, hashId } = vault.fingerprint(merchantId, number);
  const next = [hashId, valueOfDigest(vault.cardDigest(number))] as const;
  const own = endpoints.filter((each) => each.merchant.id === merchantId);
  const rowsOf = (digest: string) =>
    tallyRowsOf("card", digest, { endpoints: own, digestSubject: vault.digestSubject });
  const nextRows = rowsOf(vault.cardDigest(number));
  const older = vault.cardNames(merchantId, number).slice(1);
  return {
    ...{ merchantId, cardId, fingerprint, hashId, next },
    isChanged: !fingerprint.equals(card.fingerprint),
    /** Values of lists, before and after. */
    values: older.flatMap((name) => [
      [name.hashId, next[0]] as const,
      [valueOfDigest(name.digest), next[1]] as const,
    ]),
    tallies: older.flatMap((name) =>
      rowsOf(name.digest).map(
        (row, at): RenamedTally => ({ ...row, next: nextRows[at]?.key ?? row.key }),
      ),
    ),
  };
}
