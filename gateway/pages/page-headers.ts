/**
 * What every page tells the browser: run nothing, load nothing, send nothing elsewhere. A page that
 * must do more says so directive by directive.
 */
import { plainLook } from "./design.ts";

// biome-ignore format: a table
const strict: Readonly<Record<string, string>> = {
  "default-src":     "'none'",
  "style-src":       plainLook.styleSource,
  "img-src":         "data:",
  "form-action":     "'self'",
  "frame-ancestors": "'none'",
  "base-uri":        "'none'",
};

export type PageDependencies = {
  /** Directives of the Content-Security-Policy that differ from the strict ones; "" for none. */
  readonly policy?: Readonly<Record<string, string>>;
  /** Forms that check where they were sent from need `same-origin`: else `Origin` is `null`. */
  readonly referrer?: "no-referrer" | "same-origin";
};

export function pageHeaders({ policy = {}, referrer = "no-referrer" }: PageDependencies = {}) {
  const directives = Object.entries({ ...strict, ...policy }).filter(([, value]) => value !== "");
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": directives.map((directive) => directive.join(" ")).join("; "),
    "referrer-policy": referrer,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}
