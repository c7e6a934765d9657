/**
 * Disputes about an order's charge. An acquirer reports a case stage by stage; each stage is
 * recorded once. What is charged back at present cannot be refunded too.
 */
import { Failure } from "../values/failure.ts";
import { Money } from "../values/money.ts";
import type { Chargeback, ChargebackStage, Order } from "./order.ts";

/**
 * What a stage does to the money of its case: `takes` charges its amount back, `frees` ends that,
 * and in the others the money stays where it is. Merchants see a stage as a transaction of `type`.
 * A retrieval asks for documents. A representment contests the case, and the money is back when the
 * merchant wins it; `reversed`: the merchant has won it, or the issuer withdrew it.
 */
const stages: Readonly<
  Record<ChargebackStage, { readonly effect: "takes" | "frees" | "none"; readonly type: string }>
> = {
  "retrieval": { effect: "none", type: "retrieval" },
  "first": { effect: "takes", type: "chargeback" },
  "representment": { effect: "none", type: "dispute" },
  "pre-arbitration": { effect: "takes", type: "chargeback" },
  "arbitration": { effect: "takes", type: "chargeback" },
  "reversed": { effect: "frees", type: "chargeback-reversal" },
};

export function chargebackTypeOf({ stage }: Chargeback): string {
  return stages[stage].type;
}

const callbackSequenceFrom = 1_000;

/** In minor units of the charge, over all cases; an amount that was freed does not count. */
export function chargedBackMinor(order: Pick<Order, "chargebacks">): bigint {
  const cases = new Map<string, bigint>();
  for (const { caseId, stage, amount } of byDate(order)) {
    const before = cases.get(caseId) ?? 0n;
    const { effect } = stages[stage];
    if (effect === "takes") cases.set(caseId, amount.minor);
    if (effect === "frees") cases.set(caseId, before > amount.minor ? before - amount.minor : 0n);
  }
  return [...cases.values()].reduce((sum, minor) => sum + minor, 0n);
}

/** Files may be imported in any order; stages of one date count in the order of their import. */
function byDate({ chargebacks = [] }: Pick<Order, "chargebacks">): readonly Chargeback[] {
  return chargebacks.length < 2 ? chargebacks : chargebacks.toSorted((a, b) => a.at - b.at);
}

/** The latest stage with the amount that is charged back at present, over all cases. */
export function chargebackStateOf(order: Order) {
  const latest = byDate(order).at(-1);
  if (latest === undefined) return undefined;
  const amount = new Money(chargedBackMinor(order), order.purchase.amount.currency);
  return { ...latest, amount };
}

export function withChargeback(order: Order, chargeback: Chargeback): Order | Failure {
  const { chargebacks = [] } = order;
  if (findRecorded(order, chargeback) !== undefined) return alreadyRecorded;
  const { currency } = order.purchase.amount;
  if (chargeback.amount.currency.code !== currency.code) {
    return new Failure("currency_not_supported");
  }
  const version = order.version + 1;
  return { ...order, version, chargebacks: [...chargebacks, chargeback] };
}

/** The same stage of the same case. */
export function findRecorded(
  { chargebacks = [] }: Order,
  { caseId, stage }: Pick<Chargeback, "caseId" | "stage">,
): Chargeback | undefined {
  return chargebacks.find((each) => each.caseId === caseId && each.stage === stage);
}

const alreadyRecorded = new Failure("not_allowed_now", "", "recorded already");

/** Callbacks of disputes come after those of transactions, which are counted from 1. */
export function callbackSequenceOf({ chargebacks = [] }: Order): number {
  return callbackSequenceFrom + chargebacks.length;
}
