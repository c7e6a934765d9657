/** All screening rules. A rule is a file in this folder and a row here. */
import type { Rule } from "../rule.ts";
import { amount } from "./amount.ts";

export const rules: readonly Rule[] = [amount];

export function findRule(kind: string): Rule | undefined {
  return rules.find((rule) => rule.kind === kind);
}
