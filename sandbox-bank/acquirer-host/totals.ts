/**
 * Totals (0500): the gateway's counts and sums of a day in a currency are compared with the ledger
 * of the port. Reversals are offset against what they reverse, because a gateway may omit a charge
 * that was reversed after its answer was lost. With `settlementDefects` the totals are out of
 * balance.
 */
import type { IsoFields, IsoMessage } from "@tollgate/protocols/iso8583";
import type { LedgerEntry } from "../ledger.ts";
import { nameCurrency } from "../money.ts";
import { listSettlement } from "../settlement.ts";
import { type Exchange, makeAnswer } from "./answers.ts";

/** Fields that answers repeat. */
const countFields = [74, 75, 76, 77];
const sumFields = [86, 87, 88, 89];
export const totalsFields = [50, ...countFields, ...sumFields, 97];

export function answerTotals(exchange: Exchange): IsoMessage {
  const { request, connection, host } = exchange;
  const { 11: trace, 15: day = "", 50: currency } = request.fields;
  const stated = readStated(request.fields);
  if (!trace || !/^\d{4}$/.test(day) || !currency || stated === undefined) {
    return makeAnswer(exchange, "30");
  }
  const entries = listSettlement(host.ledger, dateOf(day, host.clock.now().iso)).filter(
    (entry) => entry.gate === connection.dialect.gate && entry.currency === nameCurrency(currency),
  );
  const booked = sumUp(entries);
  const agrees =
    host.switches.current.settlementDefects === 0 &&
    stated.every((value, place) => value === booked[place]);
  const echoed = totalsFields.map((field) => [field, request.fields[field] ?? ""]);
  const more = { ...Object.fromEntries(echoed), 66: agrees ? "1" : "2" };
  return makeAnswer(exchange, agrees ? "00" : "95", more);
}

type Net = readonly [credits: bigint, debits: bigint, creditSum: bigint, debitSum: bigint];

/**
 * Reads the stated totals. Returns undefined unless all fields are present and the net amount (97)
 * fits the sums.
 */
function readStated(fields: IsoFields): Net | undefined {
  const values = [...countFields, ...sumFields].map((field) => fields[field] ?? "");
  if (!values.every((value) => /^\d+$/.test(value))) return undefined;
  const [c, cr, d, dr, cs, crs, ds, drs] = values.map(BigInt);
  const net: Net = [less(c, cr), less(d, dr), less(cs, crs), less(ds, drs)];
  // In packed form, the letter is given by its byte.
  const [, letter, digits = "0"] = /^(C|D|43|44)(\d{16})$/.exec(fields[97] ?? "") ?? [];
  if (letter === undefined) return undefined;
  const isDebit = letter === "D" || letter === "44";
  const given = isDebit ? BigInt(digits) : -BigInt(digits);
  return given === net[3] - net[2] ? net : undefined;
}

function less(value = 0n, subtracted = 0n): bigint {
  return value - subtracted;
}

function sumUp(entries: readonly LedgerEntry[]): Net {
  let [credits, debits, creditSum, debitSum] = [0n, 0n, 0n, 0n];
  for (const { kind, amount } of entries) {
    if (kind === "refund" || kind === "payout") {
      credits += 1n;
      creditSum += amount;
    } else {
      const sign = kind === "reversal" ? -1n : 1n;
      debits += sign;
      debitSum += sign * amount;
    }
  }
  return [credits, debits, creditSum, debitSum];
}

/**
 * Returns the date of MMDD, which has no year: it is the latest such day that is not in the future.
 */
function dateOf(day: string, now: string): string {
  const date = `${now.slice(0, 4)}-${day.slice(0, 2)}-${day.slice(2)}`;
  return date > now.slice(0, 10) ? `${Number(now.slice(0, 4)) - 1}${date.slice(4)}` : date;
}
