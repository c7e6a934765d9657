/**
 * Limits the sum of an endpoint's payouts, and the number of a merchant's payouts to a card, each
 * for a day of the gateway's time zone. A payout is counted before anything is sent, and stays
 * counted if it is refused.
 */
import type { EndpointSettings } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import type { EndpointId, MerchantId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import { calendarIn, hours, type Instant, later } from "../values/time.ts";
import { uuidOf } from "./judge.ts";

export type PayoutCount = {
  /** A keyed digest of the day and the endpoint or card, formatted as a UUID. */
  readonly key: string;
  readonly adds: bigint;
  readonly most: bigint;
  readonly keepUntil: Instant;
};

export type PayoutDays = {
  /** Returns the keys of the exceeded limits. If a limit is exceeded, the payout is not counted. */
  add(merchant: MerchantId, counts: readonly PayoutCount[]): Promise<readonly string[]>;
  remove(merchant: MerchantId, counts: readonly PayoutCount[]): Promise<void>;
};

type Payout = {
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly purchase: { readonly amount: Money };
  readonly at: Instant;
};

/** Digests of the request and of the card. The card's digest is the same at all merchants. */
type Counted = {
  readonly request: Uint8Array;
  readonly card: string | undefined;
  readonly cardNames: readonly { readonly digest: string }[];
};

export function makeCountPayout(
  days: PayoutDays,
  digestSubject: (text: string) => Buffer,
  zone: string,
) {
  /** Counts the payout. Returns a function that removes it from the counters, or the refusal. */
  return async (
    { merchantId, endpointId, purchase, at }: Payout,
    { payoutDayMax, payoutCardMax }: EndpointSettings,
    { request, card = "", cardNames }: Counted,
  ): Promise<(() => Promise<void>) | Failure> => {
    const { year, month, day } = calendarIn(zone, at);
    const keepUntil = later(at, hours(48));
    const bound = (subject: string, adds: bigint, most: bigint): PayoutCount => {
      const text = `payouts\n${subject}\n${year}-${month}-${day}`;
      return { key: uuidOf(digestSubject(text).toString("hex", 0, 16)), adds, most, keepUntil };
    };
    const sum =
      payoutDayMax === undefined
        ? []
        : [bound(`sum\n${endpointId}`, purchase.amount.minor, BigInt(payoutDayMax))];
    // While the fingerprint key is being replaced, a card is counted under both keys' digests.
    const names = cardNames.length === 0 ? [card] : cardNames.map(({ digest }) => digest);
    const cards =
      payoutCardMax === undefined
        ? []
        : names.map((name) => bound(`card\n${name}`, 1n, BigInt(payoutCardMax)));
    if (sum.length + cards.length === 0) return keepCount;
    // A repeat of the request, concurrent or after a failure of the database, is the same payout,
    // so each request is counted once.
    const once = bound(`request\n${Buffer.from(request).toString("hex")}`, 1n, 1n);
    const counts = [once, ...sum, ...cards];
    const full = await days.add(merchantId, counts);
    if (full.length === 0) return () => days.remove(merchantId, counts);
    if (full.includes(once.key)) return keepCount;
    const isOfSum = sum.some(({ key }) => full.includes(key));
    return isOfSum ? sumReached : cardReached;
  };
}

const keepCount = async () => undefined;
const sumReached = new Failure(
  "amount_out_of_range",
  "more than the endpoint may pay out in a day",
);
const cardReached = new Failure("amount_out_of_range", "too many payouts to the card in a day");
