/**
 * Ranges that may overlap become intervals that do not, found by a binary search: where several
 * ranges hold a number, the narrowest counts. Nineteen digits fit into 64 bits, so bounds are kept
 * as such.
 */
import { type Heap, makeHeap } from "./heap.ts";

export type Span<Value> = {
  /** Digits of one length; both belong to the span. */
  readonly first: string;
  readonly last: string;
  readonly value: Value;
};

export type FindValue<Value> = (digits: string) => Value | undefined;

type Bounds = { readonly firsts: BigUint64Array; readonly lasts: BigUint64Array };
/** Intervals, rising, and the number of the span that each is a part of. */
type Intervals = Bounds & { readonly spans: Int32Array };

export function makeFindNarrowest<Value>(given: readonly Span<Value>[]): FindValue<Value> {
  // They come sorted out of the database: that costs one comparison each.
  const sorted = given.filter(({ first, last }) => first <= last).sort(byFirst);
  const values = sorted.map(({ value }) => value);
  const { firsts, lasts, spans } = separate({
    firsts: BigUint64Array.from(sorted, ({ first }) => BigInt(first)),
    lasts: BigUint64Array.from(sorted, ({ last }) => BigInt(last)),
  });

  return (digits) => {
    const number = BigInt(digits);
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at(firsts, middle) <= number) low = middle + 1;
      else high = middle;
    }
    const isHeld = low > 0 && number <= at(lasts, low - 1);
    return isHeld ? values[spans[low - 1] ?? 0] : undefined;
  };
}

function byFirst(left: Span<unknown>, right: Span<unknown>): number {
  return left.first < right.first ? -1 : left.first > right.first ? 1 : 0;
}

/** From left to right, with those at hand that have begun: the narrowest of them counts. */
function separate(sorted: Bounds): Intervals {
  const count = sorted.firsts.length;
  const begun = makeHeap(makeIsNarrower(sorted));
  // Every interval ends where a span begins or ends.
  const found = makeIntervals(2 * count);
  let size = 0;
  let next = 0;
  let from = 0n;

  for (;;) {
    dropEnded(begun, sorted.lasts, from);
    if (begun.top() === undefined) {
      if (next === count) break;
      from = at(sorted.firsts, next);
    }
    for (; next < count && at(sorted.firsts, next) <= from; next += 1) begun.push(next);
    const narrowest = begun.top() ?? 0;
    const until = endOf(narrowest, next);
    put(narrowest, until);
    from = until + 1n;
  }
  return {
    firsts: found.firsts.slice(0, size),
    lasts: found.lasts.slice(0, size),
    spans: found.spans.slice(0, size),
  };

  function endOf(span: number, following: number): bigint {
    const own = at(sorted.lasts, span);
    if (following === count) return own;
    const beginning = at(sorted.firsts, following);
    return beginning <= own ? beginning - 1n : own;
  }

  function put(span: number, until: bigint): void {
    const goesOn =
      size > 0 && found.spans[size - 1] === span && at(found.lasts, size - 1) + 1n === from;
    if (!goesOn) {
      found.spans[size] = span;
      found.firsts[size] = from;
      size += 1;
    }
    found.lasts[size - 1] = until;
  }
}

function makeIntervals(size: number): Intervals {
  return {
    firsts: new BigUint64Array(size),
    lasts: new BigUint64Array(size),
    spans: new Int32Array(size),
  };
}

/** Numbers of 64 bits are slow to compare: rounded widths decide unless they are the same. */
function makeIsNarrower({ firsts, lasts }: Bounds) {
  const widthOf = (span: number) => at(lasts, span) - at(firsts, span);
  const rounded = Float64Array.from(firsts, (_, span) => Number(widthOf(span)));
  return (one: number, other: number) => {
    const width = rounded[one] ?? 0;
    const another = rounded[other] ?? 0;
    return width === another ? widthOf(one) < widthOf(other) : width < another;
  };
}

function dropEnded(begun: Heap, lasts: BigUint64Array, from: bigint): void {
  for (let top = begun.top(); top !== undefined && at(lasts, top) < from; top = begun.top()) {
    begun.pop();
  }
}

function at(bounds: BigUint64Array, index: number): bigint {
  return bounds[index] ?? 0n;
}
