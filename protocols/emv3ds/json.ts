/**
 * JSON with two things that JSON.parse cannot do: an element given twice is a fault, and nesting
 * has a limit. Elements named `__proto__` are left out: no copy of a message may gain a prototype.
 */
import { MessageFault } from "./message-fault.ts";

export function parseJson(text: string, depthMax = 32): unknown {
  const cursor: Cursor = { text, at: 0, depthMax };
  try {
    const value = readValue(cursor, "", 1);
    skipSpace(cursor);
    if (cursor.at < text.length) throw unreadable();
    return value;
  } catch (error) {
    // Thrown inside this file only: a return value would have to be looked at on every level.
    if (error instanceof MessageFault) return error;
    throw error;
  }
}

type Cursor = { readonly text: string; at: number; readonly depthMax: number };

function readValue(cursor: Cursor, path: string, depth: number): unknown {
  if (depth > cursor.depthMax) throw new MessageFault("101", [], "JSON is nested too deeply");
  skipSpace(cursor);
  const first = cursor.text[cursor.at];
  if (first === "{") return readObject(cursor, path, depth);
  if (first === "[") return readArray(cursor, path, depth);
  if (first === '"') return readString(cursor);
  return readWord(cursor);
}

function readObject(cursor: Cursor, path: string, depth: number): unknown {
  const fields: Record<string, unknown> = {};
  const names = new Set<string>();
  if (takeAfter(cursor, "{", "}")) return fields;
  do {
    skipSpace(cursor);
    if (cursor.text[cursor.at] !== '"') throw unreadable();
    const name = readString(cursor);
    const element = path === "" ? nameable(name) : `${path}.${nameable(name)}`;
    if (names.has(name)) throw new MessageFault("204", [element]);
    names.add(name);
    skipSpace(cursor);
    if (cursor.text[cursor.at++] !== ":") throw unreadable();
    const value = readValue(cursor, element, depth + 1);
    if (name !== "__proto__") fields[name] = value;
  } while (takeSeparator(cursor, "}"));
  return fields;
}

function readArray(cursor: Cursor, path: string, depth: number): unknown {
  const items: unknown[] = [];
  if (takeAfter(cursor, "[", "]")) return items;
  do items.push(readValue(cursor, path, depth + 1));
  while (takeSeparator(cursor, "]"));
  return items;
}

/** Steps over the opening sign, and over the closing one if it follows at once. */
function takeAfter(cursor: Cursor, opening: string, closing: string): boolean {
  cursor.at += opening.length;
  skipSpace(cursor);
  if (cursor.text[cursor.at] !== closing) return false;
  cursor.at += 1;
  return true;
}

/** True after a comma, false after the closing sign. */
function takeSeparator(cursor: Cursor, closing: string): boolean {
  skipSpace(cursor);
  const sign = cursor.text[cursor.at++];
  if (sign !== "," && sign !== closing) throw unreadable();
  return sign === ",";
}

function readString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  let end = start + 1;
  let isEscaped = false;
  for (let code = text.charCodeAt(end); code !== 0x22; code = text.charCodeAt(end)) {
    if (Number.isNaN(code) || code < 0x20) throw unreadable();
    if (code === 0x5c) isEscaped = true;
    end += code === 0x5c ? 2 : 1;
  }
  cursor.at = end + 1;
  return isEscaped ? resolveEscapes(text.slice(start, end + 1)) : text.slice(start + 1, end);
}

function resolveEscapes(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw unreadable();
  }
}

const word = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function readWord(cursor: Cursor): unknown {
  word.lastIndex = cursor.at;
  const [found] = word.exec(cursor.text) ?? [];
  if (found === undefined) throw unreadable();
  cursor.at += found.length;
  return JSON.parse(found);
}

function skipSpace(cursor: Cursor): void {
  while (" \n\r\t".includes(cursor.text[cursor.at] ?? "end")) cursor.at += 1;
}

/** A name made up by the sender may hold anything, a card number too. */
function nameable(name: string): string {
  return /^[A-Za-z]\w{0,63}$/.test(name) && !/\d{7}/.test(name) ? name : "unnamed";
}

function unreadable(): MessageFault {
  return new MessageFault("101", [], "not JSON");
}
