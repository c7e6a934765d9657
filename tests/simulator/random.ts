/** Random numbers from one seed. Each part draws from a stream of its own, named by a word. */

export type Random = ReturnType<typeof makeRandom>;

export function makeRandom(seed: number, name = "") {
  let state = mix(seed, name);

  return {
    /** From 0 to 1, without 1. */
    next,
    /** From `low` to `high`, as a fraction. */
    between: (low: number, high: number) => low + next() * (high - low),
    /** A whole number below `limit`. */
    below,
    chance: (share: number) => next() < share,
    pick: <Item>(items: readonly Item[]): Item => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    /** Most draws are short, a few are long: latencies are like that. */
    skewed: (low: number, high: number) => low + (high - low) * next() ** 4,
    fill(bytes: Uint8Array): void {
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = below(256);
    },
    /** A stream of its own: what is drawn from one does not shift the others. */
    fork: (word: string) => makeRandom(seed, `${name}/${word}`),
  };

  function below(limit: number): number {
    return Math.floor(next() * limit);
  }

  /** Mulberry32. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

function mix(seed: number, name: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${seed}:${name}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) | 0;
}
