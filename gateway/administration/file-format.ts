/** The format of an acquirer's files, as the user describes it. */
import { amountForms, type FileFormat } from "../reconciliation/acquirer-file.ts";
import { Problem } from "../values/problem.ts";
import { type Given, type Help, option } from "./field.ts";

/** `wordsHelp` explains which of the gateway's words an acquirer's file may replace by its own. */
export function formatFields(wordsHelp: Help) {
  return {
    columns: option("text", "map", [
      "the file's own names, like reference=RRN,amount=AMT",
      "Namen in der Datei, wie reference=RRN,amount=AMT",
    ]),
    amounts: option(amountForms, "form", [
      `${amountForms.join(", ")} (12.34 or 12,34 are not minor)`,
      "minor, decimal oder comma (12.34 und 12,34 sind nicht minor)",
    ]),
    delimiter: option("text", "character", [
      "between columns; tab for a tab stop",
      "zwischen den Spalten; tab für einen Tabulator",
    ]),
    words: option("text", "map", wordsHelp),
  };
}

type FormatGiven = Given<ReturnType<typeof formatFields>>;

/** Without options, the format is that of the sandbox's files. Options change it. */
export function readFormat<Column extends string, Word extends string>(
  given: FormatGiven,
  usual: Readonly<Record<Column, string>>,
  ownWords: readonly Word[],
): FileFormat<Column, Word> | Problem {
  const { amounts = "minor" } = given;
  const delimiter = given.delimiter === "tab" ? "\t" : (given.delimiter ?? ",");
  if (delimiter.length !== 1) return new Problem("delimiter is one character, or tab.");
  const names = readMap(given.columns, "columns");
  if (names instanceof Problem) return names;
  const unknown = names.find(([column]) => !(column in usual));
  if (unknown !== undefined) {
    const known = Object.keys(usual).join(", ");
    return new Problem(`columns has no ${unknown[0]}: the columns are ${known}.`);
  }
  const words = readWords(given.words, ownWords);
  if (words instanceof Problem) return words;
  return { columns: { ...usual, ...Object.fromEntries(names) }, amounts, delimiter, words };
}

function readWords<Word extends string>(text: string | undefined, own: readonly Word[]) {
  const given = readMap(text, "words");
  if (given instanceof Problem) return given;
  const words = new Map<string, Word>(own.map((word) => [word, word]));
  for (const [theirs, meaning] of given) {
    const word = own.find((each) => each === meaning);
    if (word === undefined) {
      return new Problem(`words cannot mean ${meaning}: the words are ${own.join(", ")}.`);
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
