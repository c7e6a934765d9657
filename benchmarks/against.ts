/**
 * `npm run bench -- --against <commit>`: runs the gateway of the working tree and that of an
 * earlier commit side by side, and measures them in turn. The benchmark of this tree measures both,
 * with the same generators and the same bare route, so the earlier commit need not contain it.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launchIn } from "./gateway.ts";
import type { Turns } from "./measure.ts";
import type { Plan } from "./plan.ts";
import * as report from "./report.ts";
import { type Course, measureRound, measureSales, warmUp } from "./rounds.ts";
import type { Setup } from "./setup.ts";
import { startGateway, startParts } from "./start.ts";
import { installPackages, layOutTrees, type Tree } from "./trees.ts";

export type Comparison = {
  readonly earlier: string;
  readonly now: string;
  readonly isDirty: boolean;
  readonly rounds: readonly { readonly earlier: Turns; readonly now: Turns }[];
  readonly text: string;
  /** The processes of the working tree, whose books are compared. */
  readonly setup: Setup;
};

type Side = { readonly name: string; readonly setup: Setup; readonly count: number };

const repository = join(import.meta.dirname, "..");

export async function compareWith(
  commit: string,
  {
    plan,
    folder,
    stack,
    say,
  }: {
    readonly plan: Plan;
    readonly folder: string;
    readonly stack: AsyncDisposableStack;
    readonly say: (text: string) => void;
  },
): Promise<Comparison> {
  const trees = layOutTrees(repository, commit, join(folder, "trees"));
  const isFull = plan.kind !== "compared";
  const parts = await startParts(stack);
  const start = async (title: string, tree: Tree): Promise<Side> => {
    const name = `${title} ${tree.name}`;
    const how = tree.sharesPackages ? "linking its packages" : "installing its packages";
    say(`${name}: ${how}, starting its gateway …`);
    installPackages(repository, tree);
    const place = join(folder, title);
    mkdirSync(place);
    const launch = launchIn(tree.folder);
    const setup = await startGateway({ folder: place, launch, plan }, parts, stack);
    return { name, setup, count: await warmUp(setup, (text) => say(`${name}: ${text}`)) };
  };
  const earlier = await start("earlier", trees.earlier);
  const now = await start("now", trees.now);
  // Both gateways sell the same number in a slice.
  const count = Math.min(earlier.count, now.count);

  if (isFull) {
    const rounds = await takeTurns(measureRound);
    return conclude(rounds, [
      report.printComparison(report.saleFigures, rounds),
      report.printComparison(report.otherFigures, rounds),
    ]);
  }
  const rounds = await takeTurns(measureSales);
  return conclude(rounds, [report.printComparison(report.saleFigures, rounds)]);

  /** The gateway that is measured first in one round is measured second in the next. */
  async function takeTurns<Measured>(
    measure: (setup: Setup, course: Course) => Promise<Measured>,
  ): Promise<readonly { readonly earlier: Measured; readonly now: Measured }[]> {
    const rounds: { readonly earlier: Measured; readonly now: Measured }[] = [];
    const one = ({ name, setup }: Side, round: number) =>
      measure(setup, {
        round,
        count,
        say: (text) => say(`Round ${round} of ${plan.rounds}, ${name}: ${text}`),
      });
    for (let round = 1; round <= plan.rounds; round += 1) {
      if (round % 2 === 1) {
        rounds.push({ earlier: await one(earlier, round), now: await one(now, round) });
      } else {
        rounds.push({ now: await one(now, round), earlier: await one(earlier, round) });
      }
    }
    return rounds;
  }

  function conclude(rounds: Comparison["rounds"], tables: readonly string[]): Comparison {
    const names = { earlier: trees.earlier.name, now: trees.now.name, isDirty: trees.isDirty };
    const changed = trees.isDirty ? " with uncommitted changes" : "";
    const title = `  ${names.now}${changed}, compared with ${names.earlier}; ratio = now ÷ earlier`;
    const quietness = report.printQuietness(rounds.flatMap((r) => [r.earlier, r.now]));
    const text = [title, "", ...tables, "", quietness].join("\n");
    return { ...names, rounds, text, setup: now.setup };
  }
}
