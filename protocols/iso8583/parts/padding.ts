/**
 * How an odd number of packed digits fills its last byte (ISO 8583:1987 leaves it to the parties).
 * A length prefix never counts the padding.
 */
export type PaddingName = "none" | "left 0" | "right F";

export type Padding = {
  readonly side: "left" | "right" | "neither";
  readonly digit: string;
};

// biome-ignore format: a table
export const paddings: Record<PaddingName, Padding> = {
  "none":    { side: "neither", digit: ""  },
  "left 0":  { side: "left",    digit: "0" },
  "right F": { side: "right",   digit: "F" },
};

export function addPadding({ side, digit }: Padding, digits: string): string {
  return side === "left" ? digit + digits : digits + digit;
}

/** Undefined when another digit stands in the padding's place. */
export function removePadding({ side, digit }: Padding, digits: string): string | undefined {
  if (side === "left") return digits.startsWith(digit) ? digits.slice(1) : undefined;
  return digits.endsWith(digit) ? digits.slice(0, -1) : undefined;
}
