/** Walks a table: elements to a tree of values, and back. Paths are made of the table's names. */
import assert from "node:assert/strict";
import type { XmlElement } from "./parse-xml.ts";
import type { Row, Rows } from "./tables.ts";
import { ThreeDsFault } from "./threeds-fault.ts";
import { escapeText, isBlank } from "./xml-text.ts";

export type Value = string | Tree | readonly Value[];
export type Tree = { readonly [field: string]: Value };

/** Any order is taken: a name says what an element is, and nothing here depends on its place. */
export function readRows(
  rows: Rows,
  elements: readonly XmlElement[],
  path: string,
): Tree | ThreeDsFault {
  const names = new Set(rows.map(([element]) => element));
  if (elements.some(({ name }) => !names.has(name))) {
    return new ThreeDsFault("unknown_element", path);
  }

  const tree: Record<string, Value> = {};
  for (const row of rows) {
    const value = readRow(row, elements, path);
    if (value instanceof ThreeDsFault) return value;
    if (value !== undefined) tree[row[1]] = value;
  }
  return tree;
}

function readRow(
  [name, , times, content]: Row,
  elements: readonly XmlElement[],
  path: string,
): Value | undefined | ThreeDsFault {
  const place = `${path}/${name}`;
  const values: Value[] = [];
  for (const element of elements) {
    if (element.name !== name) continue;
    const value = readContent(content, element, place);
    if (value instanceof ThreeDsFault) return value;
    values.push(value);
  }
  if (times === "many") return values;
  if (values.length > 1) return new ThreeDsFault("repeated_element", place);
  const [value] = values;
  if (value === undefined && times === "one") return new ThreeDsFault("missing_element", place);
  return value;
}

function readContent(
  content: Row[3],
  { attributes, children, text }: XmlElement,
  place: string,
): Value | ThreeDsFault {
  if (attributes.size > 0) return new ThreeDsFault("malformed_element", place);
  if (content instanceof RegExp) {
    const fits = children.length === 0 && content.test(text);
    return fits ? text : new ThreeDsFault("malformed_element", place);
  }
  if (children.length === 0 && !isBlank(text)) {
    return new ThreeDsFault("malformed_element", place);
  }
  return readRows(content, children, place);
}

/** A value that breaks the table is a programming error; its text is never part of the error. */
export function writeRows(rows: Rows, tree: Tree, path: string): string {
  return rows
    .map(([name, field, times, content]) => {
      const place = `${path}/${name}`;
      const value = tree[field];
      if (times === "many") {
        if (!Array.isArray(value)) assert.fail(`${place} is not a list`);
        return value.map((item: Value) => writeContent(name, content, item, place)).join("");
      }
      if (value === undefined && times === "one") assert.fail(`${place} is missing`);
      return value === undefined ? "" : writeContent(name, content, value, place);
    })
    .join("");
}

function writeContent(name: string, content: Row[3], value: Value, place: string): string {
  if (content instanceof RegExp) {
    if (typeof value !== "string" || !content.test(value)) assert.fail(`${place} does not fit`);
    return `<${name}>${escapeText(value)}</${name}>`;
  }
  if (typeof value === "string" || isList(value)) assert.fail(`${place} has no elements`);
  return `<${name}>${writeRows(content, value, place)}</${name}>`;
}

function isList(value: Tree | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}
