/**
 * The day's settlement file: every booking that moves money, as an acquirer reports it for
 * comparison with the gateway's own records. A hold and its release move none. The switch
 * `settlementDefects` falsifies lines to test a comparison.
 */
import type { Ledger, LedgerEntry } from "./ledger.ts";
import { Random } from "./switches.ts";

const linesPerChunk = 500;

/**
 * Lists the bookings of a UTC day. The sandbox bank knows the demonstration's gates by their ports.
 * For any other name, or none, the file has the bookings of all ports.
 */
export function listSettlement(
  ledger: Pick<Ledger, "entries">,
  day: string,
  gate?: string,
): readonly LedgerEntry[] {
  const entries = ledger.entries().filter(({ at }) => at.startsWith(day));
  const isKnown = gate !== undefined && ledger.entries().some((entry) => entry.gate === gate);
  return entries.filter((entry) => {
    return (!isKnown || entry.gate === gate) && movesMoney(entry, ledger);
  });
}

function movesMoney(
  { reference, kind, at }: LedgerEntry,
  ledger: Pick<Ledger, "entries">,
): boolean {
  if (kind === "authorisation") return false;
  if (kind !== "reversal") return true;
  const same = ledger.entries(reference);
  const isHold = same[0]?.kind === "authorisation";
  return !isHold || same.some((entry) => entry.kind === "capture" && entry.at <= at);
}

/**
 * Falsifies lines in turn: another amount, a missing line and an additional one. The same seed
 * gives the same choice.
 */
export function falsify(
  lines: readonly LedgerEntry[],
  defects: number,
  seed: number,
): readonly LedgerEntry[] {
  const random = new Random(seed);
  const places = lines.map((_, place) => place);
  const kinds = new Map<number, number>();
  const invented: LedgerEntry[] = [];
  for (let count = 0; count < defects; count += 1) {
    const [place] = places.splice(Math.floor(random.next() * places.length), 1);
    if (place === undefined) invented.push(invent(count, lines[0]));
    else kinds.set(place, count);
  }
  const written = lines.flatMap((line, place) => {
    const count = kinds.get(place);
    if (count === undefined) return [line];
    if (count % 3 === 0) return [{ ...line, amount: line.amount + 100n }];
    return count % 3 === 1 ? [] : [line, invent(count, line)];
  });
  return [...written, ...invented];
}

/** Makes a line with a reference that no gateway has. */
function invent(count: number, like?: LedgerEntry): LedgerEntry {
  const reference = `FALSE${String(count).padStart(7, "0")}`;
  const base = { amount: 1_000n, currency: "USD", at: like?.at ?? "" };
  return { ...base, ...like, reference, kind: "sale" };
}

export function* writeSettlement(lines: readonly LedgerEntry[]): Generator<string> {
  yield "reference,kind,amount,currency,at\n";
  for (let start = 0; start < lines.length; start += linesPerChunk) {
    const chunk = lines.slice(start, start + linesPerChunk);
    yield chunk
      .map(({ reference, kind, amount, currency, at }) =>
        [reference, kind, amount, currency, at].join(",").concat("\n"),
      )
      .join("");
  }
}
