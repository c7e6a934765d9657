/** All screening rules. Each rule has a file in this folder and a row here. */
import type { Rule } from "../rule.ts";
import { amount } from "./amount.ts";
import { cards } from "./cards.ts";
import { checks } from "./checks.ts";
import { countries } from "./countries.ts";
import { declines } from "./declines.ts";
import { duplicate } from "./duplicate.ts";
import { firstSeen } from "./first-seen.ts";
import { velocity } from "./velocity.ts";

export const rules: readonly Rule[] = [
  ...[amount, velocity, cards, declines, duplicate, firstSeen, countries, checks],
];

export function findRule(kind: string): Rule | undefined {
  return rules.find((rule) => rule.kind === kind);
}
