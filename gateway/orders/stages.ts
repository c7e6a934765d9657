/**
 * The stages of a transaction, and the effects that an order can owe. `transitions.ts` says how
 * events lead from one stage to another.
 */
export type Stage = OpenStage | FinalStage;
type FinalStage = (typeof finalStages)[number];
export type OpenStage =
  | "awaiting_card"
  | "filtering"
  | "authenticating"
  | "awaiting_method"
  | "awaiting_challenge"
  | "awaiting_result"
  | "awaiting_return"
  | "awaiting_pares"
  | "authorizing"
  | "inquiring"
  | "reversing"
  | "capturing"
  | "returning"
  | "paying"
  | "repeating";

const finalStages = ["approved", "declined", "filtered", "error"] as const;

export function isFinal(stage: Stage): stage is FinalStage {
  return finalStages.some((final) => final === stage);
}

export function waitsForCardholder(stage: Stage): boolean {
  return stagesOfCardholder.includes(stage);
}

const stagesOfCardholder: readonly Stage[] = [
  ...(["awaiting_card", "awaiting_method", "awaiting_challenge", "awaiting_pares"] as const),
];

/** In these stages no message has been sent to the acquirer. */
export function isBeforeSending(stage: Stage): boolean {
  return stage === "filtering" || stage === "authenticating" || stage.startsWith("awaiting_");
}

/** Stages in doubt: the acquirer may have processed the request or not, and is being asked. */
export const stagesInDoubt: readonly Stage[] = ["inquiring", "reversing", "repeating"];

/** Effects that are decided from memory, in the commit that owes them. */
export const immediateEffects = ["screen", "look_up_3ds"] as const;
/** Effects that wait for another system. The order owes one until its handler has reported. */
export const externalEffects = [
  "authenticate",
  "ask_enrolment",
  "authorize",
  "inquire",
  "reverse",
  "reverse_prior",
  "capture",
  "refund",
  "pay_out",
  "alert_operator",
] as const;
/** Effects that the commit itself performs: it writes the row of the callback. */
export const outboxEffects = ["notify_merchant"] as const;

export type ImmediateEffect = (typeof immediateEffects)[number];
export type ExternalEffect = (typeof externalEffects)[number];
export type Effect = ImmediateEffect | ExternalEffect | (typeof outboxEffects)[number];

export function isImmediate(effect: Effect): effect is ImmediateEffect {
  return immediateEffects.some((immediate) => immediate === effect);
}

export function isExternal(effect: Effect): effect is ExternalEffect {
  return externalEffects.some((external) => external === effect);
}
