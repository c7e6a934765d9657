/**
 * The meanings of the letters with which issuers answer an address (AVS) and a CVV. Decision 0099
 * names the published tables that they were compared with. A letter without a row says nothing.
 */
import type { Answer } from "./order.ts";

type CheckResult = "match" | "no-match" | "not-checked";

type CardCheck = "address" | "postcode" | "cvv";
export type CardChecks = Readonly<Partial<Record<CardCheck, CheckResult>>>;

// biome-ignore format: a table
const addressLetters: Readonly<Record<string, readonly [address: CheckResult, postcode: CheckResult]>> = {
  A: ["match",       "no-match"],
  B: ["match",       "not-checked"], // the postal code has another format
  D: ["match",       "match"],       // outside the United States
  F: ["match",       "match"],       // in the United Kingdom
  M: ["match",       "match"],       // outside the United States
  N: ["no-match",    "no-match"],
  P: ["not-checked", "match"],       // the address has another format
  W: ["no-match",    "match"],       // nine digits of the postal code
  X: ["match",       "match"],       // nine digits of the postal code
  Y: ["match",       "match"],
  Z: ["no-match",    "match"],
};

/** The issuer could not compare the address, or does not compare addresses. */
const unchecked = ["not-checked", "not-checked"] as const;
const cvvLetters: Readonly<Record<string, CheckResult>> = { M: "match", N: "no-match" };

/**
 * Returns the results of an answer to a charge. A result is absent if the host has sent no letter
 * for it: the charge had no address or CVV, or the dialect has no place for the letter.
 */
export function cardChecksOf(answer: Answer | undefined): CardChecks {
  const { avs, cvvResult } = answer ?? {};
  const [address, postcode] = addressLetters[avs ?? ""] ?? unchecked;
  return {
    ...(avs !== undefined && { address, postcode }),
    ...(cvvResult !== undefined && { cvv: cvvLetters[cvvResult] ?? "not-checked" }),
  };
}
