/** Which ECI a network gives to an authentication, from the first digits of the card. */

/** Fully authenticated (Y), or attempted with proof (A). */
export type ProvedStatus = "Y" | "A";

export function eciFor(card: string, status: ProvedStatus): string {
  return countsFromTwo(card) ? (status === "Y" ? "02" : "01") : status === "Y" ? "05" : "06";
}

/** Mastercard, Maestro and Mir; every other network has 05 and 06. */
function countsFromTwo(card: string): boolean {
  const four = Number(card.slice(0, 4));
  return startsWithin.some(([first, last]) => four >= first && four <= last);
}

// biome-ignore format: a table
const startsWithin: readonly (readonly [first: number, last: number])[] = [
  [2200, 2204],                               // Mir
  [2221, 2720], [5100, 5599],                 // Mastercard
  [5000, 5099], [5600, 5999],                 // Maestro
  [6000, 6010], [6012, 6199], [6300, 6439],   // Maestro, around Discover and UnionPay
  [6600, 6999],
];
