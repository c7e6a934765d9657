/**
 * Moments and durations. An `Instant` is milliseconds since 1970 from a `Clock` that the caller
 * passes in, so that tests can move time. `Date` appears in this file only.
 */
import type { Brand } from "./ids.ts";

export type Instant = Brand<number, "Instant">;

export type Clock = {
  now(): Instant;
  /** Runs `task` once after the delay; the returned function cancels it. */
  after(delayMs: number, task: () => void): () => void;
  /** A clock that no administrator can set; absent if the clock itself cannot be set. */
  steadyMs?(): number;
};

export const asInstant = (milliseconds: number) => milliseconds as Instant;
export const seconds = (count: number) => count * 1000;
export const minutes = (count: number) => count * 60_000;
export const hours = (count: number) => count * 3_600_000;

export function later(instant: Instant, durationMs: number): Instant {
  return asInstant(instant + durationMs);
}

export function calendar(instant: Instant): ReturnType<typeof calendarOf> {
  const second = Math.floor(instant / 1000);
  if (second !== latest.second) latest = { second, calendar: calendarOf(second) };
  return latest.calendar;
}

/** Returns the first moment in UTC of the instant's month, or of a later month. */
export function monthStart(instant: Instant, monthsLater = 0): Instant {
  const { year, month } = calendar(instant);
  return asInstant(Date.UTC(Number(year), Number(month) - 1 + monthsLater));
}

const daySeconds = 86_400;
/** The midnight that was formatted last: to format a date costs more than the rest of a line. */
let midnight = { day: Number.NaN, iso: "" };
/** Most calls are for the present second, so its result is cached. */
let latest = { second: 0, calendar: calendarOf(0) };

function calendarOf(at: number) {
  const day = Math.floor(at / daySeconds);
  if (day !== midnight.day) {
    midnight = { day, iso: new Date(day * daySeconds * 1000).toISOString() };
  }
  const { iso } = midnight;
  const inDay = at - day * daySeconds;
  const hour = twoDigits(Math.floor(inDay / 3600));
  const minute = twoDigits(Math.floor(inDay / 60) % 60);
  const second = twoDigits(inDay % 60);
  return {
    year: iso.slice(0, 4),
    month: iso.slice(5, 7),
    day: iso.slice(8, 10),
    hour,
    minute,
    second,
    iso: `${iso.slice(0, -13)}${hour}:${minute}:${second}.000Z`,
  };
}

function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : `${count}`;
}

export type LocalTime = Omit<ReturnType<typeof calendarOf>, "iso">;

/** Each day has the number of the previous day plus one. */
export function dayNumber({ year, month, day }: Pick<LocalTime, "year" | "month" | "day">): number {
  return Date.UTC(Number(year), Number(month) - 1, Number(day)) / hours(24);
}

/** Throws for an unknown IANA time zone. */
export function calendarIn(zone: string, instant: Instant): LocalTime {
  if (zone === "UTC") return calendar(instant);
  let local = localCalendars.get(zone);
  if (local === undefined) {
    local = makeLocalCalendar(zone);
    localCalendars.set(zone, local);
  }
  return local(instant);
}

/** The zone's clocks may never show `YYYY-MM-DDThh:mm:ss`, or twice: one of the two is returned. */
export function instantIn(zone: string, shown: string): Instant | undefined {
  const asUtc = Date.parse(`${shown}Z`);
  if (Number.isNaN(asUtc)) return undefined;
  if (zone === "UTC") return asInstant(asUtc);
  let instant = asUtc;
  // The first guess may have used the offset of the day before.
  for (let guesses = 0; guesses < 2; guesses += 1) {
    const { year, month, day, hour, minute, second } = calendarIn(zone, asInstant(instant));
    const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    instant += asUtc - local;
  }
  return asInstant(instant);
}

const localCalendars = new Map<string, (instant: Instant) => LocalTime>();

/**
 * Clocks change only at quarters of an hour, so the zone's offset is looked up once for each: a
 * look-up costs more than the rest of a message.
 */
function makeLocalCalendar(zone: string): (instant: Instant) => LocalTime {
  const fields = new Intl.DateTimeFormat("en-US", { timeZone: zone, ...everyField });
  let [quarter, offsetMs] = [Number.NaN, 0];
  let [second, local] = [Number.NaN, calendarOf(0)];
  return (instant) => {
    const thisQuarter = Math.floor(instant / quarterMs);
    if (thisQuarter !== quarter) {
      quarter = thisQuarter;
      offsetMs = offsetAt(fields, quarter * quarterMs);
      second = Number.NaN;
    }
    const thisSecond = Math.floor((instant + offsetMs) / 1000);
    if (thisSecond !== second) [second, local] = [thisSecond, calendarOf(thisSecond)];
    return local;
  };
}

const quarterMs = minutes(15);
const everyField = {
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

function offsetAt(fields: Intl.DateTimeFormat, milliseconds: number): number {
  const parts = fields.formatToParts(milliseconds);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (
    ["year", "month", "day", "hour", "minute", "second"] as const
  ).map((wanted) => Number(parts.find(({ type }) => type === wanted)?.value));
  return Date.UTC(year, month - 1, day, hour, minute, second) - milliseconds;
}

/** An IANA name like Europe/Amsterdam. An offset like +01:00 is refused: it has no summer time. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en-US", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/** A day is written as `YYYY-MM-DD`. A 31st of February is refused. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) && text >= "0001" ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

export function parseDate(text: string): Instant | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : asInstant(milliseconds);
}

/** The interface's format is `YYYY-MM-DD HH:MM:SS <zone>`, in the operator's zone. */
export function makePrintDate(zone: string): (instant: Instant) => string {
  if (zone === "UTC") {
    return (instant) => {
      const { year, month, day, hour, minute, second } = calendar(instant);
      return `${year}-${month}-${day} ${hour}:${minute}:${second} UTC`;
    };
  }
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, timeZoneName: "short" });
  let [quarter, name] = [Number.NaN, ""];
  return (instant) => {
    const thisQuarter = Math.floor(instant / quarterMs);
    if (thisQuarter !== quarter) {
      const part = format.formatToParts(instant).find(({ type }) => type === "timeZoneName");
      [quarter, name] = [thisQuarter, part?.value ?? ""];
    }
    const { year, month, day, hour, minute, second } = calendarIn(zone, instant);
    return `${year}-${month}-${day} ${hour}:${minute}:${second} ${name}`;
  };
}

export const systemClock: Clock = {
  now: () => asInstant(Date.now()),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    // A timer by itself must not keep a stopping gateway alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
  steadyMs: () => performance.now(),
};

/** The task never runs twice at the same time. Returns a function that stops it. */
export function every(
  intervalMs: number,
  task: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let running: Promise<unknown> = Promise.resolve();
  let timer = setTimeout(run, intervalMs);

  function run(): void {
    running = task()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(run, intervalMs);
      });
  }

  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
