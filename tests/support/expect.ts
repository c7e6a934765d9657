/** Expectations about refusals, the bank's books, and everything that is stored. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Refused } from "@tollgate/client";
import type { World } from "./world.ts";

/** Asserts that the request is refused with this code of the catalogue and this sentence. */
export async function assertRefused(
  asked: Promise<unknown>,
  code: number,
  sentence = /^/,
): Promise<void> {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof Refused, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, sentence);
    return true;
  });
}

/** Returns what the bank has booked for an order, in the order of booking: kind and minor units. */
export function bookedFor(
  { bank }: World,
  status: { readonly "processor-rrn"?: string | undefined },
): readonly string[] {
  return bank.ledger(status["processor-rrn"]).map(({ kind, amount }) => `${kind} ${amount}`);
}

/** Counts the messages of one type that the bank has received. */
export function received({ bank }: World, mti: string): number {
  const all = bank.messages();
  return all.filter((each) => each.mti === mti && each.direction === "received").length;
}

/** Reads every table as text, and every file of the data folder as it is on the disk. */
export async function readEverything(world: World): Promise<{ text: string; tables: string }> {
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
