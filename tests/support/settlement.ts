/** The acquirer's settlement file of the sandbox bank, and the command that compares it. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runGw } from "./programs.ts";
import type { World } from "./world.ts";

export type Report = {
  readonly agrees: boolean;
  readonly matched: number;
  readonly awaited: number;
  readonly offset: number;
  readonly differences: readonly {
    readonly kind: string;
    readonly reference: string;
    readonly what: string;
    readonly here?: string;
    readonly there?: string;
    readonly order?: string;
  }[];
};

export function dayOf({ clock }: World): string {
  return new Date(clock.now()).toISOString().slice(0, 10);
}

/** What the bank has booked for a gate; today, and tomorrow when midnight has just passed. */
export async function fetchSettlement(world: World, gate: string): Promise<readonly string[]> {
  const days = new Set([dayOf(world), new Date().toISOString().slice(0, 10)]);
  const files = await Promise.all(
    [...days].map(async (day) => {
      const answer = await fetch(`${world.bank.url}/settlement?gate=${gate}&day=${day}`);
      assert.equal(answer.status, 200);
      return (await answer.text()).trimEnd().split("\n");
    }),
  );
  const [header = ""] = files[0] ?? [];
  return [header, ...files.flatMap((lines) => lines.slice(1))];
}

export async function writeLines(world: World, name: string, lines: readonly string[]) {
  const file = join(world.dataDir, name);
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

export async function reconcile(
  world: World,
  gate: string,
  lines: readonly string[],
  ...more: readonly string[]
) {
  const file = await writeLines(world, `${gate}.csv`, lines);
  const words = ["--gate", gate, "--day", dayOf(world), file, ...more, "--json"];
  const { code, printed, complaint } = await runGw(world, "reconcile", ...words);
  const report: Report | undefined = printed === "" ? undefined : JSON.parse(printed);
  return { code, complaint, report };
}
