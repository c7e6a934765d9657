/** All that a gateway and its neighbours keep, for tests that look for what must not be in it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "./world.ts";

/** Every table as text, and every file of the data folder as it lies on the disk. */
export async function findAll(world: World): Promise<{ text: string; tables: string }> {
  const tables = await world.installation.database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'vault')`,
  );
  let dump = "";
  for (const { name } of tables) {
    const rows = await world.installation.database.query<{ row: string }>(
      `select each::text as row from ${name} as each`,
    );
    dump += rows.map(({ row }) => row).join("\n");
  }
  const entries = await readdir(world.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1").catch(() => "")),
  );
  return { text: `${dump}\n${contents.join("\n")}`, tables: dump };
}
