/** Files that operators give to commands: can they be read, and how do acquirers write them? */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { Option } from "commander";
import { type AmountForm, amountForms, type FileFormat } from "../reconciliation/acquirer-file.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { readOneOf } from "./options.ts";

/** What a command reads: a file that the user has named, or with `-` standard input. */
export type Input = {
  open(file: string): AsyncIterable<Uint8Array>;
};

export const processInput: Input = {
  open: (file) => (file === "-" ? process.stdin : createReadStream(file)),
};

export function readInput({ open: openFile }: Input, file = "-"): Promise<string> {
  return text(openFile(file));
}

export async function findFileProblem(file: string): Promise<Problem | undefined> {
  if (file === "-") return undefined;
  try {
    const opened = await open(file);
    const isFile = (await opened.stat()).isFile();
    await opened.close();
    return isFile ? undefined : new Problem(`${file} is not a file.`);
  } catch (error) {
    return new Problem(`The file ${file} cannot be read: ${messageOf(error)}.`);
  }
}

/** As Commander gives them. */
export type FormatOptions = {
  readonly columns?: string;
  readonly amounts?: string;
  readonly delimiter?: string;
  readonly words?: string;
};

export function formatOptions(wordsFor: string): readonly Option[] {
  return [
    new Option("--columns <map>", "the file's own names, like reference=RRN,amount=AMT"),
    new Option("--amounts <form>", `${amountForms.join(", ")} (12.34 or 12,34 are not minor)`),
    new Option("--delimiter <character>", "between columns; tab for a tab stop"),
    new Option("--words <map>", `the file's own words for each ${wordsFor}, like PURCHASE=sale`),
  ];
}

/** The sandbox bank's format, changed as the options say. */
export function readFormat<Column extends string, Word extends string>(
  options: FormatOptions,
  usual: Readonly<Record<Column, string>>,
  ownWords: readonly Word[],
): FileFormat<Column, Word> | Problem {
  const amounts: AmountForm | Problem = readOneOf(amountForms)(
    options.amounts ?? "minor",
    "--amounts",
  );
  if (amounts instanceof Problem) return amounts;
  const delimiter = options.delimiter === "tab" ? "\t" : (options.delimiter ?? ",");
  if (delimiter.length !== 1) return new Problem("--delimiter is one character, or tab.");
  const names = readMap(options.columns, "--columns");
  if (names instanceof Problem) return names;
  const unknown = names.find(([column]) => !(column in usual));
  if (unknown !== undefined) {
    const known = Object.keys(usual).join(", ");
    return new Problem(`--columns has no ${unknown[0]}: the columns are ${known}.`);
  }
  const words = readWords(options.words, ownWords);
  if (words instanceof Problem) return words;
  return { columns: { ...usual, ...Object.fromEntries(names) }, amounts, delimiter, words };
}

function readWords<Word extends string>(text: string | undefined, own: readonly Word[]) {
  const given = readMap(text, "--words");
  if (given instanceof Problem) return given;
  const words = new Map<string, Word>(own.map((word) => [word, word]));
  for (const [theirs, meaning] of given) {
    const word = own.find((each) => each === meaning);
    if (word === undefined) {
      return new Problem(`--words cannot mean ${meaning}: the words are ${own.join(", ")}.`);
    }
    words.set(theirs.toLowerCase(), word);
  }
  return words;
}

function readMap(text: string | undefined, option: string): [string, string][] | Problem {
  if (text === undefined) return [];
  const pairs: [string, string][] = [];
  for (const part of text.split(",")) {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      return new Problem(`${option} is a list like name=value,name=value.`);
    }
    pairs.push([name.trim(), value.trim()]);
  }
  return pairs;
}
