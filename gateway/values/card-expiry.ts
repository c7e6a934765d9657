/** When a card ends. It is good to the end of its month, wherever on earth the cardholder is. */
import { asInstant, calendar, type Instant } from "./time.ts";

/** Month and year as merchants write them: one or two digits, two or four. */
export function isPast(month: string, year: string, now: Instant, graceMs = 0): boolean {
  const today = calendar(asInstant(now - graceMs));
  return `20${year.slice(-2)}${month.padStart(2, "0")}` < `${today.year}${today.month}`;
}
