/**
 * Rotation of the keys that seal cards and secrets, while payments go on. Every step can be cut
 * short: what was begun is found in the tables and gone on with. The key of fingerprints and that
 * of digests stay: a card would get another hash id, and a repeated request would not be known.
 * The key of held secrets stays too: what it seals are keys that live for minutes.
 */
import type { CardId, MerchantId } from "../values/ids.ts";
import { type Keys, makeSealedKey, type OpenKey, type Purpose } from "./keys.ts";
import { open, seal } from "./seal.ts";
import { cardContext, openWithAny, type SealedCard } from "./vault.ts";

export type SealedSecret = {
  readonly id: string;
  readonly context: string;
  readonly sealed: Uint8Array;
};

export type RotationStore = {
  /** The current keys of these purposes are retired and the next ones added, all together. */
  replace(next: readonly { purpose: Purpose; sealed: Buffer }[]): Promise<void>;
  countCards(keyIds: readonly number[]): Promise<number>;
  /** In the order of their keys, from the one after `after` on. */
  listCards(
    keyId: number,
    after: CardPlace | undefined,
    limit: number,
  ): Promise<readonly SealedCard[]>;
  /** Only those that are still under `from`; answers how many were. */
  resealCards(from: number, cards: readonly SealedCard[]): Promise<number>;
  listSecrets(): Promise<readonly SealedSecret[]>;
  /** Only when it is still what was read. */
  resealSecret(secret: SealedSecret, sealed: Uint8Array): Promise<void>;
  /** How long until the last of them has been retired for `graceMs`. */
  graceLeftMs(keyIds: readonly number[], graceMs: number): Promise<number>;
  /** Never one that still seals a card. */
  destroy(keyId: number): Promise<"destroyed" | "in_use">;
};

type CardPlace = { readonly merchantId: MerchantId; readonly cardId: CardId };

export type Rotation = {
  readonly masterKey: Uint8Array;
  readonly keys: Keys;
  readonly store: RotationStore;
  /** New keys also when an earlier rotation has left keys behind whose cards do not open. */
  readonly anew?: boolean;
  /** For how long a node may not have heard of the new key. */
  readonly graceMs: number;
  readonly pause: (durationMs: number) => Promise<void>;
  readonly report: (progress: string) => void;
};

export type Rotated = {
  readonly cards: number;
  readonly destroyed: readonly number[];
  /** Retired keys that are kept, because something under them does not open. */
  readonly kept: readonly number[];
};

const rotated: readonly Purpose[] = ["cards", "secrets"];
const pageSize = 500;
const reportEveryMs = 1000;

export async function rotateKeys(rotation: Rotation): Promise<Rotated> {
  const { keys, store, report, graceMs } = rotation;
  await keys.reload();
  const isGoingOn = retiredOf(keys).length > 0 && rotation.anew !== true;
  if (isGoingOn) report("Going on with the rotation that was begun");
  else await makeNext(rotation);

  const retired = retiredOf(keys).map(({ id }) => id);
  let cards = await resealAll(rotation);
  const graceLeftMs = await store.graceLeftMs(retired, graceMs);
  if (graceLeftMs > 0) {
    report(`Waiting ${Math.ceil(graceLeftMs / 1000)} s for nodes that may still use the old keys`);
    await rotation.pause(graceLeftMs);
  }

  const destroyed: number[] = [];
  for (const id of retired) {
    let resealed: number;
    do {
      resealed = await resealAll(rotation);
      cards += resealed;
      if (await isSealing(rotation, id)) break;
      if ((await store.destroy(id)) === "destroyed") destroyed.push(id);
    } while (!destroyed.includes(id) && resealed > 0);
  }
  return { cards, destroyed, kept: retired.filter((id) => !destroyed.includes(id)) };
}

async function makeNext({ masterKey, keys, store, report }: Rotation): Promise<void> {
  await store.replace(
    rotated.map((purpose) => ({ purpose, sealed: makeSealedKey(masterKey, purpose) })),
  );
  await keys.reload();
  const made = rotated.map((purpose) => `${keys.current(purpose).id} (${purpose})`);
  report(`Made the keys ${made.join(" and ")}; nodes seal with them from now on`);
}

function retiredOf(keys: Keys): readonly OpenKey[] {
  return rotated.flatMap((purpose) => {
    const { id: current } = keys.current(purpose);
    return keys.list(purpose).filter(({ id }) => id !== current);
  });
}

async function resealAll(rotation: Rotation): Promise<number> {
  const { keys, store, report } = rotation;
  await resealSecrets(rotation);
  const current = keys.current("cards");
  const retired = keys.list("cards").filter(({ id }) => id !== current.id);
  const total = await store.countCards(retired.map(({ id }) => id));
  if (total === 0) return 0;

  const progress = makeProgress(total, report);
  for (const from of retired) {
    let page = await store.listCards(from.id, undefined, pageSize);
    while (page.length > 0) {
      progress.add(await store.resealCards(from.id, resealPage(from, current, page)));
      page = await store.listCards(from.id, page.at(-1), pageSize);
    }
  }
  return progress.end();
}

/** A card that does not open is left as it is: its key is then kept. */
function resealPage(
  from: OpenKey,
  to: OpenKey,
  page: readonly SealedCard[],
): readonly SealedCard[] {
  return page.flatMap((card) => {
    const context = cardContext(card.merchantId, card.cardId);
    try {
      const plain = open(from.key, card.sealed, context);
      const sealed = seal(to.key, plain, context);
      plain.fill(0);
      return [{ ...card, keyId: to.id, sealed }];
    } catch {
      return [];
    }
  });
}

async function resealSecrets({ keys, store }: Rotation): Promise<void> {
  const current = keys.current("secrets");
  for (const secret of await store.listSecrets()) {
    const { keyId, plain } = openWithAny(keys.list("secrets"), secret.sealed, secret.context);
    if (keyId === current.id) continue;
    await store.resealSecret(secret, seal(current.key, plain, secret.context));
    plain.fill(0);
  }
}

/** Whether a secret is under this key; of cards, the store itself makes sure. */
async function isSealing({ keys, store }: Rotation, id: number): Promise<boolean> {
  const secrets = await store.listSecrets();
  return secrets.some(
    ({ sealed, context }) => openWithAny(keys.list("secrets"), sealed, context).keyId === id,
  );
}

function makeProgress(total: number, report: (progress: string) => void) {
  const startedAt = performance.now();
  let reportedAt = startedAt;
  let done = 0;
  const tell = () => {
    reportedAt = performance.now();
    const rate = Math.round((done * 1000) / Math.max(1, reportedAt - startedAt));
    report(`Sealed anew: ${done} of ${Math.max(done, total)} cards, ${rate} per second`);
  };
  return {
    add(count: number) {
      done += count;
      if (performance.now() - reportedAt >= reportEveryMs) tell();
    },
    end() {
      tell();
      return done;
    },
  };
}
