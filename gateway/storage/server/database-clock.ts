/**
 * The time that all nodes share, which is the time of the main database. A node measures how far
 * its own clock differs from the database's clock and corrects the difference, so that leases,
 * deadlines and claims of all nodes are comparable. Between two measurements, the node uses a clock
 * of its machine that cannot be set.
 */
import { asInstant, type Clock, type Instant, systemClock } from "../../values/time.ts";
import type { Query } from "./database.ts";

type Dependencies = {
  readonly clock: Clock;
  readonly readTime: () => Promise<Instant>;
  /**
   * Called when an administrator or a program has set the node's clock, or when the database's
   * clock has jumped.
   */
  readonly onJump: (jumpMs: number) => void;
};

/**
 * How many times a measurement asks the database. The shortest round trip gives the result, because
 * the error of a round trip is half its duration.
 */
const roundTrips = 4;
/**
 * A machine has a clock that can be set and one that cannot. If they differ by more than this since
 * the last measurement, the first one was set.
 */
const jumpMs = 250;

/** Makes the shared clock. Rejects if the time cannot be read from the database. */
export async function openDatabaseClock({ clock, readTime, onJump }: Dependencies) {
  let known = await measureBest();
  let measuring: Promise<void> | undefined;

  return {
    /**
     * Returns the shared time. If the node's two clocks disagree, it is not known yet which of them
     * is right, and the later time counts: a node must not send a message whose lease may have
     * ended.
     */
    now(): Instant {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) <= jumpMs) return asInstant(Math.round(steady));
      measureAgain().catch(() => undefined);
      return asInstant(Math.round(Math.max(steady, own)));
    },
    /**
     * Returns the earlier of the two times that the node's clocks give. The true time is not before
     * it, so if an answer is overdue by this time, it really is overdue.
     */
    earliest: (): Instant => asInstant(Math.round(Math.min(...byBothClocks()))),
    after: clock.after.bind(clock),
    /**
     * Resolves when the shared time is certain. Before that, a node must not use the time to claim
     * an order.
     */
    async certain(): Promise<void> {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) > jumpMs) await measureAgain();
    },
    measure: measureAgain,
    /** Returns the time of the node's machine without any correction. */
    own: () => clock.now(),
    /** Returns by how many milliseconds the machine's clock is ahead of the database's clock. */
    skewMs: () => Math.round(clock.now() - byBothClocks()[0]),
  };

  /**
   * Returns the database's time twice: computed by the machine's clock that cannot be set, and by
   * the one that can.
   */
  function byBothClocks(): readonly [steady: number, own: number] {
    const { databaseMs, steadyMs, ownMs } = known;
    return [databaseMs + steadyOf(clock) - steadyMs, databaseMs + clock.now() - ownMs];
  }

  function measureAgain(): Promise<void> {
    measuring ??= compare().finally(() => {
      measuring = undefined;
    });
    return measuring;
  }

  async function compare(): Promise<void> {
    const best = await measureBest();
    const [steady, own] = byBothClocks();
    const isSet = Math.abs(own - steady) > jumpMs;
    const driftMs = best.databaseMs - best.steadyMs - (known.databaseMs - known.steadyMs);
    // If a measurement agrees with the previous one within its error, the previous one is kept.
    if (!isSet && Math.abs(driftMs) <= best.errorMs) return;
    known = best;
    if (isSet) onJump(Math.round(own - steady));
    else if (Math.abs(driftMs) > jumpMs) onJump(Math.round(driftMs));
  }

  async function measureBest() {
    let best = await measureOnce();
    for (let count = 1; count < roundTrips; count += 1) {
      const next = await measureOnce();
      if (next.errorMs < best.errorMs) best = next;
    }
    return best;
  }

  async function measureOnce() {
    const [steadyBefore, ownBefore] = [steadyOf(clock), clock.now()];
    const databaseMs = await readTime();
    const [steadyAfter, ownAfter] = [steadyOf(clock), clock.now()];
    return {
      databaseMs,
      steadyMs: (steadyBefore + steadyAfter) / 2,
      ownMs: (ownBefore + ownAfter) / 2,
      errorMs: (steadyAfter - steadyBefore) / 2,
    };
  }
}

/**
 * Returns the time of the clock that cannot be set. The clocks of tests have no such clock, so
 * their ordinary time is returned: it only changes when a test changes it.
 */
function steadyOf(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.now();
}

/**
 * Returns a function that measures the difference between the clocks. A clock that differs too much
 * is reported once. It is reported again only if it was right in between.
 */
export function watchSkew(
  clock: { measure(): Promise<void>; skewMs(): number },
  alertMs: number,
  onSkewed: (skewMs: number) => void,
): () => Promise<void> {
  let isSkewed = false;
  report();
  return async () => {
    await clock.measure();
    report();
  };

  function report(): void {
    const skewMs = clock.skewMs();
    const isSkewedNow = Math.abs(skewMs) > alertMs;
    if (isSkewedNow && !isSkewed) onSkewed(skewMs);
    isSkewed = isSkewedNow;
  }
}

/** Returns by how many milliseconds the clock of this machine is ahead of the database's clock. */
export async function findSkew(query: Query): Promise<number> {
  const readTime = () => readDatabaseTime(query);
  const clock = await openDatabaseClock({ clock: systemClock, readTime, onJump: () => undefined });
  return clock.skewMs();
}

export async function readDatabaseTime(query: Query): Promise<Instant> {
  const [row] = await query<{ now: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
  );
  if (row === undefined) throw new Error("the database did not tell its time");
  return asInstant(Math.round(row.now));
}
