/**
 * Every link from one document of the repository to another points to a file and to its heading,
 * and the index of decisions lists every record.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readRepository } from "./repository.ts";

const files = readRepository();
const texts = new Map(files.map(({ path, text }) => [path, text]));
const folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
const link = /\]\(([^)\s:]+)\)/g;

test("every link in a document has a target", () => {
  // The links of a template are relative to the page that is generated from it.
  const documents = files.filter(
    ({ path }) => path.endsWith(".md") && !path.startsWith("tools/documents/templates/"),
  );

  assert.ok(documents.length > 50, "the documents are found");
  assert.deepEqual(
    documents.flatMap(({ path, text }) => findDeadLinks(path, text)),
    [],
  );
});

test("every picture in the repository is shown by a document", () => {
  const shown = files.map(({ text }) => text).join("\n");
  const pictures = readdirSync(join(import.meta.dirname, "../docs/pictures"));

  assert.ok(pictures.length > 0);
  assert.deepEqual(
    pictures.filter((name) => !shown.includes(`docs/pictures/${name})`)),
    [],
  );
});

test("the index of decisions lists every record once", () => {
  const folder = "docs/decisions/";
  const index = texts.get(`${folder}README.md`) ?? "";
  const listed = [...index.matchAll(link)].map(([, target = ""]) => target);

  const records = files
    .filter(({ path }) => path.startsWith(folder) && !path.endsWith("/README.md"))
    .map(({ path }) => path.slice(folder.length));

  assert.ok(records.length > 50, "the records are found");
  assert.deepEqual(listed.filter((target) => /^\d/.test(target)).sort(), records.sort());
});

test("a link without a file or without a heading is found", () => {
  assert.equal(findDeadLinks("README.md", "[a](docs/nowhere.md)").length, 1);
  assert.equal(findDeadLinks("README.md", "[a](docs/operating.md#nowhere)").length, 1);
  assert.equal(findDeadLinks("README.md", "![a](docs/pictures/nothing.png)").length, 1);
  assert.deepEqual(findDeadLinks("README.md", "[a](docs/operating.md), [b](docs)"), []);
});

function findDeadLinks(path: string, text: string): readonly string[] {
  const targets = [...withoutFences(text).matchAll(link)].map(([, target = ""]) => target);
  return targets
    .filter((target) => {
      const [file = "", heading] = target.split("#");
      const place = file === "" ? path : join(path, "..", file).replace(/\/$/, "");
      const found = place === path ? text : texts.get(place);
      if (place.endsWith(".png")) return !existsSync(join(import.meta.dirname, "..", place));
      if (found === undefined) return !folders.has(place);
      return heading !== undefined && place.endsWith(".md") && !headingsOf(found).has(heading);
    })
    .map((target) => `${path}: ${target}`);
}

function withoutFences(text: string): string {
  return text.replace(/^```.*?^```/gms, "");
}

/** Returns the anchors of the headings, as GitHub names them. */
function headingsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutFences(text).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(headings);
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
