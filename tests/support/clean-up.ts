/**
 * Cleans up after a test when it ends: the latest first, and all of it, even if the test fails
 * halfway or one of the cleanings fails. Node's own hooks run in the order of their registration,
 * and those after a failing one are skipped.
 */
type Clean = () => unknown;
/** The owner of what is cleaned up: a test, all tests of a file, or a run without tests. */
export type Test = { after(clean: Clean): void };

const cleaningsOf = new WeakMap<Test, Clean[]>();

export function atEnd(t: Test, clean: Clean): void {
  const known = cleaningsOf.get(t);
  if (known !== undefined) return void known.push(clean);
  const cleanings = [clean];
  cleaningsOf.set(t, cleanings);
  t.after(async () => {
    const broken: unknown[] = [];
    for (let next = cleanings.pop(); next !== undefined; next = cleanings.pop()) {
      await Promise.try(next).catch((error) => broken.push(error));
    }
    if (broken.length > 0) throw broken[0];
  });
}
