/** What a check of `gw doctor` is, and how it reports. */
import type { MachineSession } from "../machine-command.ts";

/**
 * Trouble stops or endangers the gateway, and decides the exit code; a warning is for the operator
 * to judge. Both say what to do.
 */
export type CheckResult = {
  readonly what: string;
  readonly troubles?: readonly string[];
  readonly warnings?: readonly string[];
};

/** The names are stable: programs read them in the JSON. */
export type Check = readonly [
  name: string,
  looksAt: string,
  look: (session: MachineSession) => Promise<CheckResult>,
];

export function troubleUnless(what: string, isGood: boolean, trouble: string): CheckResult {
  return isGood ? { what } : { what, troubles: [trouble] };
}

/** What is trouble in production is worth a warning while one tries things out. */
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
