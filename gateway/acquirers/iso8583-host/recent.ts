/**
 * Remembers the last things told to it, at least `countMin` and at most twice as many. It forgets
 * half at a time: a map that forgets its oldest one by one searches for it longer and longer.
 */
export class Recent<Value> {
  readonly #countMin: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(countMin: number) {
    this.#countMin = countMin;
  }

  remember(key: string, value: Value): void {
    if (this.#newer.size >= this.#countMin) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  find(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }
}
