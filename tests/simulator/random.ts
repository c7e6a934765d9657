/** Random numbers from one seed. Each part draws from a stream of its own, named by a word. */

export type Random = ReturnType<typeof makeRandom>;

export function makeRandom(seed: number, name = "") {
  let state = mix(seed, name);

  return {
    /** A number from 0 up to, but not including, 1. */
    next,
    /** A fraction from `low` to `high`. */
    between: (low: number, high: number) => low + next() * (high - low),
    /** A whole number below `limit`. */
    below,
    chance: (share: number) => next() < share,
    pick: <Item>(items: readonly Item[]): Item => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    /** A number of which most draws are low and a few are high, like latencies. */
    skewed: (low: number, high: number) => low + (high - low) * next() ** 4,
    fill(bytes: Uint8Array): void {
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = below(256);
    },
    /** Returns a separate stream, so that draws from one do not shift the others. */
    fork: (word: string) => makeRandom(seed, `${name}/${word}`),
  };

  function below(limit: number): number {
    return Math.floor(next() * limit);
  }

  /** Computes the next number by Mulberry32. */
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
