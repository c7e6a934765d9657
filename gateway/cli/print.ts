/** What commands print: JSON for programs, aligned lines for people. */
type Lines = Readonly<Record<string, unknown>>;

export function print(content: Lines | readonly Lines[], json = false): void {
  if (json) process.stdout.write(`${JSON.stringify(content, undefined, 2)}\n`);
  else if (isList(content)) printTable(content);
  else printLines(content);
}

function printLines(lines: Lines): void {
  const width = Math.max(...Object.keys(lines).map(({ length }) => length));
  for (const [name, value] of Object.entries(lines)) {
    // Of several lines, each must be found by whoever is handed the output: OpenSSL, for one.
    const text = String(value).trimEnd();
    const line = text.includes("\n") ? `${name}\n${text}` : `${name.padEnd(width)}  ${value}`;
    process.stdout.write(`${line}\n`);
  }
}

function printTable(rows: readonly Lines[]): void {
  const names = Object.keys(rows[0] ?? {});
  const widths = names.map((name) =>
    Math.max(name.length, ...rows.map((row) => String(row[name] ?? "").length)),
  );
  const write = (cells: readonly string[]) => {
    const padded = cells.map((cell, index) => cell.padEnd(widths[index] ?? 0));
    process.stdout.write(`${padded.join("  ").trimEnd()}\n`);
  };
  write(names);
  for (const row of rows) write(names.map((name) => String(row[name] ?? "")));
}

function isList(content: Lines | readonly Lines[]): content is readonly Lines[] {
  return Array.isArray(content);
}
