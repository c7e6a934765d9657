/**
 * The bounds of payouts over a day of the gateway's time zone: the sum of an endpoint, and the
 * number of payouts to a card. A payout is counted when it is accepted, before anything is sent,
 * and stays counted also if it is refused.
 */
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import { calendarIn, hours, type Instant, later } from "../values/time.ts";
import { uuidOf } from "./judge.ts";

export type PayoutCount = {
  /** A keyed digest of the endpoint, or the card, and the day; a UUID. */
  readonly key: string;
  readonly adds: bigint;
  readonly most: bigint;
  readonly keepUntil: Instant;
};

export type PayoutDays = {
  /** Returns the keys of the bounds that have no room left; nothing is counted then. */
  add(merchant: MerchantId, counts: readonly PayoutCount[]): Promise<readonly string[]>;
  remove(merchant: MerchantId, counts: readonly PayoutCount[]): Promise<void>;
};

/** Digests of the card, which are the same at all merchants. */
type Counted = {
  readonly card: string | undefined;
  readonly cardNames: readonly { readonly digest: string }[];
};

export function makeCountPayout(
  days: PayoutDays,
  digestSubject: (text: string) => Buffer,
  zone: string,
) {
  /** Returns how the count is undone, or the refusal. */
  return async (
    order: Order,
    { payoutDayMax, payoutCardMax }: EndpointSettings,
    { card = "", cardNames }: Counted,
  ): Promise<(() => Promise<void>) | Failure> => {
    const { merchantId, endpointId, acceptedAt, transaction } = order;
    const { year, month, day } = calendarIn(zone, acceptedAt);
    const keepUntil = later(acceptedAt, hours(48));
    const bound = (subject: string, adds: bigint, most: bigint): PayoutCount => {
      const text = `payouts\n${endpointId}\n${subject}\n${year}-${month}-${day}`;
      return { key: uuidOf(digestSubject(text).toString("hex", 0, 16)), adds, most, keepUntil };
    };
    const sum =
      payoutDayMax === undefined
        ? []
        : [bound("sum", transaction.amount.minor, BigInt(payoutDayMax))];
    // While the key of cards is being replaced, a card is counted under both.
    const names = cardNames.length === 0 ? [card] : cardNames.map(({ digest }) => digest);
    const cards =
      payoutCardMax === undefined
        ? []
        : names.map((name) => bound(`card\n${name}`, 1n, BigInt(payoutCardMax)));
    const counts = [...sum, ...cards];
    if (counts.length === 0) return async () => undefined;
    const full = await days.add(merchantId, counts);
    if (full.length === 0) return () => days.remove(merchantId, counts);
    const isOfSum = sum.some(({ key }) => full.includes(key));
    return isOfSum ? sumReached : cardReached;
  };
}

const sumReached = new Failure(
  "amount_out_of_range",
  "more than the endpoint may pay out in a day",
);
const cardReached = new Failure("amount_out_of_range", "too many payouts to the card in a day");
