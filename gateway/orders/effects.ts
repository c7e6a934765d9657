/**
 * The names of what an order can be owed. Immediate effects are decided from memory and folded into
 * the commit that owes them; carried ones wait for somebody else and are owed in the order's row.
 * Planned ones are named by the transition table already, and no doer exists for them yet.
 */
export const immediateEffects = ["screen", "look_up_3ds"] as const;
export const carriedEffects = [
  "authenticate",
  "ask_enrolment",
  "authorize",
  "inquire",
  "reverse",
  "capture",
  "give_back",
  "alert_operator",
] as const;
export const plannedEffects = ["notify_merchant"] as const;

export type ImmediateEffect = (typeof immediateEffects)[number];
export type CarriedEffect = (typeof carriedEffects)[number];
export type PlannedEffect = (typeof plannedEffects)[number];
export type Effect = ImmediateEffect | CarriedEffect | PlannedEffect;

const immediate: ReadonlySet<string> = new Set(immediateEffects);
const carried: ReadonlySet<string> = new Set(carriedEffects);

export function isImmediate(effect: Effect): effect is ImmediateEffect {
  return immediate.has(effect);
}

export function isCarried(effect: Effect): effect is CarriedEffect {
  return carried.has(effect);
}
