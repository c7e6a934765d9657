/**
 * The words of an order's timeline: its events and their facts, the transactions' fields, and why a
 * payment was not approved. The tables are typed by the gateway's own unions: a new event without
 * its words does not compile.
 */
import type { Api } from "@tollgate/gateway/portal-api";

type Detail = Api["GET /orders/:order"]["output"];
type Entry = Detail["timeline"][number];
type Event = Entry["event"];
type Fact = keyof Entry["facts"] | "node" | "address" | "duration";
type TransactionField = Exclude<keyof Detail["transactions"][number], "kind" | "finishedAt">;
export type Reason = Exclude<Detail["line"]["reason"], "">;
type Table<Name extends string> = Readonly<Record<Name, string>>;

// biome-ignore format: a table
const eventsEnglish: Table<Event> = {
  received: "Received", card_entered: "Card entered", page_closed: "Payment page closed", wallet_refused: "Wallet data refused",
  cleared: "Cleared", cleared_for_3ds: "Cleared for 3-D Secure", filtered_out: "Filtered out",
  method_requested: "Method requested", authentication_due: "Authentication due", enrolment_due: "Enrolment due", method_uploaded: "Method result received",
  challenge_requested: "Challenge requested", challenge_passed: "Challenge passed", challenge_returned: "Browser back from the challenge", pareq_requested: "PAReq requested",
  authenticated: "Authenticated", left_unauthenticated: "Left unauthenticated", authentication_failed: "Authentication failed", authentication_demanded: "Authentication demanded by the issuer",
  authorized: "Authorized", refused: "Refused", refused_in_doubt: "Refused, in doubt", amount_in_doubt: "Amount in doubt", amount_refused: "Amount refused", amount_reversed: "Amount reversed",
  rerouted: "Sent to another gate", gate_unavailable: "Gate unavailable", outcome_unknown: "Outcome unknown", outcome_in_question: "Outcome in question", charge_not_found: "Charge not found",
  inquiry_not_sent: "Inquiry not sent", inquiry_unanswered: "Inquiry unanswered", charge_not_confirmed: "Charge not confirmed", reversal_not_sent: "Reversal not sent", repeat_not_sent: "Repeat not sent",
  approved_in_part: "Approved in part", approved_late: "Approved late", reversed: "Reversed", part_reversed: "Part reversed", reversal_unanswered: "Reversal unanswered", reversal_refused: "Reversal refused", original_not_found: "Original not found",
  prior_approved_late: "Earlier attempt approved late", prior_reversed: "Earlier attempt reversed", prior_unreversed: "Earlier attempt not reversed yet",
  capture_asked: "Capture requested", return_asked: "Return requested", captured: "Captured", returned: "Returned", repeat_unanswered: "Repeat unanswered", repeat_refused: "Repeat refused",
  charged_back: "Charged back", operator_alerted: "Operator alerted", asked_again: "Asked again", settled_as_done: "Settled as done", settled_as_not_done: "Settled as not done",
  expired: "Expired", claimed: "Claimed by a node", noted: "Noted",
};

// biome-ignore format: a table
const factsEnglish: Table<Fact> = {
  "reason code": "Reason", "reason detail": "Detail", cause: "Cause", code: "Response code",
  "answer responseCode": "Response code", "answer approvalCode": "Approval code", "answer networkId": "Network id",
  gate: "Gate", "gate id": "Removed gate", "gate choice": "Why this gate", "gate terminalId": "Terminal",
  "threeds version": "3-D Secure", "threeds directory": "Directory server", "authentication status": "Authentication", "authentication eci": "ECI",
  "request operation": "Operation", "request by": "By", amount: "Amount", "request comment": "Comment", serialNumber: "Serial number",
  "chargeback stage": "Chargeback", "chargeback reason": "Chargeback reason", "chargeback caseId": "Case",
  by: "By", why: "Reason", node: "Node", what: "What", detail: "Detail", reference: "RRN", address: "Address", duration: "Took",
};

// biome-ignore format: a table
const transactionEnglish: Table<TransactionField> = {
  amount: "Amount", stage: "Stage", status: "Status", serialNumber: "Serial number", reference: "RRN", trace: "STAN", terminal: "Terminal",
  gate: "Gate", choice: "Why this gate", responseCode: "Response code", approvalCode: "Approval code", reason: "Reason",
};

/** Returns the text of the table, or the name itself if the table has none. */
export function wordIn(words: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(words, name) ? (words[name] ?? name) : name;
}

/** `insufficient_funds` as people read it. */
export function wordsOf(code: string): string {
  const words = code.replaceAll("_", " ").replace(/\b3ds\b/, "3-D Secure");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// biome-ignore format: a table
export const timelineEnglish = {
  events: eventsEnglish,
  factNames: factsEnglish,
  transactionFields: transactionEnglish,
  reasonOf: wordsOf,
  /** The gateway's own sentence is English. */
  refusalOf: (_code: string, sentence: string) => sentence,
  choiceOf: (choice: string) => choice,
  causes: { timeout: "No answer in time", link_lost: "Link lost", unreadable_answer: "Answer not readable", not_sent: "Not sent", "cannot be asked": "Acquirer cannot be asked", gate_unavailable: "No link to the acquirer", card_not_held: "Card data no longer there", too_late: "Too late to send", node_lost: "Node stopped" },
  followUps: { capture: "Capture", return: "Return" },
  ruleMissing: (what: string) => `not known: ${what}`,
  ruleScopes: { gateway: "of the gateway", merchant: "of the merchant", endpoint: "of the endpoint" },
};
