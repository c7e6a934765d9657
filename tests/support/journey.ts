/**
 * Random journeys: waves of simultaneous requests of every kind, with a bank that declines, loses
 * answers and is unreachable at times. They are small enough to be read when one fails.
 */
import fc from "fast-check";

/** A charge. A `rebill` uses a registered card, and tries smaller amounts if the bank refuses. */
export type Begin = {
  readonly kind: "sale" | "preauth" | "verify" | "rebill";
  readonly card: string;
  readonly minor: number;
  readonly through: "plain" | "binary" | "iso93";
};

/**
 * A follow-up. `order` counts from the latest order back; `percent` refers to the amount with which
 * the order began.
 */
export type Follow = {
  readonly kind: "capture" | "return";
  readonly order: number;
  readonly percent: number | "all";
};

/** Another attempt at an order that the merchant considers failed. */
export type Again = { readonly kind: "again"; readonly order: number };

export type Asking = Begin | Follow | Again;

/** Response codes of the host. Null leaves the code to the card. */
export type HostCodes = Readonly<
  Record<"chargeCode" | "reversalCode" | "followUpCode", string | null>
>;

export type Event =
  | { readonly kind: "wave"; readonly requests: readonly Asking[] }
  | { readonly kind: "bank"; readonly lost: number; readonly declined: number }
  | ({ readonly kind: "codes" } & HostCodes)
  | { readonly kind: "outage"; readonly hours: number }
  | { readonly kind: "time"; readonly seconds: number }
  | { readonly kind: "restart" };

/**
 * No card refuses captures or returns permanently: if the first answer is lost and the repeat is
 * refused, only an operator can settle the doubt.
 */
// biome-ignore format: a table
const cards: readonly (readonly [weight: number, card: string])[] = [
  [12, "4111111111111111"], // decided by the switches
  [ 1, "4000004000000020"], // declined
  [ 1, "4000004000000129"], // booked, not answered
  [ 1, "4000004000000137"], // not booked, not answered
  [ 1, "4000004000000145"], // approved too late
  [ 1, "4000004000000152"], // the link drops
  [ 1, "4000004000000160"], // garbled
  [ 1, "4000004000000178"], // answered twice
  [ 1, "4000004000000186"], // approved in part
  [ 1, "4000004000000228"], // leaves two returns unanswered
];

const card = fc.oneof(
  ...cards.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })),
);
const through = fc.constantFrom("plain" as const, "binary" as const, "iso93" as const);

const begin: fc.Arbitrary<Begin> = fc.record({
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant("sale" as const) },
    { weight: 4, arbitrary: fc.constant("preauth" as const) },
    { weight: 1, arbitrary: fc.constant("verify" as const) },
    { weight: 2, arbitrary: fc.constant("rebill" as const) },
  ),
  card,
  minor: fc.integer({ min: 2, max: 9_999 }),
  through,
});

const follow: fc.Arbitrary<Follow> = fc.record({
  kind: fc.constantFrom("capture" as const, "return" as const),
  order: fc.nat({ max: 6 }),
  percent: fc.oneof(fc.constant("all" as const), fc.integer({ min: 1, max: 105 })),
});

const again: fc.Arbitrary<Again> = fc.record({
  kind: fc.constant("again" as const),
  order: fc.nat({ max: 6 }),
});

/**
 * Response codes that leave a charge or a follow-up carried out, although they decline it. A host
 * that repeatedly denies a charge that it has booked cannot be distinguished from one that never
 * had it.
 */
const codes = fc.record({
  kind: fc.constant("codes" as const),
  chargeCode: fc.constantFrom(null, null, null, null, "09", "68", "94", "91"),
  reversalCode: fc.constantFrom(null, null, "05", "12", "91", "94", "96"),
  followUpCode: fc.constantFrom(null, null, null, "09", "94", "96", "57"),
});

const wish = fc.oneof(
  { weight: 4, arbitrary: begin },
  { weight: 4, arbitrary: follow },
  { weight: 1, arbitrary: again },
);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("wave" as const),
      requests: fc.array(wish, { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("bank" as const),
      lost: fc.constantFrom(0, 0.2, 0.5),
      declined: fc.constantFrom(0, 0.2),
    }),
  },
  { weight: 4, arbitrary: codes },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("time" as const),
      seconds: fc.constantFrom(1, 5, 31, 600),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("outage" as const), hours: fc.constantFrom(1, 5) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);

/** Long journeys, for which `size` asks. A failing one is shrunk to a short one. */
export const journey: fc.Arbitrary<readonly Event[]> = fc.array(event, {
  minLength: 1,
  maxLength: 60,
  size: "max",
});

export function isBegin(asking: Asking): asking is Begin {
  return asking.kind !== "again" && !isFollow(asking);
}

function isFollow(asking: Asking): asking is Follow {
  return asking.kind === "capture" || asking.kind === "return";
}
