/** Prints output and refusals of commands for people or as JSON, and waits for stop signals. */
import type { Block, Lines } from "../administration/session.ts";
import { NotAllowed, type Problem } from "../values/problem.ts";
import { exitCodes } from "./terminal.ts";

export const processFindings = {
  note() {
    process.exitCode = exitCodes.findings;
  },
  exist: () => Boolean(process.exitCode),
};

export function complain(problem: Problem): void {
  process.stderr.write(`${problem.sentence}\n`);
  process.exitCode = problem instanceof NotAllowed ? exitCodes.notAllowed : exitCodes.refused;
}

export function print(content: Block, json = false): void {
  if (json) process.stdout.write(`${JSON.stringify(content, undefined, 2)}\n`);
  else if (typeof content === "string") process.stdout.write(`${content}\n`);
  else if (isList(content)) process.stdout.write(`${formatTable(content).join("\n")}\n`);
  else printLines(content);
}

function printLines(lines: Lines): void {
  const named = Object.entries(lines).map(([name, value]) => [inWords(name), value] as const);
  const width = Math.max(...named.map(([name]) => name.length));
  for (const [name, value] of named) {
    // A PEM block starts on its own line, so that OpenSSL can read the output.
    const text = String(value).trimEnd();
    const line = text.includes("\n") ? `${name}\n${text}` : `${name.padEnd(width)}  ${value}`;
    process.stdout.write(`${line}\n`);
  }
}

function isList(content: Lines | readonly Lines[]): content is readonly Lines[] {
  return Array.isArray(content);
}

/** Within this time, stop signals count as one: after Ctrl-C, the parent process sends another. */
const sameSignalMs = 1_000;

/** The first stop signal ends the command in order, and a later one ends the process at once. */
export function untilStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = () => {
      if (firstAt !== undefined && performance.now() - firstAt > sameSignalMs) process.exit(130);
      firstAt ??= performance.now();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}

const lineWidth = 100;
const between = "  ";
const indent = "    ";

/**
 * Columns that do not fit into the line are printed below their row as names and values, without
 * empty values. A value that is too long for its line is not broken, so that a user can copy it.
 */
export function formatTable(rows: readonly Lines[]): readonly string[] {
  const names = Object.keys(rows[0] ?? {});
  const cellsOf = (row: Lines) => names.map((name) => String(row[name] ?? ""));
  const cells = [names.map(inWords), ...rows.map(cellsOf)];
  const columns = names.map((name, at) => ({
    name: inWords(name),
    at,
    width: Math.max(...cells.map((row) => row[at]?.length ?? 0)),
  }));
  const fitting = chooseFitting(columns);
  const others = columns.filter((column) => !fitting.includes(column));
  return cells.flatMap((row, line) => {
    const padded = fitting.map(({ at, width }) => (row[at] ?? "").padEnd(width));
    const named = others
      .filter(({ at }) => line > 0 && row[at] !== "")
      .map(({ name, at }) => `${name}: ${row[at]}`);
    return [padded.join(between).trimEnd(), ...pack(named)];
  });
}

/** Returns `client order id` for `clientOrderId`, and a name in any other form unchanged. */
function inWords(name: string): string {
  if (!/^[a-z]+(?:[A-Z][a-z]+)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function chooseFitting<Column extends { readonly width: number }>(columns: readonly Column[]) {
  const fitting: Column[] = [];
  let left = lineWidth + between.length;
  for (const column of columns) {
    const needed = column.width + between.length;
    if (needed > left) continue;
    fitting.push(column);
    left -= needed;
  }
  return fitting;
}

function pack(texts: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const longer = `${lines.at(-1)}${between}${text}`;
    if (lines.length > 0 && longer.length <= lineWidth) lines[lines.length - 1] = longer;
    else lines.push(`${indent}${text}`);
  }
  return lines;
}
