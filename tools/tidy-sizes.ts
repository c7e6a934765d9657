/**
 * How long files, functions and lines may be. Sources are formatted, so a function is measured by
 * its indentation: from the line that opens its body to the first line that closes it at the same
 * depth, less the named functions inside of it, which are measured by themselves.
 */
import type { TextFile } from "./repository.ts";

const fileLinesMax = 400;
const functionLinesMax = 60;
const columnsMax = 100;

export function findLongFiles({ path, lines }: TextFile): readonly string[] {
  const count = lines.length - 1;
  return count > fileLinesMax ? [`${path} has ${count} lines; the limit is ${fileLinesMax}`] : [];
}

export function findLongFunctions({ path, lines }: TextFile): readonly string[] {
  const all = functionsIn(lines);
  return all.flatMap(({ first, last }) => {
    const inner = all.filter((other) => other.first > first && other.last < last && other.named);
    const outermost = inner.filter(
      (one) => !inner.some((other) => other.first < one.first && other.last > one.last),
    );
    const length = outermost.reduce((sum, one) => sum - lengthOf(one), lengthOf({ first, last }));
    if (length <= functionLinesMax) return [];
    return [`${path}:${first + 1} a function of ${length} lines; the limit is ${functionLinesMax}`];
  });
}

/** What cannot be broken may be wide: table rows, addresses, patterns, vectors, test names. */
export function findLongLines({ path, lines, parts }: TextFile): readonly string[] {
  const tables = tablesIn(lines);
  const patterns = parts.patterns.split("\n");
  return lines.flatMap((line, at) => {
    if (line.length <= columnsMax || /https?:\/\/|^\s*test\(["`]/.test(line)) return [];
    if ((patterns[at] ?? "").trim().length > columnsMax / 2) return [];
    if (path.endsWith(".test.ts") && /["'`][^"'`\s]{60,}["'`]/.test(line)) return [];
    if (tables.some(({ first, last }) => at >= first && at <= last)) return [];
    return [`${path}:${at + 1} ${line.length} columns; the limit is ${columnsMax}`];
  });
}

type Span = { readonly first: number; readonly last: number };

function functionsIn(lines: readonly string[]): readonly (Span & { readonly named: boolean })[] {
  return lines.flatMap((line, first) => {
    if (!opensFunction(line)) return [];
    const named = !/^\s*[\w.]+\(.*=> \{$/.test(line) && !/^\s*return .*=> \{$/.test(line);
    return [{ first, last: closingLine(lines, first), named }];
  });
}

function opensFunction(line: string): boolean {
  if (/^\s*describe\(/.test(line) || !line.endsWith("{")) return false;
  if (/\bfunction\b|=> \{$/.test(line)) return true;
  // The last line of a signature over several lines, or a method.
  if (/^\s*\)(: .*)? \{$/.test(line)) return true;
  const method =
    /^\s*(?:async |get |set |static |override |private )*#?(\w+)(<.*>)?\(.*\)(: .*)? \{$/;
  const word = method.exec(line)?.[1];
  return word !== undefined && !/^(if|for|while|switch|catch|with)$/.test(word);
}

function tablesIn(lines: readonly string[]): readonly Span[] {
  return lines.flatMap((line, first) => {
    if (!/biome-ignore format/.test(line)) return [];
    const opening = lines.findIndex((later, at) => at > first && !/^\s*(\/\/|\*|\/\*)/.test(later));
    const oneLine = /;$/.test(lines[opening] ?? "");
    return [{ first, last: oneLine ? opening : closingLine(lines, opening) }];
  });
}

function closingLine(lines: readonly string[], first: number): number {
  const depth = indentationOf(lines[first] ?? "");
  const closes = (line: string) => /^\s*[})\]`]/.test(line) && indentationOf(line) <= depth;
  const found = lines.findIndex((line, at) => at > first && closes(line));
  return found < 0 ? lines.length - 1 : found;
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}

function lengthOf({ first, last }: Span): number {
  return last - first + 1;
}
