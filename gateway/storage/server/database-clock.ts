/**
 * The time that all nodes share: the main database's. A node measures how far its own clock is from
 * it and corrects that, so that leases, deadlines and claims of all nodes are comparable. Between
 * two measurements the time goes by a clock that no administrator can set.
 */
import { asInstant, type Clock, type Instant, systemClock } from "../../values/time.ts";
import type { Query } from "./database.ts";

type Dependencies = {
  readonly clock: Clock;
  readonly readTime: () => Promise<Instant>;
  /** The node's own clock was set, or the database's differs from its earlier time. */
  readonly onJump: (jumpMs: number) => void;
};

/** Of several round trips the shortest tells the time best: it is right to half its duration. */
const roundTrips = 4;
/** The two clocks of a machine differ by more only when one of them was set. */
const jumpMs = 250;

/** Rejects when the database does not tell its time. */
export async function openDatabaseClock({ clock, readTime, onJump }: Dependencies) {
  let known = await measureBest();
  let measuring: Promise<void> | undefined;

  return {
    /**
     * While it is not known which of the node's two clocks was set, the later time counts: a node
     * must not send a message whose lease may be over.
     */
    now(): Instant {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) <= jumpMs) return asInstant(Math.round(steady));
      measureAgain().catch(() => undefined);
      return asInstant(Math.round(Math.max(steady, own)));
    },
    /** Then the earlier one: it is at least that late, so an answer that is overdue is overdue. */
    earliest: (): Instant => asInstant(Math.round(Math.min(...byBothClocks()))),
    after: clock.after.bind(clock),
    /** Resolves when the time is certain; before that no node may claim by it. */
    async certain(): Promise<void> {
      const [steady, own] = byBothClocks();
      if (Math.abs(own - steady) > jumpMs) await measureAgain();
    },
    measure: measureAgain,
    /** The time of the node's machine, uncorrected. */
    own: () => clock.now(),
    /** By how much it is ahead of the database's. */
    skewMs: () => Math.round(clock.now() - byBothClocks()[0]),
  };

  /** The database's time, by the clock that cannot be set and by the one that can. */
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

/** A clock that only a test moves is never set. */
function steadyOf(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.now();
}

/** A skewed clock is reported once, and again when it was right in between. */
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

/** By how much the clock of this machine is ahead of the database's. */
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
