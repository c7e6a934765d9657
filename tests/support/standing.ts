/**
 * The money adds up: what the bank approved and has not taken back equals what the gateway calls
 * approved. Both sides are read as they are kept, and nothing of either program's own sums is used.
 */
import assert from "node:assert/strict";

/** A line of the bank's books, from its memory or its disk. */
export type Booked = {
  readonly reference: string;
  readonly kind: string;
  readonly amount: bigint;
};

/** In minor units: held for a capture, and taken from the cardholder. */
export type Standing = { readonly held: bigint; readonly taken: bigint };

type Kept = {
  readonly kind: string;
  readonly stage: string;
  readonly amount: readonly [minor: string, currency: string];
  readonly identifiers?: { readonly reference: string };
  readonly answer?: { readonly approvedAmount?: readonly [minor: string, currency: string] };
};

export type KeptOrder = {
  readonly id: string;
  /** Something is still to be done for it. */
  readonly due: boolean;
  readonly progress: { readonly transaction: Kept; readonly earlier: readonly Kept[] };
};

export const keptOrders = "select id, due_at is not null as due, progress from orders";

/** Orders that are on their way or in doubt are left out: of those nothing is said yet. */
export function assertStandingsAgree(
  orders: readonly KeptOrder[],
  ledger: readonly Booked[],
): void {
  const booked = Map.groupBy(ledger, ({ reference }) => orderPart(reference));
  const known = new Set(orders.map((order) => orderPart(referenceOf(order) ?? "")));
  for (const part of booked.keys()) {
    assert.ok(known.has(part), `the bank has booked the unknown ${part}`);
  }
  for (const order of orders.filter(({ due }) => !due)) {
    const entries = booked.get(orderPart(referenceOf(order) ?? "")) ?? [];
    assert.deepEqual(standingAtBank(entries), standingAtGateway(order), `order ${order.id}`);
    const charges = Map.groupBy(entries.filter(isCharge), ({ reference }) => reference);
    for (const same of charges.values()) {
      assert.equal(same.length, 1, `order ${order.id} was charged twice`);
    }
  }
}

/** The attempts of one order differ in the last two characters. */
export function orderPart(reference: string): string {
  return reference.slice(0, 10);
}

export function standingAtBank(entries: readonly Booked[]): Standing {
  const sum = (kind: string) =>
    entries.filter((each) => each.kind === kind).reduce((total, each) => total + each.amount, 0n);
  const captured = sum("capture");
  const isCaptured = entries.some(({ kind }) => kind === "capture");
  const held = sum("authorisation");
  const given = sum("reversal");
  // What was given back before a capture was let go of; afterwards it was money.
  if (held > 0n && !isCaptured) return { held: held - given, taken: 0n };
  return { held: 0n, taken: sum("sale") + captured - given };
}

function standingAtGateway({ progress }: KeptOrder): Standing {
  const approved = [...progress.earlier, progress.transaction].filter(
    ({ stage }) => stage === "approved",
  );
  const sum = (kind: string) =>
    approved
      .filter((each) => each.kind === kind)
      .reduce((total, each) => total + granted(each), 0n);
  const captured = approved.some(({ kind }) => kind === "capture");
  return {
    held: captured ? 0n : sum("preauth") - sum("cancel"),
    taken: sum("sale") + sum("capture") - sum("refund"),
  };
}

/** A bank may grant a charge in part; what follows it is done as it was asked for, or not. */
function granted({ kind, amount, answer }: Kept): bigint {
  const isCharge = kind === "sale" || kind === "preauth";
  return BigInt((isCharge ? (answer?.approvedAmount ?? amount) : amount)[0]);
}

export function referenceOf({ progress }: KeptOrder): string | undefined {
  return (progress.earlier[0] ?? progress.transaction).identifiers?.reference;
}

function isCharge({ kind }: Booked): boolean {
  return kind === "sale" || kind === "authorisation";
}
