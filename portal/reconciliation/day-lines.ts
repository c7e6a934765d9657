/** Formats reconciled days and imported chargebacks. */
import type { Row } from "../actions/values.ts";
import type { Messages } from "../language/texts.ts";
import type { InputOf, OutputOf } from "../shell/call.ts";

export type DayLine = OutputOf<"GET /reconciliations">["reconciliations"][number];
type DayDetail = OutputOf<"GET /reconciliations/:gate/:day">;
type Texts = Pick<Messages, "agrees" | "differs" | "differences">;

/** If only totals were compared, the number of differences is not known. */
export function stateOf(
  { agrees, differences }: Pick<DayLine, "agrees" | "differences">,
  messages: Texts,
): readonly [colour: "approved" | "declined", text: string] {
  if (agrees) return ["approved", messages.agrees];
  return ["declined", differences === 0 ? messages.differs : messages.differences(differences)];
}

/** Returns the page's path, which `readDay` reads. */
export function addressOf({ gate, day, way }: Pick<DayLine, "gate" | "day" | "way">): string {
  return `reconciliation/${gate}?day=${day}&way=${way}`;
}

export function readDay(
  gate: string,
  query: URLSearchParams,
): InputOf<"GET /reconciliations/:gate/:day"> {
  const way = query.get("way") === "totals" ? "totals" : "file";
  return { gate, day: query.get("day") ?? "", way };
}

/** The acquirer's total is a sum with a count, or the balance that its host has reported. */
export function acquirersTotal({
  there,
  countThere,
  balance,
}: Pick<DayDetail["totals"][number], "there" | "countThere" | "balance">) {
  return there === undefined ? { sum: balance ?? "–" } : { sum: there, count: countThere };
}

/** Returns the lines that an import could not record. Lines that were known before are left out. */
export function unrecordedIn(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ result = "" }) => result !== "recorded" && result !== "known");
}
