/**
 * Who issued a card, found by its first digits. Ranges may overlap, and the narrowest counts: that
 * is decided once, when the table is made, by cutting the ranges into segments that do not overlap.
 * A segment takes 12 bytes and ends where the next one starts. Measured with half a million ranges,
 * two in seven nested: 18 bytes a range, and some 120 bytes for each different issuer.
 */
import assert from "node:assert/strict";
import type { Issuer } from "../orders/order.ts";
import { makeIssuerList } from "./issuer-list.ts";
import { firstOf, type IssuerRange, lastOf } from "./issuer-range.ts";
import { makeNarrowestFirst } from "./narrowest-first.ts";

export type IssuerTable = {
  /**
   * The first digits of a card number, best eleven of them. Fewer stand for all cards that begin
   * so: what is not the same for all of them is not known.
   */
  find(prefix: string): Issuer | undefined;
};

export type IssuerTableBuilder = {
  /** In the order of their first cards. */
  add(range: IssuerRange): void;
  finish(): IssuerTable;
};

export function makeIssuerTable(ranges: Iterable<IssuerRange>): IssuerTable {
  const builder = startIssuerTable();
  for (const range of [...ranges].sort((left, right) => left.first - right.first)) {
    builder.add(range);
  }
  return builder.finish();
}

/** For ranges that come in portions, so that a running gateway can do other work in between. */
export function startIssuerTable(): IssuerTableBuilder {
  const issuers = makeIssuerList();
  const segments = makeSegments();
  const begun = makeNarrowestFirst();
  let decidedTo = 0;

  return {
    add(range) {
      assert.ok(range.first >= decidedTo && range.last >= range.first);
      decideTo(range.first);
      begun.push(range);
    },
    finish() {
      decideTo(Number.POSITIVE_INFINITY);
      return makeFind(segments.finish(), issuers.finish());
    },
  };

  function decideTo(end: number): void {
    while (decidedTo < end) {
      const narrowest = findNarrowest();
      segments.append(decidedTo, issuers.indexOf(narrowest?.issuer));
      decidedTo = narrowest === undefined ? end : Math.min(end, narrowest.last + 1);
    }
  }

  function findNarrowest(): IssuerRange | undefined {
    while ((begun.peek()?.last ?? decidedTo) < decidedTo) begun.pop();
    return begun.peek();
  }
}

type Segments = { readonly starts: Float64Array; readonly issuers: Uint32Array };

function makeFind({ starts, issuers }: Segments, list: readonly (Issuer | undefined)[]) {
  return {
    find(prefix: string): Issuer | undefined {
      const segment = segmentOf(firstOf(prefix));
      const next = starts[segment + 1] ?? Number.POSITIVE_INFINITY;
      return lastOf(prefix) < next ? list[issuers[segment] ?? 0] : undefined;
    },
  };

  /** The last one that does not start after the card. */
  function segmentOf(card: number): number {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= card) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Eleven digits do not fit into 32 bits. */
function makeSegments() {
  let starts = new Float64Array(1024);
  let issuers = new Uint32Array(1024);
  let count = 0;
  return {
    append(start: number, issuer: number): void {
      if (count > 0 && issuers[count - 1] === issuer) return;
      if (count === starts.length) grow();
      starts[count] = start;
      issuers[count] = issuer;
      count += 1;
    },
    finish: (): Segments => ({ starts: starts.slice(0, count), issuers: issuers.slice(0, count) }),
  };

  function grow(): void {
    const [oldStarts, oldIssuers] = [starts, issuers];
    starts = new Float64Array(2 * count);
    issuers = new Uint32Array(2 * count);
    starts.set(oldStarts);
    issuers.set(oldIssuers);
  }
}
