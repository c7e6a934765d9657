/** Every file that the recipes of CONTRIBUTING name exists, and has the symbols that they name. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./repository.ts";

test("every file and symbol that a recipe names exists", () => {
  const recipes = recipesIn(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"));

  assert.ok(recipes.length > 10, "the recipes are found");
  assert.deepEqual(recipes.flatMap(findMissing), []);
});

test("a missing file, and a symbol that its file does not declare, are found", () => {
  const step = "A line in `rules` of `gateway/screening/rules/index.ts`.";
  assert.deepEqual(findMissing(step), []);
  assert.equal(findMissing(step.replace("`rules`", "`ruler`")).length, 1);
  assert.equal(findMissing(step.replace("index.ts", "none.ts")).length, 2);
  assert.equal(findMissing("A line in `rules`.").length, 1);
  assert.deepEqual(findMissing("Then `npm run docs`, for `gw apply`."), []);
});

/** Returns the steps of the recipes, and the paragraphs outside of steps. */
function recipesIn(text: string): readonly string[] {
  const sections = text.split(/^## /m).filter((section) => section.startsWith("Add a"));
  return sections.flatMap((section) => section.split("\n").slice(1)).filter((line) => line !== "");
}

function findMissing(step: string): readonly string[] {
  const named = [...step.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  const paths = named.filter((name) => /^[\w.-]+\/[\w./-]+$/.test(name));
  const isThere = (path: string) => existsSync(join(root, path));
  const sources = paths.filter(isThere).flatMap(sourcesAt);
  const symbols = named.filter((name) => /^[A-Za-z]\w+$/.test(name) && !foreign.has(name));
  return [
    ...paths.filter((path) => !isThere(path)),
    ...symbols.filter((symbol) => !sources.some((source) => declares(source, symbol))),
  ].map((name) => `${name}: ${step}`);
}

/** Names in the recipes that are not symbols: a command and a column. */
const foreign = new Set(["gw", "merchant_id"]);

/** Returns the sources at a path. A folder stands for its files. */
function sourcesAt(path: string): readonly string[] {
  const isFolder = statSync(join(root, path)).isDirectory();
  const files = isFolder ? globSync(`${path}*.ts`, { cwd: root }) : [path];
  return files.map((file) => readFileSync(join(root, file), "utf8"));
}

function declares(source: string, symbol: string): boolean {
  const declared = `(?:const|function|type|class) ${symbol}\\b`;
  const property = `^ +(?:readonly |async )?${symbol}\\??[:(]`;
  return new RegExp(`${declared}|${property}`, "m").test(source);
}
