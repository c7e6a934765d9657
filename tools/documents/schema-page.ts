/**
 * Renders the page of the database from `templates/schema.md` and the two files of the schema: a
 * drawing of the references of each file, and a table for each database table.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../repository.ts";
import { fence, mono, renderTemplate, table } from "./text.ts";

const folder = "gateway/storage/schema";

export function renderSchemaPage(): string {
  const read = (name: string) => parseSchema(readFileSync(join(root, folder, name), "utf8"));
  const [main, cell] = [read("main.sql"), read("cell.sql")];
  return renderTemplate("schema", folder, {
    "main-diagram": drawReferences(main),
    "cell-diagram": drawReferences(cell),
    main: main.map(renderTable).join("\n\n"),
    cell: cell.map(renderTable).join("\n\n"),
  });
}

export type SchemaTable = {
  readonly name: string;
  readonly isUnlogged: boolean;
  readonly meaning: string;
  readonly columns: readonly SchemaColumn[];
  /** Keys and checks over several columns, partitions, storage. */
  readonly rules: readonly string[];
  readonly indexes: readonly string[];
};

type SchemaColumn = { readonly name: string; readonly type: string; readonly meaning: string };

/**
 * Reads a file of the schema. It has a paragraph for each table, with a line for each column and
 * each rule.
 */
export function parseSchema(sql: string): readonly SchemaTable[] {
  const tables: SchemaTable[] = [];
  for (const paragraph of sql.split("\n\n")) {
    const made = /^create (unlogged )?table ([\w.]+) \(\n(.*?)\n\)([^;]*);/ms.exec(paragraph);
    if (made !== null) {
      const [all, unlogged, name = "", body = "", rest = ""] = made;
      const own = commentOf(paragraph.slice(0, paragraph.indexOf(all)));
      tables.push({
        name,
        isUnlogged: unlogged !== undefined,
        meaning: own,
        indexes: [],
        ...parseBody(body, rest),
      });
    }
    for (const [, unique = "", , on = "", what = ""] of paragraph.matchAll(indexPattern)) {
      const index = tables.findIndex(({ name }) => name === on);
      const found = tables[index];
      if (found === undefined) throw new Error(`an index on ${on}, which is not there`);
      const text = `${unique}${flatten(what)}`;
      tables[index] = { ...found, indexes: [...found.indexes, text] };
    }
  }
  return tables;
}

const indexPattern = /^create (unique )?index (\w+)\s+on ([\w.]+) ([^;]*);/gm;

function parseBody(body: string, rest: string): Pick<SchemaTable, "columns" | "rules"> {
  const columns: SchemaColumn[] = [];
  const rules: string[] = [];
  let comment = "";
  for (const line of body.split("\n")) {
    const text = line.trim().replace(/,$/, "");
    if (text.startsWith("-- ")) {
      comment += `${comment === "" ? "" : " "}${text.slice(3)}`;
      continue;
    }
    const [, name = "", type = ""] = /^(\w+) +(.*)$/.exec(text) ?? [];
    if (/^(primary key|check|unique|constraint)\b/.test(text)) rules.push(text);
    else columns.push({ name, type, meaning: comment });
    comment = "";
  }
  const clause = flatten(rest);
  return { columns, rules: clause === "" ? rules : [...rules, clause] };
}

function commentOf(text: string): string {
  return text
    .split("\n")
    .filter((line) => line.startsWith("-- "))
    .map((line) => line.slice(3))
    .join(" ");
}

function flatten(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function renderTable({ name, isUnlogged, meaning, columns, rules, indexes }: SchemaTable): string {
  const rows = columns.map((each) => [mono(each.name), mono(each.type), each.meaning]);
  const notes = [...rules.map(mono), ...indexes.map((text) => `index ${mono(text)}`)];
  return [
    `### ${name}`,
    [isUnlogged ? "Unlogged." : "", meaning].filter((text) => text !== "").join(" "),
    table(["Column", "Type", "Meaning"], rows),
    notes.map((note) => `- ${note}`).join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/**
 * The tables to which columns refer by their name alone, because the tables of a cell have no
 * foreign keys.
 */
const byName: Readonly<Record<string, string>> = { order_id: "orders", card_id: "cards" };

function drawReferences(tables: readonly SchemaTable[]): string {
  const lines = new Map<string, string[]>();
  const names = new Set(tables.map(({ name }) => name));
  for (const { name, columns } of tables) {
    for (const column of columns) {
      const [, declared] = /\breferences ([\w.]+)/.exec(column.type) ?? [];
      const to = declared ?? byName[column.name];
      if (to === undefined || !names.has(to)) continue;
      const edge = `  ${name} --> ${to}`;
      lines.set(edge, [...(lines.get(edge) ?? []), column.name]);
    }
  }
  const edges = [...lines].map(([edge, columns]) => `${edge} : ${columns.join(", ")}`);
  return fence("mermaid", ["stateDiagram-v2", "  direction LR", ...edges].join("\n"));
}
