/** How the counts of all nodes change the state of a gate's health. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant, seconds } from "../values/time.ts";
import {
  type ChargeCounts,
  type Health,
  type HealthState,
  judgeHealth,
  type NodeView,
  nothingSeen,
  shareOf,
  usualTerms,
} from "./gate-health.ts";

const now = asInstant(1_900_000_000_000);
const good: ChargeCounts = { answered: 100, approved: 90, refused: 0, lost: 0, answerMs: 10_000 };
const usual: ChargeCounts = {
  answered: 1_000,
  approved: 900,
  refused: 0,
  lost: 0,
  answerMs: 100_000,
};

function judge(
  state: HealthState,
  views: readonly Partial<ChargeCounts>[],
  { windows = 2, known = usual }: { windows?: number; known?: ChargeCounts } = {},
): Health {
  const since = asInstant(now - windows * seconds(usualTerms.windowS));
  const seen = views.map((recent): NodeView => ({ recent: { ...good, ...recent }, usual: known }));
  return judgeHealth({ state, since, why: "before" }, seen, usualTerms, now);
}

type Row = readonly [
  told: string,
  state: HealthState,
  views: readonly Partial<ChargeCounts>[],
  next: HealthState,
  why: string,
];
const nothing = { answered: 0, approved: 0, answerMs: 0 };
// biome-ignore format: a table
const rows: readonly Row[] = [
  ["a good gate stays healthy",                 "healthy",   [{}],                            "healthy",   "before"],
  ["every fifth answer is lost",                "healthy",   [{ lost: 25 }],                  "unhealthy", "25 of 125 charges unanswered or refused by the host"],
  ["every tenth answer is lost",                "healthy",   [{ lost: 12 }],                  "weakened",  "12 of 112 charges unanswered or refused by the host"],
  ["the host refuses by itself",                "healthy",   [{ refused: 60, approved: 36 }], "unhealthy", "60 of 100 charges unanswered or refused by the host"],
  ["half as many are approved as usual",        "healthy",   [{ approved: 45 }],              "unhealthy", "45 % approved, usually 90 %"],
  ["a quarter fewer are approved",              "healthy",   [{ approved: 67 }],              "weakened",  "67 % approved, usually 90 %"],
  ["a few fewer are approved",                  "healthy",   [{ approved: 80 }],              "healthy",   "before"],
  ["answers take five times as long",           "healthy",   [{ answerMs: 60_000 }],          "unhealthy", "answers take 600 ms, usually 100 ms"],
  ["answers are a little slower",               "healthy",   [{ answerMs: 21_000 }],          "healthy",   "before"],
  ["nineteen lost charges are too few",         "healthy",   [{ ...nothing, lost: 19 }],      "healthy",   "before"],
  ["twenty lost charges are enough",            "healthy",   [{ ...nothing, lost: 20 }],      "unhealthy", "20 of 20 charges unanswered or refused by the host"],
  ["one node of two loses all",                 "healthy",   [{ ...nothing, lost: 100 }, {}], "healthy",   "before"],
  ["both nodes lose all",                       "healthy",   [{ ...nothing, lost: 50 }, { ...nothing, lost: 50 }], "unhealthy", "100 of 100 charges unanswered or refused by the host"],
  ["the other node has seen too little",        "healthy",   [{ ...nothing, lost: 100 }, { ...nothing, answered: 5, approved: 5 }], "unhealthy", "100 of 105 charges unanswered or refused by the host"],
  ["probes that are good improve the state",    "unhealthy", [{ ...nothing, answered: 5, approved: 5 }], "weakened", "0 of 5 charges unanswered or refused by the host"],
  ["four probes are too few",                   "unhealthy", [{ ...nothing, answered: 4, approved: 4 }], "unhealthy", "before"],
  ["probes that are lost change nothing",       "unhealthy", [{ ...nothing, lost: 5 }],       "unhealthy", "before"],
  ["a weakened gate that is good is healthy",   "weakened",  [{}],                            "healthy",   "0 of 100 charges unanswered or refused by the host"],
  ["a weakened gate becomes worse",             "weakened",  [{ lost: 50 }],                  "unhealthy", "50 of 150 charges unanswered or refused by the host"],
  ["a weakened gate stays as bad as it was",    "weakened",  [{ lost: 12 }],                  "weakened",  "before"],
];

test("states change by thresholds, on enough charges, and never by one node alone", () => {
  for (const [told, state, views, next, why] of rows) {
    const judged = judge(state, views);

    assert.deepEqual([judged.state, judged.why], [next, why], told);
  }
});

test("a gate that is not healthy stays so for a window, and without charges for ten", () => {
  const few = [{ ...nothing, answered: 1, approved: 1 }];

  assert.equal(judge("unhealthy", [{}], { windows: 0.9 }).state, "unhealthy");
  assert.equal(judge("unhealthy", few, { windows: 9.9 }).state, "unhealthy");
  assert.deepEqual(judge("unhealthy", few, { windows: 10 }), {
    state: "weakened",
    since: now,
    why: "too few charges to judge it",
  });
});

test("without knowing what is usual, only lost and refused charges count", () => {
  const known = { ...nothingSeen, answered: 19, approved: 19 };

  assert.equal(judge("healthy", [{ approved: 0, answerMs: 900_000 }], { known }).state, "healthy");
  assert.equal(judge("healthy", [{ lost: 50 }], { known }).state, "unhealthy");
});

test("a gate gets all of its orders, half of them, or a probe", () => {
  const shares = (["healthy", "weakened", "unhealthy"] as const).map((state) =>
    shareOf({ state }, usualTerms),
  );

  assert.deepEqual(shares, [1, 0.5, 0.02]);
});
