/**
 * Reports the faults, the duration of each recovery, and the findings as Markdown, JSON and a
 * chart.
 */
import type { Acknowledged } from "./merchants.ts";
import type { Fault } from "./plan.ts";

export type Done = Fault & {
  readonly beganMs: number;
  /** When the part may work again. */
  readonly overMs: number;
  readonly note?: string | undefined;
};
export type Run = {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: readonly Done[];
  readonly acknowledged: readonly Acknowledged[];
  readonly findings: readonly string[];
  /** Counts for the top of the report. */
  readonly figures: Readonly<Record<string, number>>;
};
export type Recovery = {
  /**
   * The time from the end of the fault to the first sale that the part or, with it, any node
   * accepted.
   */
  readonly recoveryMs: number | undefined;
  /** The longest time without an acknowledged sale, from the fault's beginning to the recovery. */
  readonly quietMs: number;
};

export function recoveryOf(fault: Done, acknowledged: readonly Acknowledged[]): Recovery {
  const [, node] = /(left|right)/.exec(fault.part) ?? [];
  const own = node === undefined ? acknowledged : acknowledged.filter((one) => one.node === node);
  const first = own.find(({ atMs }) => atMs >= fault.overMs)?.atMs;
  const until = first ?? fault.overMs;
  const before = acknowledged.findLast(({ atMs }) => atMs < fault.beganMs)?.atMs ?? fault.beganMs;
  const during = acknowledged
    .filter(({ atMs }) => atMs >= fault.beganMs && atMs <= until)
    .map(({ atMs }) => atMs);
  const moments = [before, ...during, until];
  const gaps = moments.slice(1).map((at, index) => at - (moments[index] ?? at));
  return {
    recoveryMs: first === undefined ? undefined : first - fault.overMs,
    quietMs: Math.max(0, ...gaps),
  };
}

export function toMarkdown(run: Run): string {
  const { seed, minutes, findings, faults, acknowledged } = run;
  const listed = findings.length === 0 ? ["Nothing was lost."] : findings.map((one) => `- ${one}`);
  const rows = faults.map((fault) => {
    const { recoveryMs, quietMs } = recoveryOf(fault, acknowledged);
    const what = [fault.kind, fault.way, fault.note].filter(Boolean).join(": ");
    const seconds = [fault.beganMs, fault.overMs - fault.beganMs, recoveryMs, quietMs].map(
      inSeconds,
    );
    return `| ${[seconds[0], fault.part, what, ...seconds.slice(1)].join(" | ")} |`;
  });
  return [
    `# Chaos, seed ${seed}, ${minutes} minutes\n`,
    ...Object.entries(run.figures).map(([name, value]) => `- ${name}: ${value}`),
    "\n## Findings\n",
    ...listed,
    "\n## Recoveries\n",
    ...summaryRows(run),
    "\n## Faults\n",
    "| At, s | Part | Fault | Lasted, s | Recovery, s | Longest without a sale, s |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** Returns a row for each kind: how often it occurred, and how long the recovery took. */
function summaryRows({ faults, acknowledged }: Run): readonly string[] {
  const byKind = Map.groupBy(faults, ({ kind }) => kind);
  const rows = [...byKind].sort().map(([kind, same]) => {
    const recoveries = same.map((fault) => recoveryOf(fault, acknowledged));
    const times = recoveries.flatMap(({ recoveryMs }) => recoveryMs ?? []).sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)];
    const quiet = Math.max(...recoveries.map(({ quietMs }) => quietMs));
    const figures = [median, times.at(-1), quiet].map(inSeconds);
    return `| ${kind} | ${same.length} | ${figures.join(" | ")} |`;
  });
  return [
    "| Fault | Times | Recovery, median, s | longest | Longest without a sale, s |",
    "|---|---|---|---|---|",
    ...rows,
  ];
}

function inSeconds(durationMs: number | undefined): string {
  return durationMs === undefined ? "never" : (durationMs / 1000).toFixed(1);
}

const width = 1_200;
const left = 130;
const laneHeight = 22;
const chartHeight = 120;
const colours = ["#0f766e", "#b45309", "#7c3aed", "#be123c", "#1d4ed8", "#4d7c0f", "#a21caf"];

/**
 * Draws a chart: above, the sales acknowledged in each second; below, a lane for each part with its
 * faults.
 */
export function toSvg({ seed, minutes, faults, acknowledged }: Run): string {
  const ends = [...faults.map(({ overMs }) => overMs), ...acknowledged.map(({ atMs }) => atMs)];
  const lengthMs = Math.max(minutes * 60_000, ...ends);
  const at = (ms: number) => (left + (ms / lengthMs) * (width - left - 10)).toFixed(1);
  const parts = [...new Set(faults.map(({ part }) => part))].sort();
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  const bySecond = Map.groupBy(acknowledged, ({ atMs }) => Math.floor(atMs / 1000));
  const seconds = Array.from({ length: Math.ceil(lengthMs / 1000) + 1 }, (_, second) => second);
  const perSecond = seconds.map((second) => bySecond.get(second)?.length ?? 0);
  const most = Math.max(1, ...perSecond);
  const points = perSecond.map(
    (count, second) => `${at(second * 1000)},${(chartHeight * (1 - count / most) + 30).toFixed(1)}`,
  );
  const top = chartHeight + 50;
  const bars = faults.map((fault) => {
    const y = top + parts.indexOf(fault.part) * laneHeight;
    const span = Math.max(2, Number(at(fault.overMs)) - Number(at(fault.beganMs)));
    const colour = colours[kinds.indexOf(fault.kind) % colours.length];
    const title = `<title>${fault.kind} ${fault.way}</title>`;
    const place = `x="${at(fault.beganMs)}" y="${y}" width="${span.toFixed(1)}" height="14"`;
    return `<rect ${place} fill="${colour}">${title}</rect>`;
  });
  const labels = parts.map(
    (part, index) => `<text x="4" y="${top + index * laneHeight + 11}">${part}</text>`,
  );
  const ticks = Array.from({ length: Math.floor(lengthMs / 60_000) + 1 }, (_, minute) => {
    return `<text x="${at(minute * 60_000)}" y="${top - 6}">${minute} min</text>`;
  });
  const height = top + parts.length * laneHeight + 40;
  const legend = kinds.map((kind, index) => {
    const x = left + index * 80;
    const colour = colours[index % colours.length];
    return `<text x="${x}" y="${height - 10 - (index % 2) * 14}" fill="${colour}">${kind}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"`,
    `  font-family="sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="4" y="16">Seed ${seed}: acknowledged sales per second, up to ${most}; faults</text>`,
    `<polyline points="${points.join(" ")}" fill="none" stroke="#334155"/>`,
    ...bars,
    ...[...labels, ...ticks, ...legend],
    "</svg>\n",
  ].join("\n");
}
