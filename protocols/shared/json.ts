/**
 * Strict JSON and base64, without the texts that JSON.parse and Buffer.from accept but no honest
 * sender writes.
 */
import { Buffer } from "node:buffer";

export type JsonObject = Readonly<Record<string, unknown>>;

type JsonFault =
  | { readonly reason: "too_deep" }
  /** `path` contains the names of the members around the duplicate, and its own name. */
  | { readonly reason: "duplicate_member"; readonly path: readonly string[] };

/** Returns undefined if the text is not JSON. No JSON text has this value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A string, with a colon if it is a member's name, or a bracket. */
const structure = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]/g;

/** Finds a fault of a text that `parseJson` can read. `depthMax` counts objects and arrays. */
export function findJsonFault(text: string, depthMax: number): JsonFault | undefined {
  const open: Set<string>[] = [];
  for (const [mark, colon] of text.matchAll(structure)) {
    if (mark === "{" || mark === "[") {
      open.push(new Set());
      if (open.length > depthMax) return { reason: "too_deep" };
    } else if (mark === "}" || mark === "]") {
      open.pop();
    } else if (colon !== undefined) {
      const name: string = JSON.parse(mark.slice(0, -colon.length));
      const names = open.at(-1);
      if (names?.has(name)) {
        const around = open.slice(0, -1).flatMap((members) => [...members].slice(-1));
        return { reason: "duplicate_member", path: [...around, name] };
      }
      names?.add(name);
    }
  }
  return undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasExactly(object: JsonObject, names: readonly string[]): boolean {
  const own = Object.keys(object);
  return own.length === names.length && names.every((name) => own.includes(name));
}

/** Returns undefined unless the value is a non-empty text in canonical base64. */
export function decodeBase64(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value ? bytes : undefined;
}
