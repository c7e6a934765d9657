/** Ranges by width, the narrowest on top: a heap, because wide ranges may hold very many others. */
import type { IssuerRange } from "./issuer-range.ts";

export type NarrowestFirst = {
  peek(): IssuerRange | undefined;
  push(range: IssuerRange): void;
  pop(): void;
};

export function makeNarrowestFirst(): NarrowestFirst {
  const heap: IssuerRange[] = [];
  return {
    peek: () => heap[0],
    push(range) {
      heap.push(range);
      rise(heap.length - 1);
    },
    pop() {
      const moved = heap.pop();
      if (moved === undefined || heap.length === 0) return;
      heap[0] = moved;
      sink(0);
    },
  };

  function rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isOnTop(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  }

  function sink(from: number): void {
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      const child = isOnTop(left + 1, left) ? left + 1 : left;
      if (!isOnTop(child, at)) return;
      swap(at, child);
      at = child;
    }
  }

  function isOnTop(upper: number, lower: number): boolean {
    const [above, below] = [heap[upper], heap[lower]];
    if (above === undefined || below === undefined) return false;
    const wider = widthOf(above) - widthOf(below);
    // Of two that cross and are equally wide one must win, whatever order they came in.
    return wider < 0 || (wider === 0 && above.first > below.first);
  }

  function swap(left: number, right: number): void {
    const [above, below] = [heap[left], heap[right]];
    if (above === undefined || below === undefined) return;
    heap[left] = below;
    heap[right] = above;
  }
}

function widthOf({ first, last }: IssuerRange): number {
  return last - first;
}
