/**
 * The goals of latency, judged, and the table. The unit is the median of one durable single-row
 * insert of the same run: the machine's disk and cores are in both.
 */
import { type Cell, type Kind, kinds, type Latency, type SaleMeans } from "./latency.ts";
import { isQuiet, printQuietness } from "./report.ts";

type Limits = { readonly p50: number; readonly p99: number };

/** In inserts, of a sale; a synchronous sale may take twice as long, and the bank's time. */
const goals: Readonly<Record<string, Limits>> = {
  "one after the other": { p50: 3, p99: 8 },
  "50/s": { p50: 3, p99: 8 },
  "200/s": { p50: 3, p99: 8 },
  "500/s": { p50: 3, p99: 12 },
};

export type LatencyVerdict = {
  readonly rate: string;
  readonly kind: Kind;
  readonly figure: keyof Limits;
  /** In inserts. */
  readonly value: number;
  readonly limit: number;
  readonly reached: boolean;
};

/** Beside busy cores there are no goals in inserts: two trees are compared. */
export function judgeLatency({ cells, insertMs, burners }: Latency): readonly LatencyVerdict[] {
  if (burners > 0) return [];
  return cells.flatMap(({ rate, kind, ms, means }) => {
    const goal = goals[rate];
    if (goal === undefined || (kind !== "sale" && kind !== "synchronous sale")) return [];
    return (["p50", "p99"] as const).map((figure) => {
      const value = ms[figure] / insertMs;
      const limit =
        kind === "sale" ? goal[figure] : 2 * goal[figure] + (means?.bankAnswerMs ?? 0) / insertMs;
      return { rate, kind, figure, value, limit, reached: value <= limit };
    });
  });
}

const columns = ["p50", "p95", "p99", "p99.9", "÷ insert p50", "p99", "limits p50", "p99"];

export function printLatency(latency: Latency, verdicts: readonly LatencyVerdict[]): string {
  const { cells, insertMs, burners, maximumPerSecond } = latency;
  const quietness = [{ insertSlices: latency.insertSlices.map((ms) => 1_000 / ms) }];
  const judge = (cell: Cell, figure: keyof Limits) => {
    const found = verdicts.find(
      (each) => each.rate === cell.rate && each.kind === cell.kind && each.figure === figure,
    );
    return found && { ...found, text: `${found.reached ? "≤" : "over"} ${found.limit.toFixed(1)}` };
  };
  const lines = cells.map((cell) => {
    const { ms, kind, count, refused, means } = cell;
    const times = [ms.p50, ms.p95, ms.p99, ms.p999].map((each) => each.toFixed(2));
    const ratios = [ms.p50, ms.p99].map((each) => (each / insertMs).toFixed(1));
    const limits = [judge(cell, "p50")?.text ?? "", judge(cell, "p99")?.text ?? ""];
    const notes = [
      ...(refused > 0 ? [`${refused} refused`] : []),
      ...(means === undefined ? [] : [printMeans(means)]),
    ].join(", ");
    return row(cell.rate, kind, String(count), [...times, ...ratios, ...limits], notes);
  });
  const grouped = lines.flatMap((line, index) =>
    index % (kinds.length + 1) === 0 ? ["", line] : [line],
  );
  const missed = verdicts.filter(({ reached }) => !reached).length;
  const doubt = isQuiet(quietness) ? "" : " Undecided: the machine was not quiet.";
  const beside = `, beside ${burners} processes that keep the cores busy`;
  return [
    `  Milliseconds to the acknowledgement, or to the shown form${burners > 0 ? beside : ""}`,
    row("rate", "what", "count", columns, ""),
    ...grouped,
    "",
    `  The maximum is ${Math.round(maximumPerSecond)} completed sales a second.`,
    `  The unit of the ratios is the median of all inserts of the run, ${insertMs.toFixed(2)} ms.`,
    verdicts.length === 0
      ? "  No goals are judged."
      : `  ${verdicts.length - missed} of ${verdicts.length} goals reached, ` +
        `${missed} missed.${doubt}`,
    printQuietness(quietness),
  ].join("\n");
}

function printMeans({ requestMs, beginMs, bankAnswerMs }: SaleMeans): string {
  const [request, commit, bank] = [requestMs, beginMs, bankAnswerMs].map((ms) => ms.toFixed(2));
  return `means: request ${request}, first commit ${commit}, bank ${bank} ms`;
}

function row(
  rate: string,
  what: string,
  count: string,
  cells: readonly string[],
  notes: string,
): string {
  const padded = cells.map((cell) => cell.padStart(cell.length > 9 ? 13 : 10)).join("");
  return `  ${rate.padEnd(21)}${what.padEnd(17)}${count.padStart(6)}${padded}  ${notes}`.trimEnd();
}

export const latencyDefinitions = `
  times         open arrivals, from the moment a request was due; the first millisecond of the load
                generator's own delay, which is the grain of its timers, does not count. One after
                the other: one connection, each request sent when the last one was answered
  capture       of orders that were preauthorised before; status: each order is asked for twice
  payment page  20 a second with their files, beside sales at the rate (one after the other: alone)
  insert        one row of 600 bytes in a transaction, one after the other on one connection, same
                driver and server, by turns with the slices of the other lines
  limits        the goals of a sale in inserts; of a synchronous sale twice that and the mean time
                of the bank's answer in the same slices
  means         from the gateway's metrics: from a sale's request to its answer, the commit that
                the answer waits for, and the bank's answer, for which only a synchronous sale
                waits`;
