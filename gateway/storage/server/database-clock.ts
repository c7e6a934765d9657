/**
 * The time that all nodes share, which is the main database's. A node measures how far its own
 * clock is from it and corrects the difference, so that leases, deadlines and claims of all nodes
 * are comparable. Between two measurements the node uses a clock that no administrator can set.
 */
import { asInstant, type Clock, type Instant, systemClock } from "../../values/time.ts";
import type { Query } from "./database.ts";

type Dependencies = {
  readonly clock: Clock;
  readonly readTime: () => Promise<Instant>;
  /**
   * Called when the node's own clock was set, or the database's time differs from its earlier time.
   */
  readonly onJump: (jumpMs: number) => void;
};

/**
 * How many round trips one measurement has. The shortest is the most exact: its error is half its
 * duration.
 */
const roundTrips = 4;
/** The two clocks of a machine only differ by more than this if one of them was set. */
const jumpMs = 250;

/** Opens the clock. Rejects if the database does not return its time. */
export async function openDatabaseClock({ clock, readTime, onJump }: Dependencies) {
  let known = await measureBest();
  let measuring: Promise<void> | undefined;

  return {
    /**
     * Returns the shared time. As long as it is unknown which of the node's two clocks was set, the
     * later time counts, because a node must not send a message whose lease may have ended.
     */
    now(): Instant {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) <= jumpMs) return asInstant(Math.round(steady));
      measureAgain().catch(() => undefined);
      return asInstant(Math.round(Math.max(steady, own)));
    },
    /**
     * Returns the earlier of both times. The true time is at least this late, so an answer that is
     * overdue by it is really overdue.
     */
    earliest: (): Instant => asInstant(Math.round(Math.min(...byBothClocks()))),
    after: clock.after.bind(clock),
    /** Resolves when the time is certain. Until then no node may use it for a claim. */
    async certain(): Promise<void> {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) > jumpMs) await measureAgain();
    },
    measure: measureAgain,
    /** Returns the time of the node's machine, uncorrected. */
    own: () => clock.now(),
    /** Returns how far the machine's clock is ahead of the database's. */
    skewMs: () => Math.round(clock.now() - byBothClocks()[0]),
  };

  /** Returns the database's time by the clock that cannot be set and by the one that can. */
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
    // A measurement that agrees with the earlier one within its error does not replace it.
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
 * Returns the clock that cannot be set. A test's clock only moves on command, so it is used itself.
 */
function steadyOf(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.now();
}

/** Reports a skewed clock once, and again after it was right in between. */
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

/** Returns how far the clock of this machine is ahead of the database's. */
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
