/**
 * A document whose commands a test runs: its code blocks become one shell script in their order.
 * The word after `sh` says how: none, to run it; `background`, for a program that keeps running;
 * `root`, to run it where the test is root; any other, for what this machine may not have, which is
 * only read.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../../..");

export type Fence = {
  readonly language: string;
  readonly mark: string;
  readonly text: string;
};

export async function readFences(path: string): Promise<readonly Fence[]> {
  const document = await readFile(join(repository, path), "utf8");
  const found = document.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms);
  return [...found].map(([, language = "", mark = "", text = ""]) => ({ language, mark, text }));
}

/** The machines and folders of an operator, as the document names them, with those of the test. */
export type Places = Readonly<Record<string, string>>;

const marksThatRun = ["", "background", ...(process.getuid?.() === 0 ? ["root"] : [])];

/** Makes the script. Statements of SQL are sent to the server as its administrator. */
export function toScript(fences: readonly Fence[], places: Places): string {
  const parts = fences.map(({ language, mark, text }, at) => {
    const named = Object.entries(places).reduce(
      (changed, [name, place]) => changed.replaceAll(name, place),
      text,
    );
    const title = `echo "== fence ${at + 1}" >&2`;
    if (language === "sql") return `${title}\nnode sql.mjs <<'SQL'\n${named}SQL`;
    if (language !== "sh" || !marksThatRun.includes(mark)) return "";
    return mark !== "background"
      ? `${title}\n${named}`
      : `${title}\n( exec ${named.trim()} ) >&2 &`;
  });
  return ["set -euo pipefail", stopAtEnd, ...parts, "echo '== done' >&2", ""].join("\n");
}

/** Background programs end with the script, which waits for them. */
const stopAtEnd = "trap 'for job in $(jobs -p); do kill $job; wait $job || true; done' EXIT";

/**
 * Writes a program that runs one statement after the other, because a database is made outside of
 * any transaction.
 */
export async function writeSqlRunner(folder: string, url: string): Promise<void> {
  const pg = import.meta.resolve("pg");
  await writeFile(
    join(folder, "sql.mjs"),
    `import pg from ${JSON.stringify(pg)};
import { text } from "node:stream/consumers";
const client = new pg.Client({ connectionString: ${JSON.stringify(url)} });
await client.connect();
for (const statement of (await text(process.stdin)).split(/;\\n/)) {
  if (statement.trim() !== "") await client.query(statement);
}
await client.end();
`,
  );
}
