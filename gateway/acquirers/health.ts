/**
 * The health of gates at a node: counts what happens to charges, shares the counts with the other
 * nodes every second, and keeps the share of orders that each gate gets. Nothing here is read from
 * the database while a payment waits.
 */
import {
  answerMsOf,
  approvalRateOf,
  type ChargeCounts,
  type Health,
  type HealthState,
  type HealthTerms,
  judgeHealth,
  type NodeView,
  nothingSeen,
  probesOf,
  quietWindows,
  scaled,
  sentOf,
  shareOf,
  sumOf,
  usualTerms,
} from "../orders/gate-health.ts";
import type { GateShares } from "../orders/route.ts";
import type { FailureCode } from "../values/failure.ts";
import type { GateId } from "../values/ids.ts";
import { asInstant, type Clock, hours, type Instant, later, seconds } from "../values/time.ts";
import type { Authorization } from "./acquirer.ts";
import type { Gate, GateSettings } from "./gates.ts";

export type OwnView = NodeView & { readonly gate: GateId };

/** A gate's row in the database: its state, and the counts of each node. */
export type SharedHealth = {
  readonly gate: GateId;
  readonly health: Health | undefined;
  /** The views of nodes that have shared lately, by the name of the node. */
  readonly views: ReadonlyMap<string, NodeView>;
};

export type HealthStore = {
  /** Writes what this node has seen, and returns everything that is shared. */
  share(node: string, own: readonly OwnView[], at: Instant): Promise<readonly SharedHealth[]>;
  /** Returns whether this node has made the change. Another node may have been first. */
  change(gate: GateId, from: Health | undefined, to: Health): Promise<boolean>;
};

export type HealthChange = {
  readonly gate: string;
  readonly from: HealthState;
  readonly to: HealthState;
  readonly why: string;
};

type Dependencies = {
  readonly clock: Pick<Clock, "now">;
  readonly node: { readonly name: string };
  readonly store: HealthStore;
  readonly gates: () => Iterable<Gate>;
  readonly onChange: (change: HealthChange) => void;
};

export type GateHealth = ReturnType<typeof makeGateHealth>;

/** Refusals by which a host says that it, and not the issuer, could not process the charge. */
const hostRefusals: ReadonlySet<FailureCode> = new Set([
  "invalid_merchant",
  "format_error",
  "host_malfunction",
  "issuer_unavailable",
]);

/** A charge without an answer for so long counts as lost before its time-out. */
const silentMs = seconds(10);
const lostAt = ({ at }: { readonly at: Instant }) => at + silentMs;
/** The usual condition of a gate is forgotten by half in this time. */
const halfLifeMs = hours(6);

type Bucket = { readonly at: Instant; seen: ChargeCounts };
type Counted = {
  /** Counts by the second, the latest one last. */
  readonly buckets: Bucket[];
  readonly inFlight: Set<{ readonly at: Instant }>;
  usual: ChargeCounts;
  /** Counts that `usual` lacks. */
  fresh: ChargeCounts;
};

export function makeGateHealth({ clock, node, store, gates, onChange }: Dependencies) {
  const counted = new Map<GateId, Counted>();
  const states = new Map<GateId, Health>();
  const sums = new Map<GateId, NodeView>();
  let shares: GateShares | undefined;
  let sharedAt: Instant | undefined;
  let wasIdle = false;

  return { begin, exchange, report, shares: () => shares };

  /** Counts a charge that is sent now. The returned function takes its outcome. */
  function begin(gate: GateId): (outcome: Authorization) => void {
    const sent = { at: clock.now() };
    const { inFlight } = countedOf(gate);
    inFlight.add(sent);
    return (outcome) => {
      inFlight.delete(sent);
      if (outcome.kind === "not_sent") return;
      const now = clock.now();
      // A time-out is old news: the charge has counted as lost before, and must not do so again.
      const at = outcome.kind === "unknown" ? Math.min(now, lostAt(sent)) : now;
      add(gate, seenOf(outcome, now - sent.at), asInstant(at - (at % seconds(1))));
    };
  }

  function add(gate: GateId, seen: ChargeCounts, at: Instant): void {
    const own = countedOf(gate);
    const index = own.buckets.findLastIndex((each) => each.at <= at);
    const known = own.buckets[index];
    if (known?.at === at) known.seen = sumOf([known.seen, seen]);
    else own.buckets.splice(index + 1, 0, { at, seen });
    own.fresh = sumOf([own.fresh, seen]);
  }

  function countedOf(gate: GateId): Counted {
    const known = counted.get(gate);
    if (known !== undefined) return known;
    const made = {
      buckets: [],
      inFlight: new Set<never>(),
      usual: nothingSeen,
      fresh: nothingSeen,
    };
    counted.set(gate, made);
    return made;
  }

  /** Shares what this node has seen, judges all gates, and writes the changes of their states. */
  async function exchange(): Promise<void> {
    const now = clock.now();
    const all = new Map([...gates()].map((gate) => [gate.id, gate]));
    for (const id of counted.keys()) if (!all.has(id)) counted.delete(id);
    const own = [...all.values()].flatMap((gate) => {
      const seen = counted.get(gate.id);
      return seen === undefined ? [] : [viewOf(gate, seen, now)];
    });
    sharedAt = now;
    const isIdle = own.every(({ recent }) => sentOf(recent) === 0);
    const shared = await store.share(node.name, isIdle && wasIdle ? [] : own, now);
    wasIdle = isIdle;
    for (const { gate: id, health, views } of shared) {
      const gate = all.get(id);
      if (gate === undefined) continue;
      resume(id, views.get(node.name));
      const mine = own.find((each) => each.gate === id);
      const others = [...views].filter(([name]) => name !== node.name).map(([, view]) => view);
      await judge(gate, health, mine === undefined ? others : [mine, ...others], now);
    }
    renewShares(all.values());
  }

  /** Adds to what is usual only while the gate is healthy. */
  function viewOf({ id, settings }: Gate, own: Counted, now: Instant): OwnView {
    const health = states.get(id);
    const isHealthy = (health?.state ?? "healthy") === "healthy";
    const factor = 0.5 ** ((now - (sharedAt ?? now)) / halfLifeMs);
    own.usual = sumOf([scaled(own.usual, factor), isHealthy ? own.fresh : nothingSeen]);
    own.fresh = nothingSeen;
    const terms = termsOf(settings);
    const from = Math.max(health?.since ?? 0, now - seconds(terms.windowS));
    const overdue = [...own.inFlight].filter((sent) => {
      return lostAt(sent) >= from && lostAt(sent) <= now;
    }).length;
    const recent = recentOf(own.buckets, terms, health, now);
    return { gate: id, usual: own.usual, recent: { ...recent, lost: recent.lost + overdue } };
  }

  /** A node that has just started goes on with what it knew of the gate's usual condition. */
  function resume(gate: GateId, stored: NodeView | undefined): void {
    if (stored === undefined) return;
    const own = countedOf(gate);
    if (sentOf(own.usual) === 0) own.usual = stored.usual;
  }

  async function judge(
    gate: Gate,
    stored: Health | undefined,
    views: readonly NodeView[],
    now: Instant,
  ): Promise<void> {
    const met = stored ?? { state: "healthy", since: asInstant(0), why: "" };
    // After a failover, the database's clock may be behind the time of the last change.
    const known = { ...met, since: asInstant(Math.min(met.since, now)) };
    states.set(gate.id, known);
    sums.set(gate.id, {
      recent: sumOf(views.map(({ recent }) => recent)),
      usual: sumOf(views.map(({ usual }) => usual)),
    });
    if (gate.settings.health === false) return;
    const next = judgeHealth(known, views, termsOf(gate.settings), now);
    if (next === known) return;
    states.set(gate.id, next);
    if (await store.change(gate.id, stored, next)) {
      onChange({ gate: gate.name, from: known.state, to: next.state, why: next.why });
    }
  }

  function renewShares(all: Iterable<Gate>): void {
    const weak = [...all].flatMap(({ id, settings }): readonly (readonly [GateId, number])[] => {
      const health = states.get(id);
      if (health === undefined || health.state === "healthy" || settings.health === false)
        return [];
      return [[id, shareOf(health, termsOf(settings))]];
    });
    shares = weak.length === 0 ? undefined : new Map(weak);
  }

  /** Returns the health of each gate by its name, with the figures of all nodes. */
  function report() {
    return new Map(
      [...gates()].map(({ id, name, settings }) => {
        const health = states.get(id);
        const { recent = nothingSeen, usual = nothingSeen } = sums.get(id) ?? {};
        return [
          name,
          {
            state: settings.health === false ? ("off" as const) : (health?.state ?? "healthy"),
            share: shares?.get(id) ?? 1,
            since: health?.since ?? 0,
            why: health?.why ?? "",
            sent: sentOf(recent),
            failed: recent.lost + recent.refused,
            approvalRate: approvalRateOf(recent),
            usualRate: approvalRateOf(usual),
            answerMs: answerMsOf(recent),
          },
        ] as const;
      }),
    );
  }
}

export function termsOf(settings: GateSettings): HealthTerms {
  const { healthWindowS, healthMin, healthFailures, healthDrop, healthSlow, healthProbe } =
    settings;
  return {
    windowS: healthWindowS ?? usualTerms.windowS,
    min: healthMin ?? usualTerms.min,
    failures: healthFailures ?? usualTerms.failures,
    drop: healthDrop ?? usualTerms.drop,
    slow: healthSlow ?? usualTerms.slow,
    probe: healthProbe ?? usualTerms.probe,
  };
}

/**
 * Sums the counts of the window, but none from before the gate's present state. Few charges reach a
 * gate that is not healthy, so the window is extended until it has enough to judge the probes.
 */
function recentOf(
  buckets: Bucket[],
  terms: HealthTerms,
  health: Health | undefined,
  now: Instant,
): ChargeCounts {
  const windowMs = seconds(terms.windowS);
  const oldest = Math.max(health?.since ?? 0, later(now, -windowMs * quietWindows));
  const kept = buckets.findIndex(({ at }) => at >= oldest - seconds(1));
  buckets.splice(0, kept === -1 ? buckets.length : kept);
  const isHealthy = (health?.state ?? "healthy") === "healthy";
  let sum = nothingSeen;
  for (const { at, seen } of buckets.toReversed()) {
    const isNeeded = !isHealthy && sentOf(sum) < probesOf(terms);
    if (at < (health?.since ?? 0) || (at <= later(now, -windowMs) && !isNeeded)) break;
    sum = sumOf([sum, seen]);
  }
  return sum;
}

function seenOf(outcome: Exclude<Authorization, { readonly kind: "not_sent" }>, answerMs: number) {
  if (outcome.kind === "unknown") return { ...nothingSeen, lost: 1 };
  const isRefused = outcome.kind === "refused" && hostRefusals.has(outcome.refusal.reason.code);
  const isApproved = outcome.kind !== "refused";
  const flags = { approved: Number(isApproved), refused: Number(isRefused) };
  return { answered: 1, ...flags, lost: 0, answerMs };
}
