/**
 * `npm run docs`: writes every generated file and removes the pages of operations that no longer
 * exist.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renderClient } from "./documents/client-source.ts";
import { type Example, makeExamples } from "./documents/examples.ts";
import { renderIndex } from "./documents/index-page.ts";
import { renderOpenApi } from "./documents/openapi.ts";
import { renderOperation } from "./documents/operation-page.ts";
import { renderOrdersPage } from "./documents/orders-page.ts";
import {
  insertCommands,
  insertEvents,
  insertRecipes,
  insertRules,
  insertScripts,
  renderErrorsPage,
  renderSettingsPage,
  renderTestCardsPage,
} from "./documents/reference-pages.ts";
import { renderReportPage } from "./documents/report-page.ts";
import { renderSchemaPage } from "./documents/schema-page.ts";
import { renderStatusPage } from "./documents/status-page.ts";
import { root } from "./repository.ts";

if (import.meta.main) await write();

/**
 * Returns every generated file of the repository by its path. The result depends on the tables
 * only.
 */
export async function renderAll(): Promise<ReadonlyMap<string, string>> {
  const examples = await makeExamples();
  return new Map([
    ["client/operations.generated.ts", renderClient(examples)],
    ["docs/merchant-api/README.md", renderIndex(examples)],
    ...examples.map((example) => [pageOf(example), renderOperation(example)] as const),
    ["docs/merchant-api/status-response.md", renderStatusPage(findStatus(examples))],
    ["docs/merchant-api/errors.md", renderErrorsPage()],
    ["docs/merchant-api/transaction-report.md", renderReportPage()],
    ["docs/orders.md", renderOrdersPage()],
    ["docs/schema.md", renderSchemaPage()],
    ["docs/settings.md", renderSettingsPage()],
    ["docs/test-cards.md", renderTestCardsPage()],
    ["docs/openapi.json", renderOpenApi(examples)],
  ]);
}

/** Returns the documents that are written by hand and have a generated part. */
export async function renderParts(): Promise<ReadonlyMap<string, string>> {
  const read = (path: string) => readText(join(root, path)) ?? "";
  return new Map([
    ["docs/command-line.md", await insertCommands(read("docs/command-line.md"))],
    ["docs/monitoring.md", insertEvents(read("docs/monitoring.md"))],
    ["docs/payment-page.md", insertScripts(read("docs/payment-page.md"))],
    ["docs/screening.md", insertRules(read("docs/screening.md"))],
    ...["quick-start", "3d-secure", "wallets", "recurrent"].map((name) => {
      const path = `docs/${name}.md`;
      return [path, insertRecipes(read(path))] as const;
    }),
  ]);
}

function pageOf({ operation }: Example): string {
  return `docs/merchant-api/${operation.name}.md`;
}

function findStatus(examples: readonly Example[]): Example {
  const found = examples.find(({ reply }) => reply.type === "status-response");
  if (found === undefined) throw new Error("No operation answers with a status response.");
  return found;
}

async function write(): Promise<void> {
  const files = await renderAll();
  for (const [path, content] of [...files, ...(await renderParts())]) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    if (readText(file) === content) continue;
    writeFileSync(file, content);
    process.stdout.write(`${path}\n`);
  }
  for (const path of globSync("docs/merchant-api/*.md", { cwd: root })) {
    if (files.has(path)) continue;
    rmSync(join(root, path));
    process.stdout.write(`${path} removed\n`);
  }
}

export function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
