/** Binds a PARes to the order it answers: a genuine one for another purchase is no proof. */
import type { PaRes } from "./messages.ts";

export type PaResOrder = {
  readonly xid: string;
  readonly acqBin: string;
  readonly merId: string;
  readonly purchAmount: string;
  readonly currency: string;
  readonly exponent: string;
  readonly date: string;
  readonly lastFour: string;
};

/** The names of what differs, none when the PARes is about this order. Texts must be equal. */
export function matchPaRes(paRes: PaRes, order: PaResOrder): readonly (keyof PaResOrder)[] {
  const { merchant, purchase, pan } = paRes;
  const answered: PaResOrder = {
    xid: purchase.xid,
    acqBin: merchant.acqBin,
    merId: merchant.merId,
    purchAmount: purchase.purchAmount,
    currency: purchase.currency,
    exponent: purchase.exponent,
    date: purchase.date,
    lastFour: pan.slice(-4),
  };
  return bound.filter((name) => answered[name] !== order[name]);
}

const bound: readonly (keyof PaResOrder)[] = [
  "xid",
  "acqBin",
  "merId",
  "purchAmount",
  "currency",
  "exponent",
  "date",
  "lastFour",
];
