/**
 * The catalogue: what the sandbox bank does for each card number. A row only changes what it names.
 * The host decides every card without a rule of its own by its CVV. The card range decides the
 * version of 3-D Secure, in `directory-server/card-ranges.ts`.
 */

/** The host's reaction to a charge. */
export type Outcome =
  | { readonly kind: "approve" | "approve-half" | "approve-late" | "approve-twice" }
  | { readonly kind: "approve-with-loyalty" | "book-without-answer" | "ignore" }
  | { readonly kind: "drop-link" | "answer-garbage" }
  | { readonly kind: "approve-slowly"; readonly afterMs: number }
  | { readonly kind: "decline"; readonly code: string; readonly explanation?: string };

/** An outcome, or the rule that decides it. */
export type HostRule =
  | Outcome
  | { readonly kind: "by-cvv" | "by-amount" }
  | { readonly kind: "approve-if-authenticated"; readonly otherwise: string }
  | { readonly kind: "approve-if-authenticated-or-exempt"; readonly otherwise: string }
  | { readonly kind: "approve-unless-recurrent"; readonly otherwise: string };

/** `book-in-silence`: it pays, and never answers, neither the payout nor its repeats. */
export type PayoutRule = Outcome | { readonly kind: "book-in-silence" };

/** The host's reaction to later messages about a charge that it approved. */
export type LaterRule =
  | { readonly kind: "refuse-returns" | "refuse-captures"; readonly code: string }
  | { readonly kind: "leave-reversals-unanswered"; readonly first: number };

export type ChallengeRule =
  | "by-code"
  | "by-code-result-late"
  | "failed"
  | "cancelled"
  | "no-result"
  | "result-differs";

/** The issuer's answer to an AReq. */
export type Emv3dsRule =
  | { readonly kind: "authenticate" | "attempt" | "answer-error" | "no-answer" }
  | { readonly kind: "refuse"; readonly status: "N" | "R" | "U"; readonly reason: string }
  | { readonly kind: "challenge"; readonly rule: ChallengeRule };

/** The issuer's answers to VEReq and PAReq of 3-D Secure 1.0.2. */
export type Threeds102Rule =
  | { readonly kind: "not-enrolled" }
  | { readonly kind: "enrolled"; readonly status: "Y" | "N" | "A" | "U" }
  | { readonly kind: "enrolled-badly-signed"; readonly status: "Y" };

export type Scenario = {
  readonly group: string;
  readonly name: string;
  readonly card: string;
  readonly what: string;
  readonly host: HostRule;
  readonly later?: LaterRule;
  /** The issuer's letters for address and CVV, where they differ from a match. */
  readonly checks?: { readonly avs?: string; readonly cvv?: string };
  /** The host's reaction to payouts, where it differs from the one to charges. */
  readonly payout?: PayoutRule;
  /** The rule of the issuer. A card without one is authenticated without a challenge. */
  readonly emv3ds?: Emv3dsRule;
  readonly threeds102?: Threeds102Rule;
};

export const approval: Outcome = { kind: "approve" };
const noAnswer: Outcome = { kind: "book-without-answer" };
export const byCvv: HostRule = { kind: "by-cvv" };
const authenticate: Emv3dsRule = { kind: "authenticate" };

const method220 = "3-D Secure 2.2.0, method URL";
const noMethod220 = "3-D Secure 2.2.0, no method URL";
const method210 = "3-D Secure 2.1.0, method URL";
const method231 = "3-D Secure 2.3.1, method URL";
const version1 = "3-D Secure 1.0.2";
const notEnrolled = "Not enrolled anywhere";
const acquirer = "Acquirer behaviour";
const payouts = "Payouts";
const checks = "Address and CVV results";
const networks = "Other networks";

const noFunds = "The balance of this card is too low. Top it up or choose another card.";
const frictionless = "ARes Y, with the ECI of its network";

// biome-ignore format: a table
export const scenarios: readonly Scenario[] = [
  { group: method220,   name: "frictionless",           card: "4000002000000016", host: byCvv, emv3ds: authenticate,                                   what: "ARes Y" },
  { group: method220,   name: "challenge",              card: "4000002000000024", host: byCvv, emv3ds: challenge("by-code"),                           what: "ARes C; the code 1234 gives Y, anything else N" },
  { group: method220,   name: "challenge-failed",       card: "4000002000000032", host: byCvv, emv3ds: challenge("failed"),                            what: "ARes C, always N" },
  { group: method220,   name: "challenge-cancelled",    card: "4000002000000040", host: byCvv, emv3ds: challenge("cancelled"),                         what: "ARes C, cardholder cancels (RReq N, challengeCancel 01)" },
  { group: method220,   name: "challenge-abandoned",    card: "4000002000000057", host: byCvv, emv3ds: challenge("no-result"),                         what: "ARes C, no RReq and no CRes ever come" },
  { group: method220,   name: "attempt",                card: "4000002000000065", host: byCvv, emv3ds: { kind: "attempt" },                            what: "ARes A" },
  { group: method220,   name: "not-authenticated",      card: "4000002000000073", host: byCvv, emv3ds: { kind: "refuse", status: "N", reason: "01" },  what: "ARes N" },
  { group: method220,   name: "rejected",               card: "4000002000000081", host: byCvv, emv3ds: { kind: "refuse", status: "R", reason: "11" },  what: "ARes R: must not be authorised" },
  { group: method220,   name: "unavailable",            card: "4000002000000099", host: byCvv, emv3ds: { kind: "refuse", status: "U", reason: "22" },  what: "ARes U" },
  { group: method220,   name: "directory-error",        card: "4000002000000107", host: byCvv, emv3ds: { kind: "answer-error" },                       what: "Erro instead of ARes" },
  { group: method220,   name: "directory-timeout",      card: "4000002000000115", host: byCvv, emv3ds: { kind: "no-answer" },                          what: "no answer to AReq" },
  { group: method220,   name: "result-late",            card: "4000002000000123", host: byCvv, emv3ds: challenge("by-code-result-late"),               what: "ARes C; CRes first, RReq 3 s later" },
  { group: method220,   name: "result-differs",         card: "4000002000000131", host: byCvv, emv3ds: challenge("result-differs"),                    what: "ARes C; CRes says Y, RReq says N" },

  { group: noMethod220, name: "frictionless-no-method", card: "4000002100000015", host: byCvv, emv3ds: authenticate,                                   what: "ARes Y" },
  { group: noMethod220, name: "challenge-no-method",    card: "4000002100000023", host: byCvv, emv3ds: challenge("by-code"),                           what: "ARes C; the code 1234 gives Y, anything else N" },

  { group: method210,   name: "frictionless-210",       card: "4000002200000014", host: byCvv, emv3ds: authenticate,                                   what: "ARes Y" },
  { group: method210,   name: "challenge-210",          card: "4000002200000022", host: byCvv, emv3ds: challenge("by-code"),                           what: "ARes C" },

  { group: method231,   name: "frictionless-231",       card: "4000002300000013", host: byCvv, emv3ds: authenticate,                                   what: "ARes Y" },
  { group: method231,   name: "challenge-231",          card: "4000002300000021", host: byCvv, emv3ds: challenge("by-code"),                           what: "ARes C" },

  { group: version1,    name: "v1-authenticated",       card: "4000003000000014", host: byCvv, threeds102: { kind: "enrolled", status: "Y" },               what: "PARes Y" },
  { group: version1,    name: "v1-failed",              card: "4000003000000022", host: byCvv, threeds102: { kind: "enrolled", status: "N" },               what: "PARes N" },
  { group: version1,    name: "v1-attempt",             card: "4000003000000030", host: byCvv, threeds102: { kind: "enrolled", status: "A" },               what: "PARes A" },
  { group: version1,    name: "v1-unavailable",         card: "4000003000000048", host: byCvv, threeds102: { kind: "enrolled", status: "U" },               what: "PARes U" },
  { group: version1,    name: "v1-bad-signature",       card: "4000003000000055", host: byCvv, threeds102: { kind: "enrolled-badly-signed", status: "Y" },  what: "PARes Y with a broken signature" },
  { group: version1,    name: "v1-not-enrolled",        card: "4000003000000063", host: byCvv, threeds102: { kind: "not-enrolled" },                        what: "VERes N" },

  { group: notEnrolled, name: "not-enrolled",           card: "4000001000000018", host: byCvv, what: "no range holds it; the host approves" },

  { group: acquirer,    name: "decline-do-not-honour",  card: "4000004000000012", host: decline("05"), what: "05" },
  { group: acquirer,    name: "decline-funds",          card: "4000004000000020", host: decline("51"), what: "51" },
  { group: acquirer,    name: "decline-expired",        card: "4000004000000038", host: decline("54"), what: "54" },
  { group: acquirer,    name: "decline-lost",           card: "4000004000000046", host: decline("41"), what: "41" },
  { group: acquirer,    name: "decline-stolen",         card: "4000004000000053", host: decline("43"), what: "43" },
  { group: acquirer,    name: "decline-not-permitted",  card: "4000004000000061", host: decline("57"), what: "57" },
  { group: acquirer,    name: "decline-limit",          card: "4000004000000079", host: decline("61"), what: "61" },
  { group: acquirer,    name: "decline-fraud",          card: "4000004000000087", host: decline("59"), what: "59" },
  { group: acquirer,    name: "decline-invalid-number", card: "4000004000000095", host: decline("14"), what: "14" },
  { group: acquirer,    name: "issuer-unavailable",     card: "4000004000000103", host: decline("91"), what: "91" },
  { group: acquirer,    name: "sca-required",           card: "4000004000000111", host: { kind: "approve-if-authenticated", otherwise: "1A" }, what: "1A unless authenticated by 3-D Secure, also with an exemption; approves orders by mail or telephone" },
  { group: acquirer,    name: "sca-or-exemption",       card: "4000004000000277", host: { kind: "approve-if-authenticated-or-exempt", otherwise: "1A" }, what: "1A unless authenticated by 3-D Secure or exempt" },
  { group: acquirer,    name: "no-answer",              card: "4000004000000129", host: noAnswer,                                      what: "host books the sale and never answers; later reversal is honoured" },
  { group: acquirer,    name: "no-answer-not-booked",   card: "4000004000000137", host: { kind: "ignore" },                            what: "host neither books nor answers" },
  { group: acquirer,    name: "late-answer",            card: "4000004000000145", host: { kind: "approve-late" },                      what: "host approves after the gateway gave up" },
  { group: acquirer,    name: "link-drop",              card: "4000004000000152", host: { kind: "drop-link" },                         what: "host closes the connection after reading the request" },
  { group: acquirer,    name: "garbled-answer",         card: "4000004000000160", host: { kind: "answer-garbage" },                    what: "host answers bytes that are no message" },
  { group: acquirer,    name: "duplicate-answer",       card: "4000004000000178", host: { kind: "approve-twice" },                     what: "host answers twice" },
  { group: acquirer,    name: "partial-approval",       card: "4000004000000186", host: { kind: "approve-half" },                      what: "10, half the amount" },
  { group: acquirer,    name: "slow",                   card: "4000004000000194", host: { kind: "approve-slowly", afterMs: 2_000 },    what: "approves after 2 s" },
  { group: acquirer,    name: "amount-driven",          card: "4000004000000202", host: { kind: "by-amount" },                         what: "decided by the last two digits of the amount" },
  { group: acquirer,    name: "reversal-refused",       card: "4000004000000210", host: approval, later: { kind: "refuse-returns", code: "57" },          what: "approves; refuses every return" },
  { group: acquirer,    name: "reversal-no-answer",     card: "4000004000000228", host: approval, later: { kind: "leave-reversals-unanswered", first: 2 }, what: "approves; never answers the first two reversals" },
  { group: acquirer,    name: "capture-refused",        card: "4000004000000236", host: approval, later: { kind: "refuse-captures", code: "05" },         what: "approves the preauthorisation; refuses capture" },
  { group: acquirer,    name: "expires-soon",           card: "4000004000000244", host: { kind: "approve-unless-recurrent", otherwise: "54" }, what: "approves; recurrent payments are answered 54" },
  { group: acquirer,    name: "loyalty",                card: "4000004000000251", host: { kind: "approve-with-loyalty" },              what: "approves; the answer carries loyalty balance, message, bonus and program" },
  { group: acquirer,    name: "decline-explained",      card: "4000004000000269", host: decline("51", noFunds),                        what: "51 with an extended reason for the cardholder (motivational-message)" },

  { group: payouts,     name: "payout-refused",         card: "4000004100000011", host: byCvv, payout: decline("57"),                    what: "57 to every payout" },
  { group: payouts,     name: "payout-no-answer",       card: "4000004100000029", host: byCvv, payout: noAnswer,                         what: "host pays out and does not answer; it answers the repeat, and an inquiry" },
  { group: payouts,     name: "payout-not-booked",      card: "4000004100000037", host: byCvv, payout: { kind: "ignore" },               what: "host neither pays out nor answers, and answers an inquiry 25" },
  { group: payouts,     name: "payout-silence",         card: "4000004100000045", host: byCvv, payout: { kind: "book-in-silence" },      what: "host pays out and answers neither the payout nor its repeats, but an inquiry" },

  { group: checks,      name: "avs-no-match",           card: "4000005000000019", host: byCvv, checks: { avs: "N" },                     what: "approves; neither address nor postal code match (N)" },
  { group: checks,      name: "avs-address-only",       card: "4000005000000027", host: byCvv, checks: { avs: "A" },                     what: "approves; only the address matches (A)" },
  { group: checks,      name: "avs-postcode-only",      card: "4000005000000035", host: byCvv, checks: { avs: "Z" },                     what: "approves; only the postal code matches (Z)" },
  { group: checks,      name: "avs-not-checked",        card: "4000005000000043", host: byCvv, checks: { avs: "U" },                     what: "approves; the issuer does not verify addresses (U)" },
  { group: checks,      name: "cvv-no-match",           card: "4000005000000050", host: approval, checks: { cvv: "N" },                  what: "approves any CVV, with the result that it does not match (N)" },
  { group: checks,      name: "cvv-not-checked",        card: "4000005000000068", host: byCvv, checks: { cvv: "P" },                     what: "approves; the CVV is not processed (P)" },

  { group: networks,    name: "mastercard",             card: "5200000000000015", host: byCvv, what: frictionless },
  { group: networks,    name: "mastercard-2-series",    card: "2223000000000015", host: byCvv, what: frictionless },
  { group: networks,    name: "mastercard-challenge",   card: "5200002000000029", host: byCvv, emv3ds: challenge("by-code"),             what: "as challenge, with an authentication value of 21 bytes" },
  { group: networks,    name: "mastercard-v1",          card: "5200003000000019", host: byCvv, threeds102: { kind: "enrolled", status: "Y" }, what: "3-D Secure 1.0.2, as v1-authenticated" },
  { group: networks,    name: "american-express",       card: "340000000000017",  host: byCvv, what: frictionless },
  { group: networks,    name: "discover",               card: "6011000000000012", host: byCvv, what: frictionless },
  { group: networks,    name: "jcb",                    card: "3530000000000011", host: byCvv, what: frictionless },
  { group: networks,    name: "unionpay",               card: "6200000000000013", host: byCvv, what: frictionless },
  { group: networks,    name: "diners-club",            card: "36000000000016",   host: byCvv, what: frictionless },
  { group: networks,    name: "maestro",                card: "6767000000000018", host: byCvv, what: frictionless },
  { group: networks,    name: "mir",                    card: "2200000000000012", host: byCvv, what: frictionless },
];

/** The outcomes by CVV, for cards whose own row has no outcome. */
export const cvvOutcomes: ReadonlyMap<string, Outcome> = new Map([
  ["", approval], // The gate may allow payments without it.
  ["123", approval],
  ["1234", approval],
  ["101", decline("54")],
  ["116", decline("51")],
  ["119", decline("57")],
  ["209", decline("43")],
  ["217", noAnswer],
]);

export const cvvMismatch: Outcome = decline("N7");

/**
 * The outcomes by the last two digits of the amount, for the amount-driven card. Others are
 * approved.
 */
export const amountOutcomes: ReadonlyMap<string, Outcome> = new Map([
  ...["05", "12", "13", "41", "43", "51", "54", "57", "59", "61", "62", "65", "91", "96"].map(
    (code): [string, Outcome] => [code, decline(code)],
  ),
  ["68", noAnswer],
]);

export const scenariosByCard = new Map(scenarios.map((scenario) => [scenario.card, scenario]));
export const scenariosByName = new Map(scenarios.map((scenario) => [scenario.name, scenario]));

function challenge(rule: ChallengeRule): Emv3dsRule {
  return { kind: "challenge", rule };
}

export function decline(code: string, explanation?: string): Outcome {
  return { kind: "decline", code, ...(explanation === undefined ? {} : { explanation }) };
}
