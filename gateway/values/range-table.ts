/**
 * A table of values by ranges of card numbers. The narrowest of overlapping ranges counts, which is
 * decided once: the ranges are cut into segments that do not overlap. A segment takes 12 bytes and
 * ends where the next one starts, and equal values are stored once.
 */
import assert from "node:assert/strict";

export type RangeTable<Value> = {
  /** A prefix stands for all numbers that begin with it. It finds nothing if values differ. */
  find(prefix: string): Value | undefined;
};

/** Both ends belong to the range. It is ignored if its last number is below its first. */
export type NumberRange<Value> = {
  readonly first: bigint;
  readonly last: bigint;
  readonly value: Value;
};

type Facts = { readonly [name: string]: string | undefined };

/** Nineteen digits, the longest card number, fit into 64 bits. */
export function makeRangeTable<Value extends Facts>(
  digits: number,
  ranges: Iterable<NumberRange<Value>>,
): RangeTable<Value> {
  const builder = startRangeTable<Value>(digits);
  const byFirst = (left: NumberRange<Value>, right: NumberRange<Value>) =>
    left.first < right.first ? -1 : left.first > right.first ? 1 : 0;
  for (const range of [...ranges].sort(byFirst)) builder.add(range);
  return builder.finish();
}

/** Ranges come in portions, so that a running gateway does other work in between. */
export function startRangeTable<Value extends Facts>(digits: number) {
  const distinct = makeValueList<Value>();
  const begun = makeNarrowestFirst();
  const segments = makeSegments();
  let position = 0n;

  return {
    add({ first, last, value }: NumberRange<Value>): void {
      assert.ok(first >= position, "ranges must come by rising first number");
      if (last < first) return;
      moveTo(first);
      begun.push({ first, last, width: last - first, value: distinct.indexOf(value) });
    },
    finish(): RangeTable<Value> {
      moveTo(10n ** BigInt(digits));
      return makeFind(digits, segments.finish(), distinct.list);
    },
  };

  function moveTo(end: bigint): void {
    while (position < end) {
      while ((begun.peek()?.last ?? position) < position) begun.pop();
      const narrowest = begun.peek();
      segments.add(position, narrowest?.value ?? 0);
      position = narrowest === undefined || narrowest.last >= end ? end : narrowest.last + 1n;
    }
  }
}

type Segments = { readonly starts: BigUint64Array; readonly values: Uint32Array };

/** The arrays double their size: half a million numbers need no conversion at the end. */
function makeSegments() {
  let starts = new BigUint64Array(1024);
  let values = new Uint32Array(1024);
  let count = 0;
  return {
    /** Adjacent segments with the same value become one. */
    add(start: bigint, value: number): void {
      if (count > 0 && values[count - 1] === value) return;
      if (count === starts.length) {
        starts = grow(starts, new BigUint64Array(2 * count));
        values = grow(values, new Uint32Array(2 * count));
      }
      starts[count] = start;
      values[count] = value;
      count += 1;
    },
    finish: (): Segments => ({ starts: starts.slice(0, count), values: values.slice(0, count) }),
  };
}

function grow<Numbers extends { set(numbers: Numbers): void }>(
  numbers: Numbers,
  larger: Numbers,
): Numbers {
  larger.set(numbers);
  return larger;
}

function makeFind<Value>(
  digits: number,
  { starts, values }: Segments,
  list: readonly (Value | undefined)[],
): RangeTable<Value> {
  return {
    find(prefix) {
      if (!/^\d*$/.test(prefix)) return undefined;
      const known = prefix.slice(0, digits);
      const segment = segmentOf(BigInt(known.padEnd(digits, "0")));
      const next = starts[segment + 1];
      if (next !== undefined && BigInt(known.padEnd(digits, "9")) >= next) return undefined;
      return list[values[segment] ?? 0];
    },
  };

  function segmentOf(number: bigint): number {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0n) <= number) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/**
 * Stores every distinct value and text once: an issuer has hundreds of ranges, and thousands of
 * issuers share the names of a few products. Index 0 stands for no value.
 */
function makeValueList<Value extends Facts>() {
  const list: (Value | undefined)[] = [undefined];
  const indexes = new Map<string, number>();
  const texts = new Map<string, string>();
  return {
    list,
    indexOf(value: Value): number {
      const key = JSON.stringify(value);
      const known = indexes.get(key);
      if (known !== undefined) return known;
      indexes.set(key, list.length);
      const shared = Object.entries(value).map(([name, text = ""]) => [name, share(text)]);
      return list.push(Object.fromEntries(shared)) - 1;
    },
  };

  function share(text: string): string {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  }
}

type BegunRange = NumberRange<number> & { readonly width: bigint };

/** The open ranges are a heap, because a wide range may contain very many others. */
function makeNarrowestFirst() {
  const heap: BegunRange[] = [];
  return {
    peek: () => heap[0],
    push(range: BegunRange): void {
      let at = heap.length;
      for (; at > 0; at = (at - 1) >> 1) {
        const parent = heap[(at - 1) >> 1];
        if (parent === undefined || !isNarrower(range, parent)) break;
        heap[at] = parent;
      }
      heap[at] = range;
    },
    pop(): void {
      const range = heap.pop();
      if (range === undefined || heap.length === 0) return;
      for (let at = 0; ; ) {
        const child = narrowerChild(at);
        const below = heap[child];
        if (below === undefined || !isNarrower(below, range)) {
          heap[at] = range;
          return;
        }
        heap[at] = below;
        at = child;
      }
    },
  };

  function narrowerChild(parent: number): number {
    const left = 2 * parent + 1;
    const [one, other] = [heap[left], heap[left + 1]];
    return one !== undefined && other !== undefined && isNarrower(other, one) ? left + 1 : left;
  }
}

/** The narrower range counts; of equally wide ones, the one that starts later. */
function isNarrower(one: BegunRange, other: BegunRange): boolean {
  return one.width === other.width ? one.first > other.first : one.width < other.width;
}
