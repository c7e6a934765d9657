/**
 * Stages, events and effects in words, for the page that is drawn from the transition tables. A new
 * one that is not described here does not compile.
 */
import type { Effect } from "../../gateway/orders/effects.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Stage } from "../../gateway/orders/order.ts";

// biome-ignore format: a table
export const stageMeanings: Readonly<Record<Stage, string>> = {
  filtering:          "accepted, and looked at by the gateway's own checks",
  authenticating:     "3-D Secure is under way between the gateway and the directory server",
  awaiting_method:    "waits for the result of the method frame in the cardholder's browser",
  awaiting_challenge: "waits for the cardholder to complete the challenge",
  awaiting_result:    "the browser is back from the challenge; waits for the directory server's result",
  awaiting_return:    "the challenge was passed; waits a little for the browser to come back",
  awaiting_pares:     "waits for the cardholder's bank to answer by 3-D Secure 1.0.2",
  authorizing:        "the charge may have left for the acquirer",
  inquiring:          "the charge is in doubt, and the acquirer is asked what became of it",
  reversing:          "the charge is in doubt, or not wanted, and is being taken back",
  capturing:          "the capture may have left for the acquirer",
  returning:          "the return may have left for the acquirer",
  repeating:          "the capture or return is in doubt, and is repeated until the acquirer answers",
  approved:           "done: the money is taken, held or given back, or the card is verified",
  declined:           "refused by the bank, by 3-D Secure or because of the wallet's payment data",
  filtered:           "refused by the gateway's own checks",
  error:              "failed: nothing was done, or it has been taken back",
};

// biome-ignore format: a table
export const eventMeanings: Readonly<Record<EventKind, string>> = {
  received:              "the merchant's request was accepted",
  wallet_refused:        "the wallet's payment data is not to be believed",
  cleared:               "the checks have no objection, and the endpoint does no 3-D Secure",
  cleared_for_3ds:       "the checks have no objection, and 3-D Secure comes next",
  filtered_out:          "a check objects",

  method_requested:      "the card's bank wants its method frame loaded",
  authentication_due:    "the card's bank wants no method frame, and is asked at once",
  enrolment_due:         "the card may take part in 3-D Secure 1.0.2, and its directory server is asked",
  method_uploaded:       "the method frame was loaded, or the merchant says that it was not",
  challenge_requested:   "the card's bank wants the cardholder challenged",
  challenge_passed:      "the directory server says that the challenge was passed",
  challenge_returned:    "the cardholder's browser came back from the challenge",
  pareq_requested:       "the card's bank wants the cardholder by 3-D Secure 1.0.2",
  authenticated:         "the cardholder was authenticated, or an attempt at it is proved",
  left_unauthenticated:  "authentication is not possible, and the endpoint goes on without",
  authentication_failed: "the cardholder was not authenticated, and the order must not go on",
  authentication_demanded: "the acquirer has declined until the cardholder is challenged; that is done once",

  authorized:            "the acquirer has approved",
  refused:               "the acquirer has declined",
  rerouted:              "no link to the acquirer, nothing was sent, and another gate takes the order",
  amount_refused:        "the acquirer has declined this amount, and the next of the list is tried",
  amount_reversed:       "this amount is proved not to be charged, and the next of the list is tried",
  gate_unavailable:      "no gate takes the order, or no link to the acquirer; nothing was sent",
  outcome_unknown:       "the acquirer may have done what it was asked or not",
  outcome_in_question:   "the charge may have been booked or not, at an acquirer that can be asked about it",
  charge_not_found:      "the acquirer was asked and did not say that the charge is approved",
  approved_in_part:      "the acquirer has approved less than was asked for, and the endpoint wants all",
  approved_late:         "an approval came when it was no longer expected",
  reversed:              "the acquirer has taken the charge back, or never had it",
  part_reversed:         "the acquirer has taken a partial approval back",
  reversal_unanswered:   "the acquirer has not answered the reversal",

  capture_asked:         "the merchant asks for a capture, and a transaction begins for it",
  return_asked:          "the merchant asks for a return, and a transaction begins for it",
  captured:              "the acquirer has taken what it held",
  returned:              "the acquirer has given back, or has let go of what it held",
  repeat_unanswered:     "the acquirer has not answered the repeated capture or return",

  operator_alerted:      "the operator has been told of an order in doubt",
  asked_again:           "an operator wants the acquirer asked now",
  settled_as_done:       "an operator has learnt from the bank that it was done",
  settled_as_not_done:   "an operator has learnt from the bank that it was not done",

  expired:               "the stage's deadline has passed",
  claimed:               "a node took the order over from one that went silent",
  noted:                 "something came that no longer changes anything",
};

// biome-ignore format: a table
export const effectMeanings: Readonly<Record<Effect, string>> = {
  screen:          "the gateway's own checks are made",
  look_up_3ds:     "it is looked up whether and how the card takes part in 3-D Secure",
  authorize:       "the charge is sent to the acquirer",
  inquire:         "the acquirer is asked once what became of the charge",
  reverse:         "the charge is taken back at the acquirer, again and again until it answers",
  capture:         "the capture is sent to the acquirer, in doubt again and again until it answers",
  give_back:       "the return is sent to the acquirer, in doubt again and again until it answers",
  alert_operator:  "an alarm is raised for the operator",
  authenticate:    "the directory server is asked to authenticate the cardholder",
  ask_enrolment:   "the directory server of 1.0.2 is asked whether the card takes part",
  notify_merchant: "the merchant is told the result",
};
