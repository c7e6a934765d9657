/**
 * CSV as RFC 4180 has it, read as it comes: quotes, line ends of either kind, a byte order mark.
 * Bytes that are no UTF-8 become U+FFFD, by which whoever looks at a cell can tell.
 */
export type CsvRecord = {
  /** Where it starts; a quoted cell may hold line ends. */
  readonly line: number;
  /** Nothing when its quotes do not match. */
  readonly cells: readonly string[] | undefined;
};

/** A quote that is never closed would make one record of the whole rest of the file. */
const recordCharactersMax = 10_000;

export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly CsvRecord[]> {
  const decoder = new TextDecoder();
  const reader = makeRecordReader();
  for await (const chunk of chunks) yield reader.read(decoder.decode(chunk, { stream: true }));
  yield [...reader.read(`${decoder.decode()}\n`), ...reader.end()];
}

function makeRecordReader() {
  let rest = "";
  let line = 0;
  let open: { readonly line: number; readonly text: string } | undefined;

  return {
    read(text: string): readonly CsvRecord[] {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      const records = lines.flatMap(takeLine);
      if (rest.length <= recordCharactersMax) return records;
      rest = "";
      return [...records, { line: line + 1, cells: undefined }];
    },
    end(): readonly CsvRecord[] {
      return open === undefined ? [] : [{ line: open.line, cells: undefined }];
    },
  };

  function takeLine(ended: string): readonly CsvRecord[] {
    line += 1;
    const text = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
    if (open === undefined && text === "") return [];
    if (open === undefined && !text.includes('"')) return [{ line, cells: text.split(",") }];

    const record = open === undefined ? { line, text } : { ...open, text: `${open.text}\n${text}` };
    const isOpen = record.text.split('"').length % 2 === 0;
    open = isOpen && record.text.length <= recordCharactersMax ? record : undefined;
    if (open !== undefined) return [];
    return [{ line: record.line, cells: isOpen ? undefined : splitQuoted(record.text) }];
  }
}

function splitQuoted(text: string): readonly string[] | undefined {
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;
  const cells: string[] = [];
  for (;;) {
    const match = cell.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = "", end] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") return cells;
  }
}
