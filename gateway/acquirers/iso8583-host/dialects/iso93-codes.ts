/**
 * The action codes of ISO 8583:1993. The numbers of our declines are these codes wherever the
 * standard has one (decision 0004), so most rows repeat the number of their reason.
 */
import { makeResponseCodes, type ResponseCodes } from "../response-codes.ts";

// biome-ignore format: a table
export const iso93Codes: ResponseCodes = makeResponseCodes({
  stands:          ["000"],
  reversed:        ["400", "000"],
  // 480: hosts of the fuel networks accept the reversal of a charge that they do not know.
  notFound:        ["914", "480"],
  networkAccepted: "800",
  rows: [
    // An approval needs a reason only when it was for less than asked.
    ["000", "approved",         "partial_approval_refused", "soft"], // approved
    ["001", "approved",         "partial_approval_refused", "soft"], // approved with identification
    ["003", "approved",         "partial_approval_refused", "soft"], // approved, VIP
    ["004", "approved",         "partial_approval_refused", "soft"], // approved, update track 3
    ["005", "approved",         "partial_approval_refused", "soft"], // approved, account type by the issuer
    ["007", "approved",         "partial_approval_refused", "soft"], // approved, update the chip
    ["400", "accepted",         "partial_approval_refused", "soft"], // reversal accepted
    ["901", "accepted",         "partial_approval_refused", "soft"], // advice accepted with liability
    ["002", "approved_in_part", "partial_approval_refused", "soft"], // approved for part of the amount
    ["006", "approved_in_part", "partial_approval_refused", "soft"], // the same, account type by the issuer

    ["101", "refused", "expired_card",            "hard"],
    ["102", "refused", "suspected_fraud",         "hard"],
    ["104", "refused", "restricted_card",         "hard"],
    ["111", "refused", "invalid_card",            "hard"],
    ["118", "refused", "no_card_record",          "hard"],
    ["119", "refused", "not_permitted",           "hard"],
    ["120", "refused", "not_permitted_terminal",  "hard"],
    ["124", "refused", "not_permitted",           "hard"], // against the law
    ["125", "refused", "restricted_card",         "hard"], // not yet in effect
    ["129", "refused", "suspected_fraud",         "hard"], // suspected counterfeit
    ["163", "refused", "closed_account",          "hard"], // 160 to 179 are the parties' own
    ["164", "refused", "recurring_stopped",       "hard"],

    ["200", "refused", "pick_up_card",            "hard"],
    ["201", "refused", "expired_card",            "hard"],
    ["202", "refused", "suspected_fraud",         "hard"],
    ["203", "refused", "pick_up_card",            "hard"], // contact acquirer
    ["204", "refused", "restricted_card",         "hard"],
    ["205", "refused", "pick_up_card",            "hard"], // call acquirer's security
    ["206", "refused", "pick_up_card",            "hard"], // PIN tries exceeded
    ["207", "refused", "pick_up_card",            "hard"], // special conditions
    ["208", "refused", "lost_card",               "hard"],
    ["209", "refused", "stolen_card",             "hard"],
    ["210", "refused", "suspected_fraud",         "hard"], // suspected counterfeit

    ["100", "refused", "do_not_honour",           "soft"],
    ["103", "refused", "refer_to_issuer",         "soft"], // contact acquirer
    ["105", "refused", "refer_to_issuer",         "soft"], // call acquirer's security
    ["107", "refused", "refer_to_issuer",         "soft"],
    ["108", "refused", "refer_to_issuer",         "soft"], // special conditions
    ["109", "refused", "invalid_merchant",        "soft"],
    ["110", "refused", "invalid_amount",          "soft"],
    ["115", "refused", "invalid_transaction",     "soft"],                  // function not supported
    ["116", "refused", "insufficient_funds",      "soft"],
    ["121", "refused", "limit_exceeded",          "soft"],
    ["122", "refused", "security_violation",      "soft"],
    ["123", "refused", "frequency_exceeded",      "soft"],
    ["160", "refused", "cvv_mismatch",            "soft"],
    ["161", "refused", "authentication_required", "soft", "authenticate"],

    ["902", "refused", "invalid_transaction",     "soft"],
    ["903", "refused", "host_malfunction",        "soft", "host_fault"],      // enter again
    ["904", "refused", "format_error",            "soft"],
    ["905", "refused", "issuer_unavailable",      "soft", "host_fault"],      // acquirer not known to the switch
    ["906", "refused", "host_malfunction",        "soft", "host_fault"],      // cut-over
    ["907", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer or switch inoperative
    ["908", "refused", "issuer_unavailable",      "soft", "host_fault"],      // no route to the issuer
    ["909", "refused", "host_malfunction",        "soft", "host_fault"],
    ["910", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer signed off
    ["911", "refused", "issuer_unavailable",      "soft", "may_yet_be_done"], // issuer timed out
    ["912", "refused", "issuer_unavailable",      "soft", "host_fault"],
    ["913", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"],
    ["914", "refused", "declined",                "soft"],                  // original not found
    ["915", "refused", "host_malfunction",        "soft"],                  // reconciliation error
    ["916", "refused", "host_malfunction",        "soft"],                  // wrong message authentication code
    ["917", "refused", "host_malfunction",        "soft"],                  // authentication key out of step
    ["918", "refused", "host_malfunction",        "soft", "host_fault"],      // no keys for the link
    ["920", "refused", "host_malfunction",        "soft", "host_fault"],      // security module, try again
    ["921", "refused", "host_malfunction",        "soft"],                  // security module, no action
    ["922", "refused", "host_malfunction",        "soft"],                  // message number out of sequence
    ["923", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // in progress
  ],
});
