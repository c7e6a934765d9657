/** `npm run docs`: writes every generated file and removes the pages of what is no more. */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { renderAll } from "./documents/render-all.ts";

const root = resolve(import.meta.dirname, "..");
const files = await renderAll();

for (const [path, content] of files) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  if (readText(file) !== content) {
    writeFileSync(file, content);
    process.stdout.write(`${path}\n`);
  }
}
for (const path of globSync("docs/merchant-api/*.md", { cwd: root })) {
  if (files.has(path)) continue;
  rmSync(join(root, path));
  process.stdout.write(`${path} is no more\n`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
