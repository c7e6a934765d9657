/**
 * Asks a host whether the gateway's totals of a day are its own, over a connection that is opened
 * for it: the links of running nodes are left alone.
 */
import type { IsoFields, IsoMessage } from "@tollgate/protocols/iso8583";
import type { DayTotals } from "../../orders/settlement-items.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { type Clock, calendar, calendarIn, type Instant } from "../../values/time.ts";
import type { ConfiguredGate, GateSettings } from "../gates.ts";
import { dialects } from "./connector.ts";
import type { TotalsMessage } from "./dialect.ts";
import { openOwnLink } from "./own-link.ts";

export type Balance = "in balance" | "out of balance";

type Options = { readonly clock: Clock; readonly answerTimeoutMs: number };
type Day = { readonly day: Instant; readonly totals: readonly DayTotals[] };

/** One answer for each of the totals, in their order; the first problem ends it. */
export async function askTotals(
  gate: ConfiguredGate,
  { day, totals }: Day,
  { clock, answerTimeoutMs }: Options,
): Promise<readonly Balance[] | Problem> {
  const message = dialects[gate.kind].totals;
  if (message === undefined) {
    return new Problem(`The dialect ${gate.kind} has no message for totals: compare a file.`);
  }
  const { links, opened, unread } = openOwnLink(gate, clock);
  try {
    const problem = await opened;
    if (problem !== undefined) return problem;
    const balances: Balance[] = [];
    for (const [index, each] of totals.entries()) {
      const request = makeRequest(message, gate.settings, {
        day,
        totals: each,
        at: clock.now(),
        index,
      });
      const answer = await links.send(request, { timeoutMs: answerTimeoutMs });
      const { code } = each.currency;
      if (typeof answer === "string") {
        return new Problem(
          `The host has not answered the totals in ${code}: ${answer}${unread()}.`,
        );
      }
      const balance = readBalance(message, answer.fields);
      if (balance === undefined) return new Problem(describeOther(message, answer.fields, code));
      balances.push(balance);
    }
    return balances;
  } catch (error) {
    // The codec's complaints name fields and rules, never values.
    return new Problem(`The totals cannot be written: ${messageOf(error)}.`);
  } finally {
    await links.close();
  }
}

type Asked = Pick<Day, "day"> & {
  readonly totals: DayTotals;
  readonly at: Instant;
  readonly index: number;
};

export function makeRequest(
  { mti, rows }: TotalsMessage,
  settings: GateSettings,
  { day, totals, at, index }: Asked,
): IsoMessage {
  const times = { sent: calendar(at), local: calendarIn(settings.zone ?? "UTC", at) };
  const facts = {
    ...times,
    traceNumber: traceNumberAt(at, index),
    settings,
    day: calendar(day),
    totals,
  };
  return { mti, fields: Object.fromEntries(rows.map(([field, write]) => [field, write(facts)])) };
}

/** Other ones for each run of a day: these messages belong to no order that could number them. */
function traceNumberAt(at: Instant, index: number): string {
  const tenths = Math.floor(at / 100) % 864_000;
  return String(((tenths + index) % 999_999) + 1).padStart(6, "0");
}

/** In balance only when the whole answer says so; nothing for an answer about something else. */
export function readBalance(
  { inBalance, outOfBalance, hasSettlementCode }: TotalsMessage,
  fields: IsoFields,
): Balance | undefined {
  const { 39: code, 66: settlement = "none" } = fields;
  if (code !== inBalance && code !== outOfBalance) return undefined;
  const said = hasSettlementCode ? settlement : "none";
  if (said !== "1" && said !== "2" && said !== "none") return undefined;
  return code === outOfBalance || said === "2" ? "out of balance" : "in balance";
}

function describeOther(
  { hasSettlementCode }: TotalsMessage,
  fields: IsoFields,
  currency: string,
): string {
  const settlement = hasSettlementCode && fields[66] !== undefined ? `, 66 is ${fields[66]}` : "";
  return `The host has not compared the totals in ${currency}: 39 is ${fields[39]}${settlement}.`;
}
