/**
 * The form of a table of texts. A row is the text in English and in German, with a bar before the
 * German one; a long row continues on the next lines. A text with gaps is a function that returns
 * the row with the gaps filled.
 */
export type Row = `${string}| ${string}`;
type Filled = (...gaps: never[]) => Row;
export type Rows = { readonly [name: string]: Row | Filled | Rows };

const languages = ["en", "de"] as const;
export type LanguageCode = (typeof languages)[number];

/** The texts of a table in one language. */
type TextsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends string
    ? string
    : Table[Name] extends (...gaps: infer Gaps) => Row
      ? (...gaps: Gaps) => string
      : TextsOf<Table[Name]>;
};

export function readRows<Table extends Rows>(table: Table, code: LanguageCode): TextsOf<Table> {
  const texts = Object.entries(table).map(([name, row]) => [name, readRow(row, code)]);
  // The type of `Object.fromEntries` has no names. Here, each name has a text.
  return Object.fromEntries(texts) as TextsOf<Table>;
}

function readRow(row: Row | Filled | Rows, code: LanguageCode) {
  if (typeof row === "object") return readRows(row, code);
  if (typeof row === "string") return textOf(row, code);
  return (...gaps: unknown[]) => {
    // A bar in a gap is replaced until the row is split at its own bar.
    const safe = gaps.map((gap) => (typeof gap === "string" ? gap.replaceAll("|", "\0") : gap));
    return textOf(Reflect.apply(row, undefined, safe), code).replaceAll("\0", "|");
  };
}

function textOf(row: Row, code: LanguageCode): string {
  const text = row.split("|")[languages.indexOf(code)] ?? "";
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Returns a count with its noun, like `1 order` or `7 orders`. */
export function some(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the text of the table, or the name itself if the table has none. */
export function wordIn(words: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}
