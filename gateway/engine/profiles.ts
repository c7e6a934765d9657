/**
 * Recurring payment profiles: cards that a merchant registers without a payment, or after an
 * account verification, with default values for payments. A profile is a card reference, which is
 * found, charged and removed like any other.
 */
import type {
  CardReference,
  CardReferences,
  Profile,
  ReferencePurpose,
} from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { CardFacts, Order } from "../orders/order.ts";
import type { OrderRequest } from "../orders/requests.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId, type CardId, type CardRefId, type MerchantId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { type Clock, hours, type Instant, later } from "../values/time.ts";
import type { RequestDigest, RequestDigests } from "../vault/request-digests.ts";
import type { SealedCard } from "../vault/vault.ts";
import {
  type MerchantReferences,
  makeNewCards,
  type NewCardDependencies,
  type NewReferences,
} from "./cards.ts";

export type CreatedProfile = {
  readonly ids: Partial<CardReferences>;
  readonly hashId: string | undefined;
};

type Claim = { readonly clientOrderId: string; readonly digest: RequestDigest };

export type ProfileStore = {
  /** Returns false if the merchant's client order id already has a profile. */
  add(
    added: Claim &
      Pick<CreatedProfile, "ids"> &
      Pick<NewReferences, "cardId" | "facts" | "at"> & {
        readonly owner: Owner;
        readonly card: SealedCard;
      },
  ): Promise<boolean>;
  findCreated(
    merchant: MerchantId,
    clientOrderId: string,
  ): Promise<{ readonly digest: RequestDigest; readonly profile: CreatedProfile } | undefined>;
  /**
   * Changes a profile. Returns false if another request has changed the profile since it was read,
   * or has created one with the claimed client order id.
   */
  change(
    changed: Pick<NewReferences, "cardId" | "facts" | "at"> & {
      readonly reference: Pick<CardReference, "merchantId" | "id" | "version" | "card">;
      readonly stoppedAt: Instant | undefined;
      /** Until when an old card number is kept after it was replaced. */
      readonly keepUntil: Instant;
      readonly card: SealedCard | undefined;
      /** The client order id of a request that creates a profile from a card reference. */
      readonly claim: Claim | undefined;
    },
  ): Promise<boolean>;
};

type Owner = Pick<Order, "merchantId" | "endpointId">;
type BroughtCard = {
  readonly facts: Omit<CardFacts, "cardId" | "hashId">;
  readonly cardData: CardData;
};

export type ProfileRequest = Owner &
  Pick<OrderRequest, "clientOrderId" | "requestFingerprint"> & {
    /** `SRC` is a payer's card. `DST` is a receiver's card, which is never charged. */
    readonly cardType: "SRC" | "DST";
    readonly profile: Profile;
    readonly networkId: string | undefined;
  };

export type ProfileChange = {
  readonly card: BroughtCard | undefined;
  readonly networkId: string | undefined;
  readonly profile: Profile | undefined;
  readonly isStopped: boolean;
  readonly by: Author;
  readonly requestFingerprint: OrderRequest["requestFingerprint"];
};

/** `login` is the merchant's login. `request` is the serial number of the changing request. */
type Author = { readonly login: string; readonly request: string };

/** A change as the audit shows it, without names of persons and without card numbers. */
export type AuditedChange = {
  readonly by: Author;
  readonly id: CardRefId;
  readonly changed: readonly string[];
  readonly card: string;
};

type Dependencies = Omit<NewCardDependencies, "findEnrolment"> & {
  readonly store: ProfileStore & Pick<MerchantReferences, "find" | "findByCard">;
  readonly digests: Pick<RequestDigests, "make" | "isSame">;
  readonly isGuess: (guessed: {
    readonly merchantId: MerchantId;
    readonly id: Order["id"];
    readonly acceptedAt: Instant;
    readonly card: Pick<CardFacts, "bin" | "lastFour" | "hashId">;
    readonly transaction: Pick<Order["transaction"], "amount">;
  }) => Promise<boolean>;
  readonly newReferenceId: () => CardRefId;
  readonly newCardId: () => CardId;
  readonly keepDaysOf: (merchant: MerchantId) => { readonly paid: number };
  readonly audit: (change: AuditedChange) => Promise<void>;
  readonly clock: Pick<Clock, "now">;
};

export type Profiles = ReturnType<typeof makeProfiles>;

const purposesOf: Readonly<Record<ProfileRequest["cardType"], readonly ReferencePurpose[]>> = {
  SRC: ["card", "recurring", "destination", "destination_recurring"],
  DST: ["destination", "destination_recurring"],
};

const triesMax = 5;
/** How many updates of a profile are recognised when they are repeated. */
const digestsMax = 20;

export function makeProfiles(dependencies: Dependencies) {
  const { store, digests, newReferenceId, clock } = dependencies;
  // The enrolment for 3-D Secure is looked up for each payment, not stored with a profile.
  const newCards = makeNewCards({ ...dependencies, findEnrolment: () => undefined });
  return {
    /** Finds what an earlier identical request created. */
    findCreated,

    /** Repeats of a request return the profile that it has created. */
    async create(request: ProfileRequest, card: BroughtCard): Promise<CreatedProfile | Failure> {
      const { networkId, profile } = request;
      const brought = await readCard(request, card);
      if (brought instanceof Failure) return brought;
      const purposes = purposesOf[request.cardType];
      const ids = Object.fromEntries(purposes.map((purpose) => [purpose, newReferenceId()]));
      const { facts, sealed } = brought;
      const isDone = await store.add({
        owner: request,
        ids,
        cardId: facts.cardId,
        facts: { card: facts, networkId, profile },
        card: sealed,
        at: clock.now(),
        ...(await claimOf(request)),
      });
      return isDone ? { ids, hashId: facts.hashId } : getCreated(request);
    },

    /** Makes a profile of a card that was registered after an approved account verification. */
    async adopt(request: ProfileRequest, id: CardRefId): Promise<CreatedProfile | Failure> {
      const reference = await getReference(request.merchantId, id);
      if (reference instanceof Failure) return reference;
      const { networkId = reference.networkId, profile } = request;
      const next = { ...reference, networkId, profile };
      await write(reference, next, { claim: await claimOf(request) });
      return getCreated(request);
    },

    /** A request that changes no value writes no audit entry, and a repeat writes nothing. */
    async change(
      found: CardReference,
      read: (found: CardReference) => ProfileChange,
    ): Promise<(CreatedProfile & { readonly reference: CardReference }) | Failure> {
      let reference: CardReference | Failure = found;
      for (let tries = 0; tries < triesMax; tries += 1) {
        if (reference instanceof Failure) return reference;
        const changed: CardReference | Failure | undefined = await tryChange(
          reference,
          read(reference),
        );
        if (changed instanceof Failure) return changed;
        if (changed !== undefined) {
          const known = await store.findByCard(changed.merchantId, changed.card.cardId);
          return { ids: known?.ids ?? {}, hashId: changed.card.hashId, reference: changed };
        }
        reference = await getReference(found.merchantId, found.id);
      }
      return new Failure("storage_unavailable", "", "others change the profile all the time");
    },
  };

  async function findCreated(request: Identified): Promise<CreatedProfile | Failure | undefined> {
    const known = await store.findCreated(request.merchantId, request.clientOrderId);
    if (known === undefined) return undefined;
    const isSame = await digests.isSame(request.requestFingerprint, known.digest);
    return isSame ? known.profile : new Failure("duplicate_order");
  }

  async function getCreated(request: Identified): Promise<CreatedProfile | Failure> {
    const created = await findCreated(request);
    return created ?? new Failure("storage_unavailable", "", "the profile was not stored");
  }

  async function claimOf({ clientOrderId, requestFingerprint }: Identified): Promise<Claim> {
    return { clientOrderId, digest: await digests.make(requestFingerprint) };
  }

  async function getReference(merchant: MerchantId, id: CardRefId) {
    const known = await store.find(merchant, id);
    const isGone = known === undefined || known.removedAt !== undefined;
    return isGone ? new Failure("card_reference_removed") : known;
  }

  /** Returns undefined if another request has changed the profile since it was read. */
  async function tryChange(
    reference: CardReference,
    { card, networkId, profile, isStopped, by, requestFingerprint }: ProfileChange,
  ): Promise<CardReference | Failure | undefined> {
    const { updateDigests = [] } = reference;
    for (const { keyId, hex } of updateDigests) {
      const earlier = { keyId, digest: Buffer.from(hex, "hex"), cvv: undefined };
      if (await digests.isSame(requestFingerprint, earlier)) return reference;
    }
    const { keyId, digest } = await digests.make(requestFingerprint);
    const brought = card && (await readCard(reference, card));
    if (brought instanceof Failure) return brought;
    const isNew = brought !== undefined && findChanges(reference.card, brought.facts).length > 0;
    const stopped = isStopped ? (reference.stoppedAt ?? clock.now()) : reference.stoppedAt;
    const { isDevice, ...kept } = reference;
    const next = {
      ...kept,
      networkId,
      stoppedAt: stopped,
      updateDigests: [...updateDigests, { keyId, hex: digest.toHex() }].slice(-digestsMax),
      ...(profile && { profile }),
      // A merchant sends card numbers here, never a wallet's device number.
      ...(isNew ? { card: brought.facts } : isDevice && { isDevice }),
    };
    const changed = findChanges(factsOf(reference), factsOf(next));
    if (stopped !== reference.stoppedAt) changed.push("finish_date");
    const { bin, lastFour } = next.card;
    const { id } = reference;
    // The audit entry is written first, so that a crash cannot leave a change without an entry.
    const entry = { by, id, changed, card: `${bin}****${lastFour}` };
    if (changed.length > 0) await dependencies.audit(entry);
    const isDone = await write(reference, next, { card: isNew ? brought.sealed : undefined });
    return isDone ? next : undefined;
  }

  function write(
    reference: CardReference,
    next: CardReference,
    { card, claim }: { readonly card?: SealedCard | undefined; readonly claim?: Claim },
  ): Promise<boolean> {
    const at = clock.now();
    const keepUntil = later(at, hours(24 * dependencies.keepDaysOf(reference.merchantId).paid));
    const { stoppedAt } = next;
    const cardId = next.card.cardId;
    const facts = factsOf(next);
    return store.change({ reference, cardId, facts, stoppedAt, at, keepUntil, card, claim });
  }

  /** Refuses the card if the merchant seems to guess a card number (decision 0078). */
  async function readCard(owner: Owner, { facts: brought, cardData }: BroughtCard) {
    const cardId = dependencies.newCardId();
    const { facts, sealCard } = newCards.read(owner, cardId, brought, cardData);
    const guessed = {
      merchantId: owner.merchantId,
      id: asOrderId(cardId),
      acceptedAt: clock.now(),
      card: facts,
      transaction: { amount: noMoney },
    };
    if (sealCard === undefined) throw new Error("the card of a profile is not new");
    if (await dependencies.isGuess(guessed)) return new Failure("too_many_cards");
    return { facts, sealed: sealCard() };
  }
}

type Identified = Pick<ProfileRequest, "merchantId" | "clientOrderId" | "requestFingerprint">;

const noMoney = new Money(0n, getCurrency("USD"));

function factsOf(reference: CardReference): NewReferences["facts"] {
  const { card, networkId, isDevice, profile, updateDigests } = reference;
  return {
    card,
    networkId,
    ...(isDevice && { isDevice }),
    ...(profile && { profile }),
    ...(updateDigests && { updateDigests }),
  };
}

/** Returns the names of differing values, except those that only the gateway knows. */
function findChanges(before: object, after: object): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) =>
      name !== "cardId" &&
      name !== "updateDigests" &&
      JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)),
  );
}
