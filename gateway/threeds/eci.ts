/** The electronic commerce indicator of each network, for when a message leaves it out. */
import type { Network } from "../values/card-number.ts";

type Indicators = { readonly full: string; readonly attempt: string; readonly none?: string };

const most: Indicators = { full: "05", attempt: "06", none: "07" };
const mastercard: Indicators = { full: "02", attempt: "01", none: "00" };

const others: { readonly [Name in Network]?: Indicators } = {
  MASTERCARD: mastercard,
  MAESTRO: mastercard,
  MIR: { full: "02", attempt: "01" },
};

export function eciOf(
  network: Network | undefined,
  strength: keyof Indicators,
): string | undefined {
  return (network === undefined ? most : (others[network] ?? most))[strength];
}
