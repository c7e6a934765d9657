/**
 * JSON with what JSON.parse does not say: how deep it is nested, whether a field stands twice, and
 * whether it is JSON inside a JSON string. Everything a wallet writes is an object.
 */
import { Buffer } from "node:buffer";
import { WalletFault } from "./wallet-fault.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Several times what the longest real token needs. */
const charactersMax = 64 * 1024;
const depthMax = 8;

export function parseFields(text: string): Fields | WalletFault {
  if (text.length > charactersMax) return new WalletFault("too_large");
  const value = parse(text);
  if (value === undefined) return new WalletFault("not_json");
  if (typeof value === "string" && isFields(parse(value))) return new WalletFault("encoded_twice");
  const { depth, names } = measure(text);
  const isSound = isFields(value) && depth <= depthMax && countNames(value) === names;
  return isSound ? value : new WalletFault("wrong_fields");
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasExactly(fields: Fields, names: readonly string[]): boolean {
  const own = Object.keys(fields);
  return own.length === names.length && names.every((name) => own.includes(name));
}

/** The bytes, if the text is base64 in its one canonical form and not empty. */
export function decodeBase64(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? bytes : undefined;
}

/** What a text that is known to be JSON looks like from outside. */
function measure(text: string): { readonly depth: number; readonly names: number } {
  const marks = /"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/gs;
  let [depth, deepest, names] = [0, 0, 0];
  for (const [mark, colon] of text.matchAll(marks)) {
    if (mark === "{" || mark === "[") depth += 1;
    else if (mark === "}" || mark === "]") depth -= 1;
    else if (colon !== undefined) names += 1;
    deepest = Math.max(deepest, depth);
  }
  return { depth: deepest, names };
}

function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.values(value);
  const inside = parts.reduce<number>((sum, part) => sum + countNames(part), 0);
  return Array.isArray(value) ? inside : parts.length + inside;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
