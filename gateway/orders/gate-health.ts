/**
 * Judges the health of a gate by what all nodes have seen of its charges (decision 0097): lost
 * answers, refusals by the host itself, and approvals and time against what is usual for the gate.
 * One node alone never changes the state while others have seen enough.
 */
import { type Instant, seconds } from "../values/time.ts";

export const healthStates = ["healthy", "weakened", "unhealthy"] as const;
export type HealthState = (typeof healthStates)[number];

/** Counts of charges that were sent. Hosts' refusals are among the answered ones. */
export type ChargeCounts = {
  readonly answered: number;
  readonly approved: number;
  /** The host refused by itself: it could not ask the issuer, or could not read the message. */
  readonly refused: number;
  /** No answer came in time, or the link was lost. */
  readonly lost: number;
  /** The sum of the times from message to answer. */
  readonly answerMs: number;
};

export const nothingSeen: ChargeCounts = {
  answered: 0,
  approved: 0,
  refused: 0,
  lost: 0,
  answerMs: 0,
};

/** One node's counts of a gate: lately, and in the gate's usual condition. */
export type NodeView = { readonly recent: ChargeCounts; readonly usual: ChargeCounts };

/** A gate's thresholds, as an operator can set them. */
export type HealthTerms = {
  readonly windowS: number;
  /** So many charges are needed to judge a healthy gate; a quarter is enough to judge a probe. */
  readonly min: number;
  /** The share of lost and refused charges that makes a gate unhealthy, in per cent. */
  readonly failures: number;
  /** The fall of the approval rate that makes a gate unhealthy, in per cent of the usual rate. */
  readonly drop: number;
  /** How many times the usual answer time makes it unhealthy. */
  readonly slow: number;
  /** The share of its orders that an unhealthy gate gets, in per cent. */
  readonly probe: number;
};

export const usualTerms: HealthTerms = {
  windowS: 60,
  min: 20,
  failures: 20,
  drop: 50,
  slow: 5,
  probe: 2,
};

export type Health = { readonly state: HealthState; readonly since: Instant; readonly why: string };

/** A weakened gate gets half of its orders. Half of a threshold weakens a gate. */
const half = 0.5;
/** A host this fast is never slow, however fast it usually is. */
const fastMs = 200;
/** After so many windows without enough charges, a gate gets the benefit of the doubt. */
export const quietWindows = 10;

export function shareOf({ state }: Pick<Health, "state">, { probe }: HealthTerms): number {
  if (state === "healthy") return 1;
  return state === "weakened" ? half : probe / 100;
}

export function probesOf({ min }: HealthTerms): number {
  return Math.ceil(min / 4);
}

export function judgeHealth(
  known: Health,
  views: readonly NodeView[],
  terms: HealthTerms,
  now: Instant,
): Health {
  const { state, since } = known;
  const sent = sentOf(sumOf(views.map(({ recent }) => recent)));
  const { badness, why } = leastBad(views, terms);
  const to = (next: HealthState, because = why): Health =>
    next === state ? known : { state: next, since: now, why: because };
  const isJudgeable = sent >= terms.min;
  if (state === "healthy") {
    return isJudgeable && badness >= half ? to(badness >= 1 ? "unhealthy" : "weakened") : known;
  }
  if (state === "weakened" && isJudgeable && badness >= 1) return to("unhealthy");
  const better = state === "unhealthy" ? "weakened" : "healthy";
  const windows = (now - since) / seconds(terms.windowS);
  if (windows < 1) return known;
  if (sent < probesOf(terms)) {
    return windows < quietWindows ? known : to(better, "too few charges to judge it");
  }
  if (badness < half) return to(better);
  return state === "unhealthy" && badness < 1 ? to("weakened") : known;
}

/**
 * A node with a fault of its own would make the sum bad. The sum without it counts, as long as the
 * other nodes have seen enough.
 */
function leastBad(views: readonly NodeView[], terms: HealthTerms) {
  const others = views.map((_, index) => views.toSpliced(index, 1));
  const judgeable = others.filter(
    (rest) => sentOf(sumOf(rest.map(({ recent }) => recent))) >= terms.min,
  );
  const judged = [views, ...judgeable].map((each) => judgeSum(each, terms));
  const [first, ...rest] = judged;
  return rest.reduce(
    (least, each) => (each.badness < least.badness ? each : least),
    first ?? { badness: 0, why: "" },
  );
}

/** A badness of 1 is the threshold of an unhealthy gate. */
function judgeSum(views: readonly NodeView[], terms: HealthTerms) {
  const recent = sumOf(views.map((view) => view.recent));
  const usual = sumOf(views.map((view) => view.usual));
  const sent = sentOf(recent);
  const failed = recent.lost + recent.refused;
  const knowsUsual = usual.answered - usual.refused >= terms.min;
  const [rate, usualRate] = [approvalRateOf(recent), approvalRateOf(usual)];
  const [timeMs, usualMs] = [answerMsOf(recent), answerMsOf(usual)];
  const found = [
    {
      badness: sent === 0 ? 0 : ((failed / sent) * 100) / terms.failures,
      why: `${failed} of ${sent} charges unanswered or refused by the host`,
    },
  ];
  if (knowsUsual && rate !== undefined && usualRate !== undefined && usualRate > 0) {
    found.push({
      badness: ((1 - rate / usualRate) * 100) / terms.drop,
      why: `${percent(rate)} approved, usually ${percent(usualRate)}`,
    });
  }
  if (knowsUsual && timeMs !== undefined && usualMs !== undefined && timeMs > fastMs) {
    found.push({
      badness: timeMs / Math.max(usualMs, fastMs / terms.slow) / terms.slow,
      why: `answers take ${Math.round(timeMs)} ms, usually ${Math.round(usualMs)} ms`,
    });
  }
  return found.reduce((worst, each) => (each.badness > worst.badness ? each : worst));
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function sentOf({ answered, lost }: ChargeCounts): number {
  return answered + lost;
}

/** Undefined without a charge that the issuer has decided. */
export function approvalRateOf({ answered, approved, refused }: ChargeCounts): number | undefined {
  return answered > refused ? approved / (answered - refused) : undefined;
}

export function answerMsOf({ answered, answerMs }: ChargeCounts): number | undefined {
  return answered > 0 ? answerMs / answered : undefined;
}

export function sumOf(all: readonly ChargeCounts[]): ChargeCounts {
  const sum = { ...nothingSeen };
  for (const seen of all) {
    sum.answered += seen.answered;
    sum.approved += seen.approved;
    sum.refused += seen.refused;
    sum.lost += seen.lost;
    sum.answerMs += seen.answerMs;
  }
  return sum;
}

export function scaled(seen: ChargeCounts, factor: number): ChargeCounts {
  const { answered, approved, refused, lost, answerMs } = seen;
  return {
    answered: answered * factor,
    approved: approved * factor,
    refused: refused * factor,
    lost: lost * factor,
    answerMs: answerMs * factor,
  };
}
