/**
 * Chooses an order's gate among those of its endpoint, by the routing rule that decides the order
 * or else by rank and weight. The draw uses the order's id, so that an order always gets the same
 * gate under the same conditions.
 */
import type { GateId, OrderId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Endpoint, EndpointGate, Routed } from "./merchant.ts";
import type { GateFacts, Reason } from "./order.ts";
import { findRoute, rankByCost } from "./routing-rules.ts";

export type GateConditions = {
  isReady(gate: GateId): boolean;
  readonly passedOver: ReadonlySet<GateId>;
  /** The gates that are not healthy, with the share of their orders that they still get. */
  readonly shares?: GateShares | undefined;
  /** Set while the outcome of 3-D Secure is open. */
  readonly isAuthenticating?: boolean;
};

/** From 0 to 1, by gate. A gate that is not named is healthy. */
export type GateShares = ReadonlyMap<GateId, number>;

type Routing = Pick<Endpoint, "gates" | "routes">;

/** Returns undefined if no gate may process the order, ready or not, or if a rule refuses it. */
export function chooseGate(
  order: Routed,
  endpoint: Routing,
  conditions: GateConditions,
): GateFacts | undefined {
  const { gates } = endpoint;
  const route = findRoute(endpoint, order, conditions.isAuthenticating);
  if (route === undefined) return chooseByRank(order, gates, conditions);
  if (route.to === "refuse") return undefined;
  const wanted = route.to === "cheapest" ? rankByCost(gates, order) : route.to;
  const chosen = chooseByRank(order, wanted, conditions);
  return chosen && { ...chosen, choice: `${route.label}; ${chosen.choice}` };
}

/** The reason of an order for which `chooseGate` has found no gate. */
export function reasonWithoutGate(
  order: Routed,
  endpoint: Routing,
  isAuthenticating?: boolean,
): Reason {
  const route = findRoute(endpoint, order, isAuthenticating);
  return { code: "no_gate", detail: route === undefined ? "" : `routing rule ${route.number}` };
}

/** The gates are sorted by rank. */
function chooseByRank(
  order: Routed,
  gates: readonly EndpointGate[],
  { isReady, passedOver, shares }: GateConditions,
): GateFacts | undefined {
  const [only] = gates;
  if (only !== undefined && gates.length === 1) {
    const obstacle = obstacleOf(order, only, passedOver);
    return obstacle === undefined ? factsOf(only, "only gate") : undefined;
  }
  const fitting: EndpointGate[] = [];
  const setAside: SetAside[] = [];
  for (const gate of gates) {
    const why = obstacleOf(order, gate, passedOver);
    if (why === undefined) fitting.push(gate);
    else setAside.push({ gate, why });
  }
  const lot = lotOf(order.id);
  const whyNotReady = (id: GateId) => (isReady(id) ? undefined : "was not ready");
  const probed = shares && shares.size > 0 ? mix(lot ^ probeSalt) / 2 ** 32 : undefined;
  const healthy = (id: GateId) => {
    const isPassed = probed !== undefined && probed >= (shares?.get(id) ?? 1);
    return whyNotReady(id) ?? (isPassed ? "is not healthy" : undefined);
  };
  const chosen =
    (probed === undefined ? undefined : chooseAmong(fitting, setAside, lot, healthy)) ??
    chooseAmong(fitting, setAside, lot, whyNotReady) ??
    firstAmong(fitting, setAside, lot);
  const isProbe = chosen !== undefined && fitting.length > 1 && shares?.has(chosen.id) === true;
  return isProbe ? { ...chosen, choice: `${chosen.choice}, though it is not healthy` } : chosen;
}

/** The lot is mixed: merchants share one sequence of ids, and lots must not follow it. */
export function lotOf(id: OrderId): number {
  return mix(Number(id.slice(-lotDigits)));
}

/** Makes the draw of a probe independent of the draw by weight. */
const probeSalt = 0x5bd1e995;

function mix(number: number): number {
  let mixed = number;
  for (let round = 0; round < 2; round += 1) {
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x045d9f3b);
  }
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const lotDigits = 9;

/** Whether the messages of at least one gate of the endpoint have room for the amount. */
export function canSend({ gates }: Pick<Endpoint, "gates">, amount: Money): boolean {
  return gates.length === 0 || gates.some((gate) => hasRoomFor(gate, amount));
}

function hasRoomFor({ amountDigits }: EndpointGate, { minor }: Money): boolean {
  return String(minor).length <= amountDigits;
}

/** Returns the gates whose links must be up: those of endpoints without another gate. */
export function findUnreadyGates(
  endpoints: Iterable<Pick<Endpoint, "gates" | "enabled">>,
  isReady: GateConditions["isReady"],
): ReadonlySet<string> {
  const missing = new Set<string>();
  for (const { gates, enabled } of endpoints) {
    if (!enabled || gates.some(({ id }) => isReady(id))) continue;
    for (const { name } of gates) missing.add(name);
  }
  return missing;
}

type SetAside = { readonly gate: EndpointGate; readonly why: string };
type Group = readonly [EndpointGate, ...EndpointGate[]];

/** Returns undefined if there is something against each gate. */
function chooseAmong(
  fitting: readonly EndpointGate[],
  unfit: readonly SetAside[],
  lot: number,
  findWhyNot: (gate: GateId) => string | undefined,
): GateFacts | undefined {
  const setAside = [...unfit];
  for (const rank of ranksOf(fitting)) {
    const drawn = draw(rank, lot);
    const why = findWhyNot(drawn.id);
    if (why === undefined) return factsOf(drawn, describe(drawn, rank, setAside));

    const left = rank.filter(({ id }) => findWhyNot(id) === undefined);
    if (isGroup(left)) {
      const next = draw(left, lot);
      return factsOf(next, describe(next, left, [...setAside, { gate: drawn, why }]));
    }
    setAside.push(...rank.map((gate) => ({ gate, why: findWhyNot(gate.id) ?? "" })));
  }
  return undefined;
}

/** If no gate is ready, the order gets the first choice all the same: its link may come up. */
function firstAmong(
  fitting: readonly EndpointGate[],
  unfit: readonly SetAside[],
  lot: number,
): GateFacts | undefined {
  for (const rank of ranksOf(fitting)) {
    const drawn = draw(rank, lot);
    return factsOf(drawn, `${describe(drawn, rank, unfit)}, though none was ready`);
  }
  return undefined;
}

/** The lots of a gate are consecutive, so that a draw among fewer gates still shares by weight. */
function draw(group: Group, lot: number): EndpointGate {
  const [first, ...others] = group;
  let left = lot % weightOf(group);
  let drawn = first;
  for (const next of others) {
    if (left < drawn.weight) break;
    left -= drawn.weight;
    drawn = next;
  }
  return drawn;
}

function* ranksOf(gates: readonly EndpointGate[]): Iterable<Group> {
  let from = 0;
  while (from < gates.length) {
    const rank = gates[from]?.rank;
    const group = gates.filter((gate) => gate.rank === rank);
    if (!isGroup(group)) return;
    yield group;
    from += group.length;
  }
}

/** Returns why a gate may not process the order, whether it is ready or not. */
function obstacleOf(
  { transaction: { kind, amount } }: Routed,
  gate: EndpointGate,
  passedOver: ReadonlySet<GateId>,
): string | undefined {
  const { id, currencies, amountMin, amountMax } = gate;
  const { minor, currency } = amount;
  if (passedOver.has(id)) return "was tried before";
  if (kind === "payout" && gate.payouts === undefined) return "sends no payouts";
  if (currencies?.includes(currency.code) === false) return `does not take ${currency.code}`;
  if (!hasRoomFor(gate, amount)) return "has no room for the amount";
  // An account verification moves no money, so no limit applies to it.
  if (kind === "account-verification") return undefined;
  if (amountMin !== undefined && minor < amountMin) return "does not take so little";
  if (amountMax !== undefined && minor > amountMax) return "does not take so much";
  return undefined;
}

function describe(chosen: EndpointGate, among: Group, setAside: readonly SetAside[]): string {
  const weight = among.length === 1 ? "" : `, weight ${chosen.weight} of ${weightOf(among)}`;
  const place = `rank ${chosen.rank}${weight}`;
  // A gate of a later rank would not have been chosen anyway.
  const before = setAside.filter(({ gate }) => gate.rank <= chosen.rank);
  if (before.length === 0) return place;
  return `${place}, because ${before.map(({ gate, why }) => `${gate.name} ${why}`).join(" and ")}`;
}

function factsOf(gate: EndpointGate, choice: string): GateFacts {
  const { id, descriptor, shownDescriptor, terminalId, partialReversal, partialCapture } = gate;
  return {
    id,
    descriptor,
    shownDescriptor,
    terminalId,
    partialReversal,
    partialCapture,
    ...(gate.merchantCode === undefined ? {} : { merchantCode: gate.merchantCode }),
    ...(gate.acquirerId === undefined ? {} : { acquirerId: gate.acquirerId }),
    ...(gate.hostChanges === undefined ? {} : { hostChanges: gate.hostChanges }),
    ...(gate.zone === undefined ? {} : { zone: gate.zone }),
    ...(gate.refunds === undefined ? {} : { refunds: gate.refunds }),
    ...(gate.holdDays === undefined ? {} : { holdDays: gate.holdDays }),
    choice,
    ...(gate.fees === undefined ? {} : { fees: gate.fees }),
  };
}

function weightOf(gates: readonly EndpointGate[]): number {
  return gates.reduce((sum, { weight }) => sum + weight, 0);
}

function isGroup(gates: readonly EndpointGate[]): gates is Group {
  return gates.length > 0;
}
