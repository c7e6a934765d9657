/**
 * What a host's response codes mean. A dialect has one table of them; `iso87Codes` is that of
 * ISO 8583:1987, and hosts of another edition have another. A code without a row is a refusal; only
 * a code listed as an approval ever is one.
 */
import type { FailureCode } from "../../values/failure.ts";
import type { Refusal, RefusalHint } from "../acquirer.ts";

export type ResponseCodes = ReturnType<typeof makeResponseCodes>;

type CodeTable = {
  readonly rows: readonly CodeRow[];
  /** To an inquiry: the charge stands. */
  readonly stands: readonly string[];
  /** To a reversal: the host has done it. */
  readonly reversed: readonly string[];
  /** To a reversal or an inquiry: the host does not know the charge. */
  readonly notFound: readonly string[];
  /** To sign-on, sign-off and echo. */
  readonly networkAccepted: string;
};

type CodeRow = readonly [
  code: string,
  meaning: ResponseMeaning,
  reason: FailureCode,
  /** `hard`: the same card must not be charged again. */
  again: "hard" | "soft",
  hint?: RefusalHint,
];

const unlisted: CodeRow = ["", "refused", "declined", "soft"];

/** `accepted`: done, when it answers what follows a charge; to a charge it says nothing. */
type ResponseMeaning = "approved" | "accepted" | "approved_in_part" | "refused";

type ReversalMeaning = "reversed" | "not_found" | "retry" | "refused";

export function makeResponseCodes(table: CodeTable) {
  const byCode: ReadonlyMap<string, CodeRow> = new Map(table.rows.map((row) => [row[0], row]));
  const { rows, networkAccepted } = table;
  return { rows, networkAccepted, meaningOf, refusalOf, meaningOfReversal, stands, isNotFound };

  function meaningOf(code: string): ResponseMeaning {
    return byCode.get(code)?.[1] ?? "refused";
  }

  /** Why an order with this answer did not end as approved. */
  function refusalOf(code: string): Refusal {
    const [, , reason, again, hint] = byCode.get(code) ?? unlisted;
    return {
      reason: { code: reason, detail: `[${code}]` },
      isHard: again === "hard",
      hint,
    };
  }

  /** `retry`: the same advice may succeed later. */
  function meaningOfReversal(code: string): ReversalMeaning {
    if (table.reversed.includes(code)) return "reversed";
    if (isNotFound(code)) return "not_found";
    const hint = byCode.get(code)?.[4];
    return hint === "may_yet_be_done" || hint === "host_fault" ? "retry" : "refused";
  }

  function stands(code: string): boolean {
    return table.stands.includes(code);
  }

  function isNotFound(code: string): boolean {
    return table.notFound.includes(code);
  }
}

/** Field 39 of ISO 8583:1987 and what the card networks added to it. */
// biome-ignore format: a table
export const iso87Codes: ResponseCodes = makeResponseCodes({
  stands:          ["00"],
  reversed:        ["00"],
  notFound:        ["25"],
  networkAccepted: "00",
  rows: [
    // An approval needs a reason only when it was for less than asked.
    ["00", "approved",         "partial_approval_refused", "soft"], // approved
    ["08", "approved",         "partial_approval_refused", "soft"], // approved with identification
    ["11", "approved",         "partial_approval_refused", "soft"], // approved, VIP
    ["16", "approved",         "partial_approval_refused", "soft"], // approved, update track 3
    ["85", "approved",         "partial_approval_refused", "soft"], // no reason to decline
    ["10", "approved_in_part", "partial_approval_refused", "soft"], // approved for part of the amount

    ["04", "refused", "pick_up_card",            "hard"], // pick up
    ["07", "refused", "pick_up_card",            "hard"], // pick up, special condition
    ["33", "refused", "expired_card",            "hard"], // expired, pick up
    ["34", "refused", "suspected_fraud",         "hard"], // suspected fraud, pick up
    ["35", "refused", "pick_up_card",            "hard"], // contact acquirer, pick up
    ["36", "refused", "restricted_card",         "hard"], // restricted, pick up
    ["37", "refused", "pick_up_card",            "hard"], // call acquirer's security, pick up
    ["38", "refused", "pick_up_card",            "hard"], // PIN tries exceeded, pick up
    ["41", "refused", "lost_card",               "hard"], // lost
    ["43", "refused", "stolen_card",             "hard"], // stolen
    ["67", "refused", "pick_up_card",            "hard"], // pick up at the terminal

    ["14", "refused", "invalid_card",            "hard"], // unknown card number
    ["15", "refused", "no_card_record",          "hard"], // unknown issuer
    ["31", "refused", "no_card_record",          "hard"], // bank not supported
    ["46", "refused", "closed_account",          "hard"], // account closed
    ["54", "refused", "expired_card",            "hard"], // expired
    ["57", "refused", "not_permitted",           "hard"], // not permitted to cardholder
    ["58", "refused", "not_permitted_terminal",  "hard"], // not permitted to terminal
    ["59", "refused", "suspected_fraud",         "hard"], // suspected fraud
    ["62", "refused", "restricted_card",         "hard"], // restricted
    ["78", "refused", "restricted_card",         "hard"], // blocked, or not yet activated
    ["93", "refused", "not_permitted",           "hard"], // against the law
    ["R0", "refused", "recurring_stopped",       "hard"], // stop this payment
    ["R1", "refused", "recurring_stopped",       "hard"], // stop the payments of this agreement
    ["R3", "refused", "recurring_stopped",       "hard"], // stop all payments

    ["01", "refused", "refer_to_issuer",         "soft"], // refer to issuer
    ["02", "refused", "refer_to_issuer",         "soft"], // refer to issuer, special condition
    ["05", "refused", "do_not_honour",           "soft"], // do not honour
    ["1A", "refused", "authentication_required", "soft", "authenticate"], // strong authentication wanted
    ["51", "refused", "insufficient_funds",      "soft"], // not enough money
    ["61", "refused", "limit_exceeded",          "soft"], // over the amount limit
    ["63", "refused", "security_violation",      "soft"], // security violation
    ["65", "refused", "frequency_exceeded",      "soft", "authenticate"], // over the count limit
    ["82", "refused", "cvv_mismatch",            "soft"], // wrong CVV
    ["N7", "refused", "cvv_mismatch",            "soft"], // wrong CVV

    ["03", "refused", "invalid_merchant",        "soft"],                  // unknown merchant
    ["12", "refused", "invalid_transaction",     "soft"],                  // invalid transaction
    ["13", "refused", "invalid_amount",          "soft"],                  // invalid amount
    ["25", "refused", "declined",                "soft"],                  // original not found
    ["30", "refused", "format_error",            "soft"],                  // format error
    ["40", "refused", "invalid_transaction",     "soft"],                  // function not supported
    ["64", "refused", "invalid_amount",          "soft"],                  // not the original amount

    ["06", "refused", "host_malfunction",        "soft", "host_fault"],      // error
    ["09", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // in progress
    ["19", "refused", "host_malfunction",        "soft", "host_fault"],      // enter again
    ["22", "refused", "host_malfunction",        "soft", "host_fault"],      // suspected malfunction
    ["68", "refused", "issuer_unavailable",      "soft", "may_yet_be_done"], // the issuer answered too late
    ["90", "refused", "host_malfunction",        "soft", "host_fault"],      // cut-over
    ["91", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer or switch out of order
    ["92", "refused", "issuer_unavailable",      "soft", "host_fault"],      // no route to the issuer
    ["94", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // seen before
    ["95", "refused", "host_malfunction",        "soft"],                  // totals do not agree
    ["96", "refused", "host_malfunction",        "soft", "host_fault"],      // malfunction
    ["98", "refused", "host_malfunction",        "soft"],                  // message authentication failed
  ],
});
