/**
 * The form of a table of texts. A row contains the English text, a bar and the German text, and may
 * continue on further lines. A text with gaps is a function that fills the gaps and returns such a
 * row.
 */
export type Row = `${string}| ${string}`;
type Filled = (...gaps: never[]) => Row;
export type Rows = { readonly [name: string]: Row | Filled | Rows };

const languages = ["en", "de"] as const;
export type LanguageCode = (typeof languages)[number];

type TextsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends string
    ? string
    : Table[Name] extends (...gaps: infer Gaps) => Row
      ? (...gaps: Gaps) => string
      : TextsOf<Table[Name]>;
};

export function readRows<Table extends Rows>(table: Table, code: LanguageCode): TextsOf<Table> {
  const texts = Object.entries(table).map(([name, row]) => [name, readRow(row, code)]);
  // `Object.fromEntries` loses the type of the names. The table has a text for each name.
  return Object.fromEntries(texts) as TextsOf<Table>;
}

function readRow(row: Row | Filled | Rows, code: LanguageCode) {
  if (typeof row === "object") return readRows(row, code);
  if (typeof row === "string") return textOf(row, code);
  return (...gaps: unknown[]) => {
    // A row is split at the bar between its languages. Another character replaces the bars in the
    // values of gaps until then.
    const safe = gaps.map((gap) => (typeof gap === "string" ? gap.replaceAll("|", "\0") : gap));
    return textOf(Reflect.apply(row, undefined, safe), code).replaceAll("\0", "|");
  };
}

function textOf(row: Row, code: LanguageCode): string {
  const text = row.split("|")[languages.indexOf(code)] ?? "";
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Returns a text like `1 order` or `7 orders`. */
export function some(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the name itself if the table has no text for the name. */
export function wordIn(words: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}
