/**
 * The time of the main database, which all nodes share, so that their leases, deadlines and claims
 * are comparable. A node measures how far its own clock is off, and between two measurements uses
 * the monotonic clock of its machine, which cannot be set.
 */
import { asInstant, type Clock, type Instant, systemClock } from "../../values/time.ts";
import type { Query } from "./database.ts";

type Dependencies = {
  readonly clock: Clock;
  readonly readTime: () => Promise<Instant>;
  /** Called when the node's clock was set, or the database's clock has jumped. */
  readonly onJump: (jumpMs: number) => void;
};

/** How many round trips a measurement has. The shortest is used: its error is half its duration. */
const roundTrips = 4;
/** If the system clock differs by more than this from the monotonic clock, it was set. */
const jumpMs = 250;

export async function openDatabaseClock({ clock, readTime, onJump }: Dependencies) {
  let known = await measureBest();
  let measuring: Promise<void> | undefined;

  return {
    /** If the machine's clocks differ, returns the later time, so no node sends after its lease. */
    now(): Instant {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) <= jumpMs) return asInstant(Math.round(steady));
      measureAgain().catch(() => undefined);
      return asInstant(Math.round(Math.max(steady, own)));
    },
    /** Returns the earlier time of the two clocks: what is overdue by it is certainly overdue. */
    earliest: (): Instant => asInstant(Math.round(Math.min(...byBothClocks()))),
    after: clock.after.bind(clock),
    /** Resolves when the shared time is certain. Nodes await it before they claim an order. */
    async certain(): Promise<void> {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) > jumpMs) await measureAgain();
    },
    measure: measureAgain,
    own: () => clock.now(),
    /** Returns by how many milliseconds the machine's clock is ahead of the database's clock. */
    skewMs: () => Math.round(clock.now() - byBothClocks()[0]),
  };

  /** Returns the database's time by the machine's monotonic clock, and by its system clock. */
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
    // A measurement that differs from the previous one by less than its error is discarded.
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

/** A test's clock has no monotonic clock beside it. Only the test sets it, so it serves as both. */
function steadyOf(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.now();
}

/** Reports a clock that differs too much once, and again only if it was right in between. */
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

/** Returns by how many milliseconds the machine's clock is ahead of the database's clock. */
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
