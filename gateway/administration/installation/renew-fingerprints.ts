/**
 * Replaces the key of card fingerprints while payments go on. When all nodes know both keys, the
 * fingerprints and hash ids are recomputed from the vault, and until then cards are recognised by
 * both keys. An interrupted run starts again and skips finished cards. The hash id of a card whose
 * number is destroyed stays as it is.
 */
import type { Endpoint } from "../../orders/merchant.ts";
import { tallyRowsOf } from "../../screening/judge.ts";
import { valueOfDigest } from "../../screening/lists.ts";
import { cardTryRow } from "../../screening/page-tries.ts";
import {
  type FingerprintedCard,
  findEarlierEntries,
  listSealedCards,
  writeFingerprints,
} from "../../storage/cards/card-keys.ts";
import { type Deletion, makeRenewHashIds, settledMs } from "../../storage/cards/erasure.ts";
import { makeRotationStore } from "../../storage/cards/vault-keys.ts";
import { findListEntries, renameCardEntries } from "../../storage/screening/screening-lists.ts";
import { type RenamedTally, renameTallies } from "../../storage/screening/tallies.ts";
import type { Database } from "../../storage/server/database.ts";
import type { Keys } from "../../vault/keys.ts";
import { type RotationStore, retiredOf } from "../../vault/rotate-keys.ts";
import { hashIdOf, makeVault, type Vault } from "../../vault/vault.ts";

type Renewal = {
  readonly database: Database;
  readonly cells: readonly Database[];
  readonly keys: Keys;
  readonly endpoints: readonly Endpoint[];
  readonly deletion: Deletion;
  readonly graceMs: number;
  readonly pause: (durationMs: number) => Promise<void>;
  readonly report: (progress: string) => void;
};

/**
 * The old key is kept as long as something needs it. In the result, `left` has the list entries
 * under the old key whose cards are not in the vault, and `unopened` counts the cards that cannot
 * be decrypted.
 */
export async function renewFingerprints(renewal: Renewal) {
  const { cells, keys, deletion, graceMs } = renewal;
  const store = makeRotationStore(renewal.database, cells);
  const oldIds = await makeKey(renewal, store);
  await waitUntil(graceMs, "nodes that may not know the new key");
  let { cards } = await renewCards(renewal);
  // Waits for orders that nodes have begun with the old key, so that `renewCards` finds them all.
  await waitUntil(graceMs + settledMs, "orders that are under way");
  let last: Awaited<ReturnType<typeof renewCards>>;
  do {
    last = await renewCards(renewal, "and counts");
    cards += last.cards;
  } while (last.isChanged);
  let orders = 0;
  for (const { query } of cells) {
    const renewPage = makeRenewHashIds(query, deletion, hashIdOf);
    for (let count = -1; count !== 0; orders += Math.max(0, count)) count = await renewPage();
  }
  const { found, unopened } = last;
  const { id: current } = keys.current("fingerprints");
  const earlier = await findEarlierEntries(renewal.database.query, current, graceMs);
  const left = earlier.flatMap(({ id, value }) => (found.has(value) ? [] : [id]));
  const isDone = left.length === 0 && unopened === 0;
  const destroyed = isDone ? await destroyKeys(renewal, store) : [];
  return { cards, orders, destroyed, left, unopened };

  async function waitUntil(retiredMs: number, forWhom: string): Promise<void> {
    const leftMs = await store.graceLeftMs(oldIds, retiredMs);
    if (leftMs === 0) return;
    renewal.report(`Waiting ${Math.ceil(leftMs / 1000)} s for ${forWhom}`);
    await renewal.pause(leftMs);
  }
}

/** Uses the new key of an interrupted run, if any. Returns the ids of the older keys. */
async function makeKey({ keys, report }: Renewal, store: RotationStore) {
  await keys.reload();
  if (keys.list("fingerprints").length > 1) report("Continuing the replacement that was begun");
  else {
    await store.replace([keys.sealNew("fingerprints")]);
    await keys.reload();
    report(
      `Made the key ${keys.current("fingerprints").id} (fingerprints); both count from now on`,
    );
  }
  return retiredOf(keys, "fingerprints").map(({ id }) => id);
}

/** Destroys the old keys last, because an interrupted renewal needs them to continue. */
async function destroyKeys({ keys }: Renewal, store: RotationStore) {
  const destroyed: number[] = [];
  for (const { id } of retiredOf(keys, "fingerprints")) {
    if ((await store.destroy(id)) === "destroyed") destroyed.push(id);
  }
  return destroyed;
}

/**
 * Recomputes the fingerprints of all cards once. In the result, `cards` counts the cards with a
 * fingerprint under an old key, and `found` has the list entries that name a card. If `counts` is
 * given, the counters of screening move to the new key too; every node must count under the new key
 * by then.
 */
async function renewCards(renewal: Renewal, counts?: "and counts") {
  const { database, cells, keys, report } = renewal;
  await keys.reload();
  const entries = await findListEntries(database.query, { kind: "card" });
  const listed = new Set(entries.map(({ value }) => value));
  const vault = makeVault(keys, async () => undefined);
  const found = new Set<string>();
  let [cards, unopened, others] = [0, 0, 0];
  for (const cell of cells) {
    let page = await listSealedCards(cell, undefined);
    for (; page.length > 0; page = await listSealedCards(cell, page.at(-1))) {
      const renamed = page.flatMap((card) => rename(card, renewal, vault) ?? []);
      unopened += page.length - renamed.length;
      if (counts !== undefined) {
        await renameTallies(
          cell,
          renamed.flatMap((each) => each.talliesOf()),
        );
      }
      const values = renamed.flatMap((each) => each.values.filter(([value]) => listed.has(value)));
      if (values.length > 0) await renameCardEntries(database, new Map(values));
      for (const [value] of values) listed.delete(value);
      for (const value of renamed.flatMap(({ next }) => next)) {
        if (listed.has(value)) found.add(value);
      }
      const written = await writeFingerprints(cell, renamed);
      cards += written.cards;
      others += written.references + values.length;
    }
  }
  report(`Fingerprints recomputed: ${cards} cards`);
  return { cards, unopened, found, isChanged: cards + others > 0 };
}

/** Returns undefined if the sealed card cannot be decrypted. It then keeps its old fingerprint. */
function rename(card: FingerprintedCard, { endpoints }: Renewal, vault: Vault) {
  const { merchantId, cardId } = card;
  const number = vault.openSealed(card)?.number;
  if (number === undefined) return undefined;
  const { fingerprint, hashId } = vault.fingerprint(merchantId, number);
  const next = [hashId, valueOfDigest(vault.cardDigest(number))] as const;
  const older = vault.cardNames(merchantId, number).slice(1);
  return {
    merchantId,
    cardId,
    fingerprint,
    hashId,
    next,
    /** Pairs of a list entry's value under an old key and its value under the new key. */
    values: older.flatMap((name) => [
      [name.hashId, next[0]] as const,
      [valueOfDigest(name.digest), next[1]] as const,
    ]),
    talliesOf(): readonly RenamedTally[] {
      const nextRows = rowsOf(vault.cardDigest(number));
      return older.flatMap(({ digest }) =>
        rowsOf(digest).map((row, at) => ({ ...row, next: nextRows[at]?.key ?? row.key })),
      );
    },
  };

  function rowsOf(digest: string) {
    const { digestSubject } = vault;
    const own = endpoints.filter((each) => each.merchant.id === merchantId);
    const rows = tallyRowsOf("card", digest, { endpoints: own, digestSubject });
    return [...rows, cardTryRow(digest, digestSubject)];
  }
}
