/**
 * Chooses an order's gate among those of its endpoint. The draw uses the order's id, so that an
 * order always gets the same gate.
 */
import type { GateId, OrderId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Endpoint, EndpointGate } from "./merchant.ts";
import type { GateFacts, Order } from "./order.ts";

type GateConditions = {
  isReady(gate: GateId): boolean;
  readonly passedOver: ReadonlySet<GateId>;
};

export type Routed = Pick<Order, "id"> & {
  readonly transaction: Pick<Order["transaction"], "kind" | "amount">;
};

/** The gates are sorted by rank. Returns undefined if none may process the order, ready or not. */
export function chooseGate(
  order: Routed,
  gates: readonly EndpointGate[],
  conditions: GateConditions,
): GateFacts | undefined {
  const { passedOver } = conditions;
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
  return chooseAmong(fitting, setAside, { lot: lotOf(order.id), isReady: conditions.isReady });
}

/** The lot is mixed: merchants share one sequence of ids, and lots must not follow it. */
export function lotOf(id: OrderId): number {
  let mixed = Number(id.slice(-lotDigits));
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

/** If no gate is ready, the order gets the first choice all the same: its link may come up. */
function chooseAmong(
  fitting: readonly EndpointGate[],
  unfit: readonly SetAside[],
  { lot, isReady }: Pick<GateConditions, "isReady"> & { readonly lot: number },
): GateFacts | undefined {
  const setAside = [...unfit];
  let first: GateFacts | undefined;
  for (const rank of ranksOf(fitting)) {
    const drawn = draw(rank, lot);
    if (isReady(drawn.id)) return factsOf(drawn, describe(drawn, rank, setAside));
    first ??= factsOf(drawn, `${describe(drawn, rank, setAside)}, though none was ready`);

    const ready = rank.filter(({ id }) => isReady(id));
    if (isGroup(ready)) {
      const next = draw(ready, lot);
      return factsOf(next, describe(next, ready, [...setAside, notReady(drawn)]));
    }
    setAside.push(...rank.map(notReady));
  }
  return first;
}

function notReady(gate: EndpointGate): SetAside {
  return { gate, why: "was not ready" };
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
