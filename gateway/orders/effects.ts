/**
 * The names of what an order can be owed. Immediate effects are decided from memory and folded into
 * the commit that owes them; carried ones wait for somebody else and are owed in the order's row.
 * Written ones are done by the commit itself: a callback is owed from the moment on at which the
 * merchant could know the result.
 */
export const immediateEffects = ["screen", "look_up_3ds"] as const;
export const externalEffects = [
  "authenticate",
  "ask_enrolment",
  "authorize",
  "inquire",
  "reverse",
  "capture",
  "refund",
  "alert_operator",
] as const;
export const outboxEffects = ["notify_merchant"] as const;

export type ImmediateEffect = (typeof immediateEffects)[number];
export type ExternalEffect = (typeof externalEffects)[number];
export type OutboxEffect = (typeof outboxEffects)[number];
export type Effect = ImmediateEffect | ExternalEffect | OutboxEffect;

const immediate: ReadonlySet<string> = new Set(immediateEffects);
const carried: ReadonlySet<string> = new Set(externalEffects);

export function isImmediate(effect: Effect): effect is ImmediateEffect {
  return immediate.has(effect);
}

export function isExternal(effect: Effect): effect is ExternalEffect {
  return carried.has(effect);
}
