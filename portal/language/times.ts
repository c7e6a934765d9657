/**
 * Formats times in the zone of the user's browser, which each of them names, and in UTC for
 * comparing a time with a log.
 */

/** Returns the formatters of one language. Without a zone, times are in the browser's zone. */
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
    /** Formats a time with the name of its zone. */
    showTime: (at: number) => time.format(at),
    showUtc: (at: number) => utc.format(at),
    /** Formats a time of a known day, with its milliseconds. */
    showExact: (at: number) => exact.format(at),
    /** Formats a day of the user's calendar. */
    showDay: (at: number) => day.format(at),
  };
}

/**
 * Returns the browser's locale of the language, whose region decides between 12 and 24 hours. A
 * machine without a locale may name one that `Intl` refuses, like `en-US@posix`.
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

/** Reads the time in UTC that a command has printed. Returns undefined for other texts. */
export function printedTimeIn(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) UTC$/.exec(text) ?? [];
  return day === undefined ? undefined : Date.parse(`${day}T${time}Z`);
}

/** Formats the time since the previous step, which shows where an order has waited. */
export function gapOf(ms: number): string {
  if (ms < 1_000) return `+${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${Math.round(ms / 60_000)} min`;
  return `+${Math.round(ms / 3_600_000)} h`;
}
