/** Formats times in the browser's zone with its name, and in UTC for comparisons with a log. */

/** Without a zone, times are in the browser's zone. */
export function makeTimes(locale: string, timeZone?: string) {
  const own = timeZone === undefined ? {} : { timeZone };
  const named = { dateStyle: "medium", timeStyle: "long" } as const;
  const time = new Intl.DateTimeFormat(locale, { ...named, ...own });
  const utc = new Intl.DateTimeFormat(locale, { ...named, timeZone: "UTC" });
  const exact = new Intl.DateTimeFormat(locale, {
    ...({ hour: "2-digit", minute: "2-digit", second: "2-digit" } as const),
    ...({ fractionalSecondDigits: 3, timeZoneName: "short", ...own } as const),
  });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", ...own });
  return {
    showTime: (at: number) => time.format(at),
    showUtc: (at: number) => utc.format(at),
    /** Formats a time to the millisecond, without its day. */
    showExact: (at: number) => exact.format(at),
    showDay: (at: number) => day.format(at),
  };
}

/**
 * The locale's region decides between 12 and 24 hours. A locale that `Intl` refuses, like
 * `en-US@posix`, is left out.
 */
export function chooseLocale(code: string, languages: readonly string[]): string {
  return languages.find((each) => each.startsWith(code) && isLocale(each)) ?? code;
}

function isLocale(name: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(name).length > 0;
  } catch {
    return false;
  }
}

/** Reads a UTC time that an action of the gateway has returned as text. */
export function printedTimeIn(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) UTC$/.exec(text) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${time}Z`);
}

/** Formats the time between two steps of an order, like `+4.2 s`. */
export function gapOf(ms: number): string {
  if (ms < 1_000) return `+${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${Math.round(ms / 60_000)} min`;
  return `+${Math.round(ms / 3_600_000)} h`;
}
