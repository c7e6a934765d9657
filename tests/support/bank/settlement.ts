/** The settlement file of the sandbox bank as acquirer, and the command that compares it. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runGw } from "../programs.ts";
import type { World } from "../world.ts";

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

/** Fetches all that the bank has booked for a gate, even if midnight has passed since the start. */
export async function fetchSettlement(world: World, gate: string): Promise<readonly string[]> {
  const booked = world.bank.ledger().map(({ at }) => at.slice(0, 10));
  const days = new Set([dayOf(world), ...booked]);
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
  // Near midnight the default window would leave lines to the file of the neighbouring day.
  const window = more.includes("--window") ? [] : ["--window", "0m"];
  const words = ["--gate", gate, "--day", dayOf(world), file, ...window, ...more, "--json"];
  const { code, printed, complaint } = await runGw(world, "reconcile", ...words);
  const report: Report | undefined = printed === "" ? undefined : JSON.parse(printed);
  return { code, complaint, report };
}

type Approved = { readonly day: string; readonly part: string; readonly gate: string };

/**
 * Compares, for each gate, the day with the most approvals. The world's clock runs ahead of the
 * bank's, so the file of a day has all lines of the orders with an approval on it. Only lines of
 * those orders on other days may differ.
 */
export async function assertReconciled(world: World): Promise<void> {
  const approvals = await world.installation.database.query<Approved>(selectApprovals);
  for (const [gate, own] of Map.groupBy(approvals, (each) => each.gate)) {
    const days = [...Map.groupBy(own, ({ day }) => day)];
    const [day = "", busiest = []] = days.sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
    const parts = new Set(busiest.map(({ part }) => part));
    const [header = "", ...lines] = await fetchSettlement(world, gate);
    const file = [header, ...lines.filter((line) => parts.has(line.slice(0, 10)))];
    const path = await writeLines(world, `${gate}-day.csv`, file);
    const words = ["--gate", gate, "--day", day, path, "--json"];
    const { printed, complaint } = await runGw(world, "reconcile", ...words);
    assert.notEqual(printed, "", complaint);
    const { matched, differences }: Report = JSON.parse(printed);
    assert.ok(matched > 0, `nothing was compared for ${gate}`);
    const unexplained = differences.filter(({ kind }) => kind !== "other day");
    assert.deepEqual(unexplained, [], `${gate} on ${day}`);
  }
}

const selectApprovals = `
with transactions as (
  select progress -> 'transaction' as each from orders
  union all select json_array_elements(progress -> 'earlier') from orders
)
select gates.name as gate, left(each #>> '{identifiers,reference}', 10) as part,
  to_char(to_timestamp((each #>> '{answer,processedAt}')::float8 / 1000) at time zone 'UTC',
    'YYYY-MM-DD') as day
from transactions join gates on gates.id::text = each #>> '{identifiers,gate,id}'
where each ->> 'stage' = 'approved' and each #>> '{answer,processedAt}' is not null
  and each ->> 'kind' <> 'account-verification'`;
