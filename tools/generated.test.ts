/** The generated files in the repository are up to date with the tables. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { operationFacts, syncOperationFacts } from "../client/operations.generated.ts";
import { operations } from "../gateway/merchant-api/operations/index.ts";
import { camel } from "./documents/text.ts";
import { root } from "./repository.ts";
import { readText, renderAll, renderParts } from "./write-docs.ts";

const rendered = await renderAll();

test("every generated file is up to date", async () => {
  const stale = [...rendered, ...(await renderParts())].filter(
    ([path, content]) => readText(join(root, path)) !== content,
  );

  const paths = stale.map(([path]) => path);
  assert.deepEqual(paths, [], `run npm run docs: ${paths.join(", ")}`);
});

test("no page of a removed operation is left", () => {
  const pages = globSync("docs/merchant-api/*.md", { cwd: root });

  const strays = pages.filter((path) => !rendered.has(path));
  assert.deepEqual(strays, [], `run npm run docs: ${strays.join(", ")}`);
});

test("every operation has a page, and every parameter a row in it", () => {
  for (const { name, request } of operations) {
    const page = rendered.get(`docs/merchant-api/${name}.md`) ?? "";
    for (const field of Object.keys(request)) {
      assert.ok(page.includes(`\n| \`${field}\` |`), `${name}: ${field}`);
    }
  }
});

test("every generated file says that it is generated", () => {
  for (const [path, content] of rendered) assert.match(content.slice(0, 100), /Generated/, path);
});

test("rendering twice gives the same result", async () => {
  assert.deepEqual(await renderAll(), rendered);
});

test("the client has a call for every operation, and for every synchronous one", () => {
  const names = (chosen: typeof operations) => chosen.map(({ name }) => camel(name)).toSorted();

  assert.deepEqual(Object.keys(operationFacts).toSorted(), names(operations));
  const waiting = operations.filter(({ sync }) => sync);
  assert.deepEqual(Object.keys(syncOperationFacts).toSorted(), names(waiting));
});
