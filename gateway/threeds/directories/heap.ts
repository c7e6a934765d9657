/** Numbers of which the first by some order is always at hand. */
export type Heap = {
  top(): number | undefined;
  push(value: number): void;
  pop(): void;
};

export function makeHeap(isBefore: (one: number, other: number) => boolean): Heap {
  const values: number[] = [];

  return {
    top: () => values[0],
    push(value) {
      let place = values.length;
      values.push(value);
      while (place > 0) {
        const above = (place - 1) >>> 1;
        const parent = values[above] ?? value;
        if (!isBefore(value, parent)) break;
        values[place] = parent;
        place = above;
      }
      values[place] = value;
    },
    pop() {
      const value = values.pop();
      if (value === undefined || values.length === 0) return;
      let place = 0;
      for (;;) {
        const below = firstBelow(place);
        const child = values[below];
        if (child === undefined || !isBefore(child, value)) break;
        values[place] = child;
        place = below;
      }
      values[place] = value;
    },
  };

  /** Of the two places below one, that of the value which comes first; behind the end if none. */
  function firstBelow(place: number): number {
    const left = 2 * place + 1;
    const [one, other] = [values[left], values[left + 1]];
    return one !== undefined && other !== undefined && isBefore(other, one) ? left + 1 : left;
  }
}
