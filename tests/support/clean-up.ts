/** What a test makes is cleaned up when it ends. */

export type Test = { after(clean: () => unknown): void };

/** The latest first, also when a test breaks off half way or one of the cleanings fails. */
export function lastFirst(t: Test): (clean: () => Promise<unknown>) => void {
  const cleanings: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    const broken: unknown[] = [];
    for (const clean of cleanings.toReversed()) await clean().catch((error) => broken.push(error));
    if (broken.length > 0) throw broken[0];
  });
  return (clean) => void cleanings.push(clean);
}
