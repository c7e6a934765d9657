/** The page of the schema has every table and every column that a database has. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startDatabase } from "../gateway/storage/testing/database-for-tests.ts";
import { listColumns } from "../gateway/storage/testing/describe-tables.ts";
import { parseSchema } from "./documents/schema-page.ts";
import { root } from "./repository.ts";

const server = await startDatabase();
after(() => server.stop());

test("the page of the schema has every table and column", async () => {
  const files = ["main.sql", "cell.sql"].map((name) =>
    readFile(join(root, "gateway/storage/schema", name), "utf8"),
  );
  const tables = (await Promise.all(files)).flatMap(parseSchema);
  const shown = tables.flatMap(({ name, columns }) =>
    columns.map((column) => `${name.replace("vault.", "")}.${column.name}`),
  );

  const there = await listColumns(server.database);

  assert.deepEqual(shown.toSorted(), there.toSorted());
});
