/**
 * Keeps the card ranges up to date, those of 2.x and of 1.0.2 apart. Directory servers refuse to be
 * asked more than once an hour, so of all nodes one asks, and all share what it was told; after a
 * failure it is asked more and more seldom.
 */
import { hours, minutes, seconds } from "../../values/time.ts";
import {
  type AskDependencies,
  makeAskNewer,
  makeAskOlder,
  questionsMax,
  type Told,
} from "./ask-ranges.ts";
import type { Protocol } from "./card-ranges.ts";
import { messageOf } from "./certificates.ts";
import type { Directory } from "./directories.ts";
import type { RangeStore, RefreshLease } from "./range-store.ts";

type Dependencies = AskDependencies & {
  readonly store: RangeStore;
  readonly everyMs: number;
  /** Whether this node ends: what it then fails to learn says nothing of the directory server. */
  readonly isEnded: () => boolean;
};

/** After the first failure, the second … */
const gapsMs = [seconds(30), minutes(1), minutes(2), minutes(5), minutes(15)];
const gapMaxMs = hours(1);
/** For reading and storing what was told. */
const storingMs = minutes(1);

/** Whether anything was learnt. Never rejects: what goes wrong is told, and tried again. */
export type RefreshRanges = (directory: Directory) => Promise<boolean>;

export function makeRefreshRanges(dependencies: Dependencies): RefreshRanges {
  const { store, onRefused } = dependencies;
  const questions = { "2": makeAskNewer(dependencies), "1": makeAskOlder(dependencies) };
  // Longer than the questions take, so that no other node asks beside this one.
  const claimMs = questionsMax * dependencies.timeoutMs + storingMs;

  return async (directory) => {
    const { name, settings } = directory.server;
    const wanted: Protocol[] = [];
    if (settings.url !== undefined) wanted.push("2");
    if (settings.url102 !== undefined) wanted.push("1");
    const facts = await Promise.all(
      wanted.map((protocol) =>
        refresh(directory, protocol).catch((error) => {
          onRefused(name, `could not refresh its card ranges: ${messageOf(error)}`);
          return false;
        }),
      ),
    );
    return facts.includes(true);
  };

  async function refresh(directory: Directory, protocol: Protocol): Promise<boolean> {
    const claim = await store.claim(directory.server.name, protocol, claimMs);
    if (claim === undefined) return false;
    try {
      const told = await questions[protocol](directory, claim);
      if (typeof told !== "string") return await store.save(claim, told, dependencies.everyMs);
      await store.postpone(claim, gapAfter(claim, told));
      return false;
    } catch (error) {
      if (dependencies.isEnded()) await store.release(claim);
      else await store.postpone(claim, gapAfter(claim, "no_answer"));
      throw error;
    }
  }
}

function gapAfter({ failures }: RefreshLease, told: Extract<Told, string>): number {
  return told === "too_often" ? gapMaxMs : (gapsMs[failures] ?? gapMaxMs);
}
