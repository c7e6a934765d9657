/**
 * Requests are handled in groups. At a few hundred requests a second each one comes alone, and finds
 * the processor's caches filled with the work of other programs; requests that are handled one
 * right after the other cost the gateway a sixth less, also under full load (decision 0045).
 */

/** Other work has its turn between two groups. */
const groupMax = 64;

/**
 * What a request waits for: nothing after a rest, otherwise the end of the present gap, with all
 * others that have come meanwhile.
 */
export type UntilGroup = () => Promise<void> | undefined;

export function makeGroups(gapMs: number): UntilGroup {
  let waiting: (() => void)[] = [];
  let isResting = false;

  return () => {
    if (isResting) return new Promise((goOn) => waiting.push(goOn));
    rest();
    return undefined;
  };

  function rest(): void {
    isResting = true;
    setTimeout(release, gapMs);
  }

  /** The handlers of a group go on when this function has returned. */
  function release(): void {
    const group = waiting.slice(0, groupMax);
    waiting = waiting.slice(groupMax);
    for (const goOn of group) goOn();
    if (waiting.length > 0) setImmediate(release);
    else if (group.length > 0) rest();
    else isResting = false;
  }
}
