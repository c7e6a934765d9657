/** A table of keys in memory for the vault's own tests; every scenario tries the real one. */
import type { KeyStore, SealedKey } from "./keys.ts";

export type KeyTable = KeyStore & {
  /** As another process does it: the current key of the purpose is retired, another is added. */
  replace(purpose: string, sealed: Buffer): number;
  remove(id: number): void;
};

export function makeKeyTable(): KeyTable {
  let rows: SealedKey[] = [];
  let last = 0;
  const add = (purpose: string, sealed: Buffer) => {
    last += 1;
    rows.push({ id: last, purpose, sealed, retired: false });
    return last;
  };
  return {
    list: async () => [...rows],
    add: async (purpose, sealed) => void add(purpose, sealed),
    replace(purpose, sealed) {
      rows = rows.map((row) => (row.purpose === purpose ? { ...row, retired: true } : row));
      return add(purpose, sealed);
    },
    remove(id) {
      rows = rows.filter((row) => row.id !== id);
    },
  };
}
