/** Every generated file of the repository, by its path: the same each time for the same tables. */
import { renderClient } from "../write-client.ts";
import { renderErrorsPage } from "./errors-page.ts";
import { type Example, makeExamples } from "./examples.ts";
import { renderIndex } from "./index-page.ts";
import { renderOperation } from "./operation-page.ts";
import { renderOrdersPage } from "./orders-page.ts";
import { renderSettingsPage } from "./settings-page.ts";
import { renderStatusPage } from "./status-page.ts";

export async function renderAll(): Promise<ReadonlyMap<string, string>> {
  const examples = await makeExamples();
  return new Map([
    ["client/operations.generated.ts", renderClient(examples)],
    ["docs/merchant-api/README.md", renderIndex(examples)],
    ...examples.map((example) => [pageOf(example), renderOperation(example)] as const),
    ["docs/merchant-api/status-response.md", renderStatusPage(findStatus(examples))],
    ["docs/merchant-api/errors.md", renderErrorsPage()],
    ["docs/orders.md", renderOrdersPage()],
    ["docs/settings.md", renderSettingsPage()],
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
