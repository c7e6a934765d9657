/** The types of the checks of `gw doctor` and of their results, and functions that make results. */
import type { MachineSession } from "../machine-command.ts";

/**
 * A trouble stops or endangers the gateway and makes the command exit with code 1. A warning is
 * left to the operator's judgement. Each of these sentences also says what to do.
 */
export type CheckResult = {
  readonly what: string;
  readonly troubles?: readonly string[];
  readonly warnings?: readonly string[];
};

/** The name must not change, because programs read it in the JSON output. */
export type Check = readonly [
  name: string,
  looksAt: string,
  look: (session: MachineSession) => Promise<CheckResult>,
];

export function troubleUnless(what: string, isGood: boolean, trouble: string): CheckResult {
  return isGood ? { what } : { what, troubles: [trouble] };
}

/** Makes a finding of each sentence: an error in production, and a warning in staging. */
export function inProduction(
  { config }: MachineSession,
  what: string,
  sentences: readonly string[],
) {
  const isProduction = config.environment === "production";
  return isProduction ? { what, troubles: sentences } : { what, warnings: sentences };
}

export const listOf = (names: readonly string[]): string => names.join(", ") || "none";

export const expirySoonDays = 30;

export function describeExpiry(whose: string, days: number | undefined): Omit<CheckResult, "what"> {
  if (days === undefined || days >= expirySoonDays) return {};
  if (days < 0) return { troubles: [`${whose} has expired: renew it.`] };
  return { warnings: [`${whose} expires in ${days} days: renew it.`] };
}

export function together(what: string, found: readonly Omit<CheckResult, "what">[]): CheckResult {
  return {
    what,
    troubles: found.flatMap(({ troubles = [] }) => troubles),
    warnings: found.flatMap(({ warnings = [] }) => warnings),
  };
}
