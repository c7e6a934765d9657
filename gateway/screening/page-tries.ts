/**
 * Limits card testing on the payment page (decision 0056). A try is counted for its payment link,
 * IP address and card, at all nodes of the cell, before anything is sent; approved tries do not
 * count. Above half of a limit, the page must bring a proof of work. Above the limit of an address
 * or a card, the try is refused. Above the limit of a link, the proof only becomes harder, because
 * anyone could otherwise close the link for all customers.
 */
import { hash, randomBytes } from "node:crypto";
import type { Order } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import { asMerchantId, type MerchantId } from "../values/ids.ts";
import { asInstant, type Clock, type Instant, later, minutes } from "../values/time.ts";
import { type CountedPayment, type TallyRow, type TallyStore, uuidOf } from "./judge.ts";
import { networkOf, type Seen, type Tally } from "./rule.ts";

/** The tries, except approved ones, that are permitted in the window. Zero means no limit. */
export type TryLimits = {
  readonly perLink: number;
  readonly perAddress: number;
  readonly perCard: number;
  readonly windowMs: number;
  readonly proofBits: number;
};

export type TryStore = Pick<TallyStore, "add" | "findResults"> & {
  /** Returns the tallies without counting a try. */
  look(merchant: MerchantId, rows: readonly TallyRow[]): Promise<readonly Tally[]>;
};

type Dependencies = {
  readonly limits: TryLimits;
  readonly store: TryStore;
  readonly proofs: Proofs;
  readonly digestSubject: (text: string) => Buffer;
  readonly clock: Pick<Clock, "now">;
};

/** `page` is the id of the shown page. A proof of work is valid for that page only. */
export type TryOrigin = {
  readonly merchantId: MerchantId;
  readonly page: string;
  readonly ipAddress: string;
  readonly linkId?: string | undefined;
  /** A digest of the card number. While its key is replaced, `earlierCard` is the old digest. */
  readonly card?: string | undefined;
  readonly earlierCard?: string | undefined;
};

/** `challenge`: a proof of work that the try needs. `waitS`: the seconds until a try is allowed. */
type Demand = { readonly challenge?: string; readonly waitS?: number };

/** The proof's work doubles at each multiple of the limit, at most this many times. */
const addedBitsMax = 5;

type Checked = Demand & { readonly isProved?: boolean };
/** `proof` is empty if the page sent none. `isProved`: an earlier check has used up a proof. */
type Shown = { readonly proof: string; readonly isProved?: boolean };

type PageTries = ReturnType<typeof makePageTries>;

const nothing: Demand = {};
const everyMerchant = asMerchantId("0");

export function makePageTries({ limits, store, proofs, digestSubject, clock }: Dependencies) {
  return { look, check, admit };

  /** Returns what a try would need, a proof of work or a waiting time, and counts no try. */
  async function look(origin: TryOrigin): Promise<Demand> {
    const counted = rowsOf(origin);
    if (counted.length === 0) return nothing;
    const rows = counted.map(({ row }) => row);
    const tallies = await store.look(origin.merchantId, rows);
    return demandOf(origin, counted, tallies, clock.now());
  }

  /** Checks a try without counting it. A valid proof of work that the try needs is used up. */
  async function check(origin: TryOrigin, proof: string): Promise<Checked> {
    const demand = await look(origin);
    if (demand.challenge === undefined || proof === "") return demand;
    const isProved = await proofs.use(origin, proof, bitsOf(demand.challenge));
    return isProved ? { isProved } : demand;
  }

  /** Counts a try of the order, unless its proof is missing or a limit is reached already. */
  async function admit(order: Order, origin: TryOrigin, shown: Shown): Promise<Demand> {
    const counted = rowsOf(origin);
    if (counted.length === 0) return nothing;
    const checked: Checked = shown.isProved ? shown : await check(origin, shown.proof);
    // A refused try is not counted, because a flood of them would block an address for ever.
    if (checked.waitS !== undefined || checked.challenge !== undefined) return checked;
    const at = clock.now();
    const tallies = await store.add(countedTry(order, origin, counted, at));
    const demand = await demandOf(origin, counted, tallies, at);
    if (demand.challenge === undefined) return demand;
    // After concurrent tries, this try may need a proof that it did not need at the earlier check.
    const isProved =
      checked.isProved || (await proofs.use(origin, shown.proof, bitsOf(demand.challenge)));
    return isProved ? nothing : demand;
  }

  async function demandOf(
    origin: TryOrigin,
    counted: readonly Counted[],
    tallies: readonly Tally[],
    now: Instant,
  ): Promise<Demand> {
    const since = now - limits.windowMs;
    const seen = tallies.map(({ before }) => before.filter(({ at }) => at > since));
    const isNear = (tries: readonly Seen[], at: number) =>
      2 * (tries.length + 1) > (counted[at]?.limit ?? 0);
    const asked = seen.filter(isNear).flat();
    if (asked.length === 0 && !seen.some(isNear)) return nothing;
    const ids = [...new Set(asked.map(({ orderId }) => orderId))];
    const results = await store.findResults(origin.merchantId, ids);
    const unapproved = seen.map((tries) =>
      tries.filter(({ orderId }) => results.get(orderId) !== "approved"),
    );
    const over = unapproved.filter((tries, at) => tries.length >= (counted[at]?.closesAt ?? 0));
    if (over.length > 0) return { waitS: waitFor(over, now) };
    if (!unapproved.some(isNear)) return nothing;
    const timesOver = unapproved.map((tries, at) => tries.length / (counted[at]?.limit ?? 1));
    const added = Math.min(addedBitsMax, Math.floor(Math.max(...timesOver)));
    const bits = limits.proofBits + added;
    return { challenge: proofs.issue(origin, Math.min(bits, proofBitsMax)) };
  }

  /** Returns the seconds until each row above its limit has lost its oldest try from the window. */
  function waitFor(over: readonly (readonly Seen[])[], now: Instant): number {
    const oldest = over.map((tries) => Math.min(...tries.map(({ at }) => at)));
    return Math.max(1, Math.ceil((Math.max(...oldest) + limits.windowMs - now) / 1000));
  }

  /** Tries with the same IP address or card are counted together for all merchants of the cell. */
  function rowsOf(origin: TryOrigin): readonly Counted[] {
    const { merchantId, ipAddress, linkId, card, earlierCard } = origin;
    const { perLink, perAddress, perCard } = limits;
    const all = [
      {
        owner: merchantId,
        subject: linkId && `link\n${linkId}`,
        limit: perLink,
        closesAt: Infinity,
      },
      {
        owner: everyMerchant,
        subject: `ip\n${networkOf(ipAddress)}`,
        limit: perAddress,
        closesAt: perAddress,
      },
      {
        owner: everyMerchant,
        subject: card && cardSubject(card),
        limit: perCard,
        closesAt: perCard,
      },
      {
        owner: everyMerchant,
        subject: earlierCard && cardSubject(earlierCard),
        limit: perCard,
        closesAt: perCard,
      },
    ];
    const keepUntil = later(clock.now(), limits.windowMs);
    return all.flatMap(({ owner, subject, limit, closesAt }) => {
      if (subject === undefined || limit === 0) return [];
      const key = keyOf(subject, digestSubject);
      return [{ row: { owner, key, keepUntil }, limit, closesAt }];
    });
  }
}

type Noting = {
  readonly cardDigest: (number: CardNumber) => string;
  /** Returns the card's digest by each fingerprint key in use, the one by the oldest key last. */
  readonly cardNames: (
    merchant: MerchantId,
    number: CardNumber,
  ) => readonly { readonly digest: string }[];
  readonly onRefused: (of: string) => void;
};

export function makeCardTries(tries: PageTries, { cardDigest, cardNames, onRefused }: Noting) {
  return {
    look: tries.look,
    check: async (origin: TryOrigin, proof: string, number?: CardNumber) =>
      noted(origin, await tries.check(withCard(origin, number), proof)),
    admit: async (order: Order, origin: TryOrigin, number: CardNumber | undefined, shown: Shown) =>
      noted(origin, await tries.admit(order, withCard(origin, number), shown)),
  };

  function withCard(origin: TryOrigin, number: CardNumber | undefined): TryOrigin {
    const card = number && cardDigest(number);
    const earlierCard = number && cardNames(origin.merchantId, number).at(-1)?.digest;
    return { ...origin, card, earlierCard };
  }

  function noted<Noted extends Demand>({ linkId }: TryOrigin, demand: Noted): Noted {
    const of = linkId === undefined ? "an IP address or a card" : `link ${linkId}`;
    if (demand.waitS !== undefined) onRefused(of);
    return demand;
  }
}

export type CardTries = ReturnType<typeof makeCardTries>;

const cardSubject = (card: string) => `card\n${card}`;

function keyOf(subject: string, digestSubject: Dependencies["digestSubject"]): string {
  return uuidOf(digestSubject(`page\n${subject}`).toString("hex", 0, 16));
}

export function cardTryRow(card: string, digestSubject: Dependencies["digestSubject"]) {
  return { owner: everyMerchant, key: keyOf(cardSubject(card), digestSubject) };
}

type Counted = { readonly row: TallyRow; readonly limit: number; readonly closesAt: number };

function countedTry(
  { id: orderId, transaction }: Order,
  { merchantId, card = "" }: TryOrigin,
  counted: readonly Counted[],
  at: Instant,
): CountedPayment {
  const { minor, currency } = transaction.amount;
  return {
    merchantId,
    seen: { orderId, at, minor, currency: currency.code, card },
    // A random id, because a second try with the same card counts as another try.
    request: randomBytes(8),
    rows: counted.map(({ row }) => row),
  };
}

/** The cardholder has to enter the card before the challenge for a proof of work expires. */
export const challengeLifetimeMs = minutes(30);
const form = /^(\d{1,2})\.([0-9a-z]{1,9})\.([\w-]{16})([\w-]{24})$/;
/** With nonce and signature of the challenge, a solution fits one block of SHA-256. */
const solutionForm = /^\d{1,15}$/;
/** The highest difficulty. The page's script compares only the first 32 bits of the hash. */
const proofBitsMax = 30;

type ProofDependencies = {
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
  /** Returns false if the challenge's nonce was used before, at any node. */
  readonly takeNonce: (nonce: {
    readonly merchantId: MerchantId;
    readonly nonce: string;
    readonly signedAt: Instant;
  }) => Promise<boolean>;
  readonly clock: Pick<Clock, "now">;
};

type ProvenPage = { readonly merchantId: MerchantId; readonly page: string };

type Proofs = ReturnType<typeof makeProofs>;

/**
 * Proofs of work for the payment page (decision 0056): the page's script searches a number for
 * which the hash of challenge and number begins with enough zero bits. The challenge is signed with
 * its page, difficulty and expiry, so that the gateway stores nothing before the proof is used.
 */
export function makeProofs({ tokenOf, isToken, takeNonce, clock }: ProofDependencies) {
  return {
    issue(page: ProvenPage, bits: number): string {
      const expiry = Math.ceil(later(clock.now(), challengeLifetimeMs) / 1000).toString(36);
      const nonce = randomBytes(12).toString("base64url");
      const signature = tokenOf(signedText(page, String(bits), expiry, nonce));
      return `${bits}.${expiry}.${nonce}${signature}`;
    },

    /** Returns whether the proof is valid and hard enough, and uses it up. */
    async use(page: ProvenPage, proof: string, bitsMin: number): Promise<boolean> {
      const [challenge = "", solution = ""] = proof.split(":");
      const [, bits = "", expiry = "", nonce = "", signature = ""] = form.exec(challenge) ?? [];
      if (nonce === "" || !solutionForm.test(solution) || Number(bits) < bitsMin) return false;
      const expiresAt = asInstant(Number.parseInt(expiry, 36) * 1000);
      if (expiresAt <= clock.now()) return false;
      if (!isToken(signedText(page, bits, expiry, nonce), signature)) return false;
      if (countZeroBits(nonce + signature + solution) < Number(bits)) return false;
      // A nonce is deleted some time after its `signedAt`. The challenge's expiry is passed as
      // `signedAt`, so that the nonce stays stored until the challenge has expired.
      return takeNonce({
        merchantId: page.merchantId,
        nonce: `proof/${nonce}`,
        signedAt: expiresAt,
      });
    },
  };
}

function signedText(
  { merchantId, page }: ProvenPage,
  bits: string,
  expiry: string,
  nonce: string,
): string {
  return `proof/${merchantId}/${page}/${bits}.${expiry}.${nonce}`;
}

export function countZeroBits(text: string): number {
  const digest = hash("sha256", text, "buffer");
  const whole = digest.findIndex((byte) => byte !== 0);
  if (whole < 0) return digest.length * 8;
  return whole * 8 + Math.clz32(digest[whole] ?? 0) - 24;
}

function bitsOf(challenge: string): number {
  return Number(challenge.split(".")[0]);
}
