/**
 * Reads the repository for the tidy rules: the workspaces, the documents and the files at the top,
 * without installed packages, build results and data.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { type Parts, splitSource } from "./source-text.ts";

export const root = resolve(import.meta.dirname, "..");

/** A text file. `parts` is empty unless the file is a source. */
export type TextFile = {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly parts: Parts;
};

const settings = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const workspaces: readonly string[] = settings.workspaces;
/** While a workspace is built, the result is in a folder such as `dist-1234`. */
const skipped = /^(?:node_modules|data|dist(?:-\d+)?|results|vectors|\.git)$/;
const textEndings = new Set([
  ...[".ts", ".tsx", ".mjs", ".js", ".sql", ".md", ".json", ".css", ".html", ".yml", ".yaml"],
  "",
]);

export function readRepository(): readonly TextFile[] {
  const patterns = [
    "*",
    ".*",
    ...[...workspaces, "docs", "deploy", ".ci", ".github"].map((at) => `${at}/**`),
  ];
  const found = globSync(patterns, {
    cwd: root,
    withFileTypes: true,
    exclude: (entry) => skipped.test(entry.name),
  });
  const isText = ({ name }: { readonly name: string }) =>
    !skipped.test(name) && textEndings.has(extname(name));
  const files = found.filter((entry) => entry.isFile() && isText(entry));
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return [...new Set(paths)].sort().map((path) => textFile(path, readText(path)));
}

export function textFile(path: string, text: string): TextFile {
  const parts = splitSource(isSource({ path }) ? text : "");
  return { path, text, lines: text.split("\n"), parts };
}

/** Whether the file is code that is written by hand. */
export function isSource({ path }: Pick<TextFile, "path">): boolean {
  return /\.(ts|tsx|mjs|js)$/.test(path) && !path.endsWith(".generated.ts");
}

export function isTest({ path }: Pick<TextFile, "path">): boolean {
  return path.startsWith("tests/") || /\.test\.ts$|\/testing[./]|\/samples\.ts$/.test(path);
}

export function nameOf({ path }: Pick<TextFile, "path">): string {
  return basename(path).replace(/\..*$/, "");
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
